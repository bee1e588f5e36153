import type { Registrations, Signals } from '../../core/inbox/signals/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import type { Callers, DaemonKey } from './callers.ts';
import { formatFrame, HEARTBEAT_MS, parseClientFrame, type SessionClientFrame } from './session-frames.ts';

/** Why a stream is closed, in the form of WebSocket: the codes from 4401 on are those of the contract. */
export interface StreamClose {
  readonly code: number;
  readonly reason: string;
}

export interface SessionOutlet {
  send(text: string): void;
  end(ended: StreamClose): void;
}

export interface SessionNeeds {
  readonly signals: Signals;
  readonly registrations: Registrations;
  readonly callers: Pick<Callers, 'checkKey'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: () => string;
}

export interface SessionConnection extends Disposable {
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
  const helloTimer = clock.after(HELLO_MS, () => end(1008, 'no hello came'));

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
          end(4409, 'another one of this surface came');
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
    if (claimedKind !== kind) end(4403, `this token registers a ${kind} and nothing else`);
    else if (!isOurs) end(4403, 'the token is of another persona');
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
        end(4401, 'the token is another one now');
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
        if (error instanceof SyntaxError) return end(1007, 'a frame is JSON');
        log.warn(`a session stream is closed: ${error instanceof Error ? error.message : String(error)}`);
        end(1011, 'it failed inside Hivebar');
      }
    },
    [Symbol.dispose]() {
      isOver = true;
      helloTimer[Symbol.dispose]();
      leave('lost');
    },
  };
}
