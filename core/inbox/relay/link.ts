import { Fault, type FaultCode, formatIso, type Instant, parseJson, type Scope } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type Durable, MACHINES, toMachineSubject } from './wire.ts';

/** A message that the stream delivers to us. */
export interface StreamDelivery {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Its number in the stream. */
  readonly seq: number;
  readonly time: Instant;
  /** Acknowledges the message, which is then never delivered again. */
  ack(): void;
  /** Asks for the message again in this many milliseconds. */
  again(ms: number): void;
}

/** A message as the stream stores it. */
export type StreamMessage = Omit<StreamDelivery, 'ack' | 'again'>;

interface StreamState {
  /** When the stream was created. It distinguishes this stream from a later one with the same name. */
  readonly created: string;
  readonly lastSeq: number;
  /** The stream was missing and has just been created. */
  readonly isNew: boolean;
}

/** The position of a durable. */
export interface DurableState {
  /** When the durable was created, as with a stream. */
  readonly created: string;
  /** Everything delivered up to here was acknowledged. */
  readonly ackFloor: number;
  /** Everything up to here was delivered. */
  readonly delivered: number;
}

/** One connection to one server. Each failure rejects with a Fault, and mostly ends the connection too. */
export interface RelayLink extends AsyncDisposable {
  readonly serverVersion: string;
  /** The largest message that the server accepts, in bytes. */
  readonly maxPayload: number;
  /** Resolves when the connection has ended, whoever ended it; never rejects. */
  readonly closed: Promise<Fault>;
  /** Returns the stream, and creates it if it is missing. */
  stream(): Promise<StreamState>;
  /** The next message of a subject from this number on; null: there is none. */
  next(subject: string, from: number): Promise<StreamMessage | null>;
  /** Resolves with the message's number when the stream stores it. Not new: the stream had it already. */
  publish(subject: string, data: string, messageId: string): Promise<{ readonly seq: number; readonly isNew: boolean }>;
  /** Returns the durable, and creates it if it is missing. A new one begins with what is published from now on. */
  bind(durable: Durable): Promise<DurableState>;
  /** Delivers the messages of the durable until disposed. `failed` is called once, when no more messages come. */
  consume(
    name: string,
    hear: (message: StreamDelivery) => void,
    failed: (fault: Fault) => void,
  ): Promise<AsyncDisposable>;
  /** Deletes the durable. */
  unbind(name: string): Promise<void>;
  /** Deletes one message from the stream. */
  erase(seq: number): Promise<void>;
}

/** The scope of every failure of the server: one cause on the board, one banner. */
export const RELAY = { is: 'source', key: 'nats' } as const satisfies Scope;

/** Uses the name of the error, because its package is loaded late. */
const BY_NAME: Readonly<Record<string, readonly [FaultCode, string]>> = {
  AuthorizationError: ['relay-token', 'the server refused the token'],
  UserAuthenticationExpiredError: ['relay-token', 'the token has expired'],
  PermissionViolationError: ['relay-token', 'the token does not allow it'],
  TimeoutError: ['timeout', 'no answer in time'],
  JetStreamNotEnabled: ['relay-server', 'JetStream is not enabled on the server'],
  NoRespondersError: ['relay-stream', 'no stream accepts it'],
  StreamNotFoundError: ['relay-stream', 'the stream is gone'],
  ConsumerNotFoundError: ['broken', 'the consumer is gone'],
  ClosedConnectionError: ['broken', 'the connection was closed'],
  DrainingConnectionError: ['broken', 'the connection was closed'],
};

const BY_CODE: readonly (readonly [pattern: RegExp, code: FaultCode, what: string])[] = [
  [/^ECONNREFUSED$/, 'refused', 'connection refused'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/, 'refused', 'host not reachable'],
  [/^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/, 'dns', 'the host name did not resolve'],
  [/^ETIMEDOUT$/, 'timeout', 'no connection in time'],
  [
    /^(ERR_TLS_.*|ERR_SSL_.*|CERT_.*|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|EPROTO)$/,
    'tls',
    'no trusted connection',
  ],
];

