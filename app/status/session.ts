import { createHash, timingSafeEqual } from 'node:crypto';
import type {
  Joiner,
  PeerChange,
  PeerHeartbeat,
  Registrations,
  SignalChange,
  Signals,
} from '../../core/inbox/signals/index.ts';
import { parseJson } from '../../core/model/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import { parseBearer } from './token.ts';

/** Why a stream is closed, in the form of WebSocket: the codes from 4401 on are those of the contract. */
export interface StreamClose {
  readonly code: number;
  readonly reason: string;
}

interface SessionOutlet {
  send(text: string): void;
  end(ended: StreamClose): void;
}

interface SessionNeeds {
  readonly signals: Signals;
  readonly registrations: Registrations;
  readonly callers: Pick<Callers, 'checkKey'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: () => string;
}

interface SessionConnection extends Disposable {
  receive(text: string): void;
}

/** A client that opened a stream must send its hello within this time. */
const HELLO_MS = 10_000;
/** The reasons of a daemon whose persona is over. After any other end it may come back. */
const OVER = ['wrap', 'archive', 'destroy'];
/** The longest reason that fits into a close frame, in characters. */
const LONGEST_REASON = 100;

type HelloFrame = Extract<SessionClientFrame, { is: 'hello' }>;

interface JoinedSession extends Disposable {
  readonly id: string;
}

/**
 * Handles one stream from its hello to its end, over any transport (persona daemon, contract 2). With an `observe` token it is
 * the stream of a daemon, with an `act` token that of an agent. A client cannot register as more than its token allows.
 */
export function openSessionConnection(needs: SessionNeeds, key: DaemonKey, outlet: SessionOutlet): SessionConnection {
  const { signals, registrations, callers, clock, log } = needs;
  const kind = key.scope === 'observe' ? 'daemon' : 'agent';
  let joined: JoinedSession | null = null;
  let isOver = false;
  const helloTimer = clock.after(HELLO_MS, () => end(1008, 'no hello arrived in time'));

  function end(code: number, reason: string): void {
    if (isOver) return;
    isOver = true;
    helloTimer[Symbol.dispose]();
    leave('lost');
    outlet.end({ code, reason: reason.slice(0, LONGEST_REASON) });
  }

  function leave(why: 'wrap' | 'lost'): void {
    if (joined === null) return;
    joined[Symbol.dispose]();
    registrations.leave(joined.id, why);
    joined = null;
  }

  /** @returns null when a daemon of this identity is connected already */
  function join(joiner: HelloFrame['joiner']): JoinedSession | null {
    const { address } = key;
    signals.appear(address);
    const id = registrations.join(
      { ...joiner, kind, address },
      {
        tell: (change) => outlet.send(formatFrame(change)),
        preempted: () => {
          joined?.[Symbol.dispose]();
          joined = null;
          end(4409, 'another session of this surface connected');
        },
      },
    );
    if (id === null) return null;
    helloTimer[Symbol.dispose]();
    const listening = signals.listen(address, (change) => outlet.send(formatFrame(change)));
    log.info(`${kind} ${key.tenant}-${key.identity} is connected`);
    return { id, [Symbol.dispose]: () => listening[Symbol.dispose]() };
  }

  function greet({ id }: JoinedSession): void {
    const { rev } = signals.pending(key.address);
    const about = { registration_id: id, heartbeat_ms: HEARTBEAT_MS, rev };
    outlet.send(formatFrame({ is: 'welcome', ...about, tenant_id: key.tenant, identity: key.identity }));
  }

  function handleHello({ kind: claimedKind, joiner }: HelloFrame): void {
    const isOurs = joiner.tenant === key.tenant && joiner.identity === key.identity;
    if (claimedKind !== kind) end(4403, `this token can only register a ${kind}`);
    else if (!isOurs) end(4403, 'the token belongs to another persona');
    else {
      joined ??= join(joiner);
      if (joined === null) end(4409, 'a daemon of this identity is connected');
      else greet(joined);
    }
  }

  /** Runs at each heartbeat, so that a token that the owner revoked stops working. */
  function checkKey(): boolean {
    switch (callers.checkKey(key)) {
      case 'good':
        return true;
      case 'changed':
        end(4401, 'the token was replaced');
        return false;
      case 'gone':
        end(4410, 'this persona is no longer installed');
        return false;
    }
  }

  function handleFrame(frame: SessionClientFrame): void {
    switch (frame.is) {
      case 'hello':
        handleHello(frame);
        return;
      case 'bad':
        end(1008, frame.why);
        return;
      case 'heartbeat':
        if (joined !== null && checkKey()) registrations.heard(joined.id, { at: clock.now(), ...frame.heartbeat });
        return;
      case 'bye':
        leave(OVER.includes(frame.reason) ? 'wrap' : 'lost');
        return;
      case 'unknown':
        return;
    }
  }

  return {
    receive(text) {
      if (isOver) return;
      try {
        handleFrame(parseClientFrame(text));
      } catch (error) {
        if (error instanceof SyntaxError) return end(1007, 'a frame must be JSON');
        log.warn(`a session stream is closed: ${error instanceof Error ? error.message : String(error)}`);
        end(1011, 'internal error in Hivebar');
      }
    },
    [Symbol.dispose]() {
      isOver = true;
      helloTimer[Symbol.dispose]();
      leave('lost');
    },
  };
}

/** The subprotocol of the session stream (persona daemon, contract 2). */
export const SUBPROTOCOL = 'signals.v1';
/** How often a connected client sends a heartbeat, in milliseconds. */
const HEARTBEAT_MS = 15_000;