/** Turns whatever the client threw into a Fault that names the server and the attempted action. */
export function toRelayFault(error: unknown, display: string, doing: string): Fault {
  if (error instanceof Fault) return error;
  const fault = (code: FaultCode, problem: string): Fault =>
    new Fault(code, `${display}: ${doing}: ${problem}`, RELAY, { cause: error });
  const chain = listCauses(error);
  for (const { name, message } of chain) {
    const row = BY_NAME[name];
    if (row !== undefined) return fault(row[0], name === 'PermissionViolationError' ? message : row[1]);
  }
  for (const { code } of chain) {
    const row = BY_CODE.find(([pattern]) => pattern.test(code));
    if (row !== undefined) return fault(row[1], `${row[2]} (${code})`);
  }
  const text = error instanceof Error ? error.message : error === undefined ? 'the connection ended' : String(error);
  // The second text is what the current client says if a server requires TLS and the URL does not.
  if (/'tls'|'certFile'/.test(text))
    return fault('tls', 'the server and the URL disagree about TLS: use tls:// with TLS, nats:// without');
  if (chain.some(({ name }) => name === 'JetStreamApiError')) return fault('relay-stream', text);
  return fault('broken', text.slice(0, 200));
}

function listCauses(error: unknown): readonly { name: string; message: string; code: string }[] {
  if (!(error instanceof Error)) return [];
  const code = 'code' in error ? String(error.code) : '';
  return [{ name: error.name, message: error.message, code }, ...listCauses(error.cause)];
}

interface ResidenceOptions {
  /** This machine's name in the stream. */
  readonly machine: string;
  /** The personas that live here, now. */
  readonly residents: () => readonly string[];
  /** Called at each round with the personas that live on other machines and not here. */
  readonly setElsewhere: (names: ReadonlySet<string>) => void;
  readonly clock: Clock;
}

/** An announcement is repeated after the first interval. One older than the second belongs to a machine that no longer exists. */
const REPEAT_MS = 86_400_000;
const LAPSES_MS = 7 * 86_400_000;

interface ResidenceAnnouncement {
  readonly seq: number;
  readonly time: Instant;
  readonly personas: readonly string[];
}

/**
 * Tracks who lives where, for one connection. Each machine announces its residents in the stream; its newest announcement counts,
 * and it deletes its older ones. Returns a function that runs one round: it announces changes here, and reads what others
 * announced since the last round. A round rejects with what the link rejects with.
 */
export function createResidence(link: RelayLink, options: ResidenceOptions): () => Promise<void> {
  const { machine, residents, setElsewhere, clock } = options;
  const machines = new Map<string, ResidenceAnnouncement>();
  const own = toMachineSubject(machine);
  let lastSeq = 0;

  async function hear(): Promise<void> {
    for (;;) {
      const next = await link.next(MACHINES, lastSeq + 1);
      if (next === null) return;
      lastSeq = next.seq;
      const before = machines.get(next.subject);
      machines.set(next.subject, parseAnnouncement(next));
      if (next.subject === own && before !== undefined) await erase(before.seq);
    }
  }

  /** A failed deletion does no harm, because only the newest announcement counts. */
  async function erase(seq: number): Promise<void> {
    await link.erase(seq).catch(() => {});
  }

  async function announce(mine: readonly string[]): Promise<void> {
    const announced = machines.get(own);
    if (announced === undefined && mine.length === 0) return;
    const isSame = announced !== undefined && JSON.stringify(announced.personas) === JSON.stringify(mine);
    if (isSame && clock.now() - announced.time < REPEAT_MS) return;
    const at = formatIso(clock.now());
    await link.publish(own, JSON.stringify({ personas: mine, at }), `${own}:${at}`);
    await hear();
  }

  return async () => {
    await hear();
    const mine = [...new Set(residents())].sort();
    await announce(mine);
    const localNames = new Set(mine);
    const fresh = [...machines].filter(([subject, { time }]) => subject !== own && clock.now() - time < LAPSES_MS);
    const names = fresh.flatMap(([, { personas }]) => personas);
    setElsewhere(new Set(names.filter((name) => !localNames.has(name))));
  };
}

/** A message that is not an announcement names nobody. */
function parseAnnouncement({ data, seq, time }: StreamMessage): ResidenceAnnouncement {
  try {
    const body = parseJson(Buffer.from(data).toString('utf8')) as { readonly personas?: unknown } | null;
    const personas: unknown[] = Array.isArray(body?.personas) ? body.personas : [];
    return { seq, time, personas: personas.filter((name): name is string => typeof name === 'string' && name !== '') };
  } catch {
    return { seq, time, personas: [] }; // the message cannot be parsed, whoever wrote it
  }
}