/** The frames that a client sends. Times and ages are by the client's clock. */
type SessionClientFrame =
  | { readonly is: 'hello'; readonly kind: string; readonly joiner: Omit<Joiner, 'address' | 'kind'> }
  | { readonly is: 'heartbeat'; readonly heartbeat: Omit<PeerHeartbeat, 'at'> }
  | { readonly is: 'bye'; readonly reason: string }
  /** A frame type of a later version. It is ignored. */
  | { readonly is: 'unknown' }
  /** A hello of another protocol version, or no valid hello at all. */
  | { readonly is: 'bad'; readonly why: string };

type SessionServerFrame =
  | {
      readonly is: 'welcome';
      readonly registration_id: string;
      readonly heartbeat_ms: number;
      readonly rev: number;
      readonly tenant_id: string;
      readonly identity: string;
    }
  | SignalChange
  | PeerChange;

/** The longest text in a hello, in characters. */
const LONGEST = 1024;

/** Parses one frame. @throws SyntaxError when it is not JSON */
function parseClientFrame(text: string): SessionClientFrame {
  const frame: unknown = parseJson(text);
  if (frame === null || typeof frame !== 'object' || Array.isArray(frame)) return { is: 'unknown' };
  const fields = frame as Readonly<Record<string, unknown>>;
  switch (fields.type) {
    case 'hello':
      return parseHello(fields);
    case 'heartbeat':
      return { is: 'heartbeat', heartbeat: parseHeartbeat(fields) };
    case 'bye':
      return { is: 'bye', reason: parseText(fields.reason) ?? '' };
    default:
      return { is: 'unknown' };
  }
}

function parseHello(fields: Readonly<Record<string, unknown>>): SessionClientFrame {
  if (fields.proto !== 1) return { is: 'bad', why: 'only proto 1 is supported' };
  const [tenant, identity, surface, project, machine, version] = [
    ...[fields.tenant_id, fields.identity, fields.surface, fields.project, fields.machine_id, fields.version].map(
      parseText,
    ),
  ];
  if (!tenant || !identity || !surface) return { is: 'bad', why: 'hello needs tenant_id, identity and surface' };
  const joiner = { tenant, identity, surface, project: project ?? '', machine: machine ?? '', version: version ?? '' };
  return { is: 'hello', kind: parseText(fields.kind) ?? '', joiner };
}

function parseHeartbeat(fields: Readonly<Record<string, unknown>>): Omit<PeerHeartbeat, 'at'> {
  return {
    seq: parseNumber(fields.seq),
    fsm: parseText(fields.fsm) ?? '',
    taxonomy: parseText(fields.taxonomy) ?? '',
    pendingDepth: parseNumber(fields.pending_depth),
    drainAge: parseNumber(fields.drain_age_s),
  };
}

function parseText(value: unknown): string | null {
  return typeof value === 'string' && value.length <= LONGEST ? value : null;
}

function parseNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** Formats a frame for sending. */
function formatFrame({ is: type, ...fields }: SessionServerFrame): string {
  return JSON.stringify({ type, ...fields });
}

/** The hash of a token of an installed daemon. The daemon has an `observe` token, its surfaces have an `act` token. */
export interface DaemonKey {
  readonly scope: 'observe' | 'act';
  /** SHA-256 of the token. */
  readonly digest: Uint8Array;
  readonly tenant: string;
  readonly identity: string;
  /** The daemon's persona in the local hive. The token is valid for no other persona. */
  readonly address: string;
}

/** Lists the current tokens of all installed daemons. */
export interface DaemonKeys {
  all(): readonly DaemonKey[];
}

/** The caller: the owner of the machine, who may act for any address, or a client with the token of a daemon. */
export type Caller = { readonly is: 'owner' } | { readonly is: 'keyed'; readonly key: DaemonKey };

export interface Callers {
  /**
   * Identifies the caller by `Authorization: Bearer TOKEN`. `nobody` means that there is no header, `wrong` that the token is
   * unknown.
   */
  identify(authorization: string | undefined): Caller | 'nobody' | 'wrong';
  /** Checks a token again: `gone` when its whole daemon was removed, `changed` when only the token is no longer valid. */
  checkKey(key: DaemonKey): 'good' | 'changed' | 'gone';
}

/**
 * Tokens are compared by their hashes, each with all, so that the time taken reveals nothing about them (persona daemon, contract
 * 2).
 */
export function createCallers(ownToken: string, keys: DaemonKeys): Callers {
  const own = hashToken(ownToken);
  return {
    identify(authorization) {
      if (authorization === undefined) return 'nobody';
      const givenDigest = hashToken(parseBearer(authorization) ?? '');
      let caller: Caller | 'wrong' = timingSafeEqual(givenDigest, own) ? { is: 'owner' } : 'wrong';
      for (const key of keys.all()) if (timingSafeEqual(givenDigest, key.digest)) caller = { is: 'keyed', key };
      return caller;
    },
    checkKey({ tenant, identity, address, scope, digest }) {
      const daemonKeys = keys.all().filter((key) => key.tenant === tenant && key.identity === identity);
      if (daemonKeys.length === 0) return 'gone';
      const same = daemonKeys.find((key) => key.scope === scope && key.address === address);
      return same !== undefined && timingSafeEqual(same.digest, digest) ? 'good' : 'changed';
    },
  };
}

/** Hashes a token. Tokens are compared by these hashes. */
export function hashToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
