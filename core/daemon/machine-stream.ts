import { CLOSE, computeLadderMs, decideAfterClose } from './backoff.ts';
import { enter, fail, type MachineDraft, newId, put } from './machine-draft.ts';
import type { DaemonInput, MachineState, StreamLink } from './machine-state.ts';

type StreamInput<Is extends DaemonInput['is']> = Extract<DaemonInput, { is: Is }>;

/** Time limits in milliseconds (persona daemon, contract 2 and 3; the limit for a welcome is ours). */
export const LIMITS = {
  welcomeMs: 15_000,
  silenceMs: 45_000,
  peekMs: 10_000,
  ringMs: 2_000,
  /** The machine gets an input at least this often. */
  tickMs: 5_000,
  /** If an input is later than that by this much, the computer slept. */
  lateMs: 15_000,
  steadyMs: 60_000,
  stopMs: 5_000,
  /** The stream is given up after this many peeks in a row whose revision went back. */
  timesBack: 5,
} as const;

const SHORTEST_HEARTBEAT_MS = 50;

/** Does what is due for the stream: it ends connections before it opens new ones. */
export function streamInTime(draft: MachineDraft): void {
  const { link, lastInput } = draft.state;
  const { at, mono } = draft.now;
  const gap = Math.max(at - lastInput.at, mono - lastInput.mono);
  // Runs before a loss is detected: a connection that held counts as steady even if the computer slept at the end of its minute.
  resetLadder(draft);
  if (gap > LIMITS.tickMs + LIMITS.lateMs) endConnection(draft, 'woke from sleep');
  else if (link.is === 'opening' && mono >= link.sinceMono + LIMITS.welcomeMs) {
    fail(draft, 'ws_connect_failed', 'no welcome in time');
    endConnection(draft, 'no welcome');
  } else if (link.is === 'up' && mono >= link.heardMono + LIMITS.silenceMs) {
    fail(draft, 'ws_stream_stalled', 'nothing was heard');
    endConnection(draft, 'stalled');
  }
  open(draft);
}

function open(draft: MachineDraft): void {
  const { link, attempts } = draft.state;
  const { mono } = draft.now;
  if (link.is !== 'down' || mono < link.dueMono) return;
  const conn = newId(draft);
  put(draft, { link: { is: 'opening', conn, sinceMono: mono, auth: link.auth }, attempts: attempts + 1 });
  draft.effects.push({ is: 'open', conn });
}

export function onWelcome(draft: MachineDraft, welcome: StreamInput<'welcome'>): void {
  const { link } = draft.state;
  if (link.is !== 'opening' || link.conn !== welcome.conn) return;
  const { tenant, identity } = draft.rules;
  if ((welcome.tenant ?? tenant) !== tenant || (welcome.identity ?? identity) !== identity) {
    fail(draft, 'config_invalid', 'the upstream welcomes another persona');
    stopMachine(draft, { reason: 'wrong persona', exit: 78, deadlineMs: LIMITS.stopMs });
    return;
  }
  put(draft, {
    link: {
      is: 'up',
      conn: welcome.conn,
      registration: welcome.registration,
      heartbeatMs: Math.max(SHORTEST_HEARTBEAT_MS, welcome.heartbeatMs),
      since: draft.now.at,
      heardMono: draft.now.mono,
      rev: welcome.rev,
      streamRev: welcome.rev,
      reconciledMono: null,
    },
  });
  enter(draft, 'RECONCILING', 'welcome');
}

/** Any message of the upstream shows that it lives; writing to it shows nothing. */
export function recordHeard(draft: MachineDraft, { conn }: { readonly conn: number }): void {
  const { link } = draft.state;
  if (link.is === 'up' && link.conn === conn) put(draft, { link: { ...link, heardMono: draft.now.mono } });
}

export function onGarbled(draft: MachineDraft, { conn }: StreamInput<'garbled'>): void {
  if (!isCurrentConnection(draft.state.link, conn)) return;
  fail(draft, 'ws_stream_stalled', 'a frame that is too large or no JSON');
  endConnection(draft, 'garbled');
}

export function onClosed(draft: MachineDraft, { conn, code, retryAfterMs }: StreamInput<'closed'>): void {
  const { link, attempts } = draft.state;
  if (!isCurrentConnection(link, conn)) return;
  const next = decideAfterClose({ code, retryAfterMs }, attempts, draft.now.draw);
  const closeReason = code === null ? 'closed' : `closed ${code}`;
  if (next.is === 'stop') {
    if (next.exit !== 0) fail(draft, 'config_invalid', closeReason);
    stopMachine(draft, { reason: closeReason, exit: next.exit, deadlineMs: LIMITS.stopMs });
    return;
  }
  const wasRefused = link.is === 'opening' || code === CLOSE.auth || code === CLOSE.second || code === CLOSE.busy;
  if (wasRefused) fail(draft, 'ws_connect_failed', closeReason);
  loseConnection(draft, closeReason, { ms: next.ms, auth: code === CLOSE.auth });
}

/** Ends the connection and schedules the next one. */
export function endConnection(draft: MachineDraft, why: string): void {
  const { link } = draft.state;
  if (link.is === 'down') return;
  draft.effects.push({ is: 'terminate', conn: link.conn });
  loseConnection(draft, why, { ms: computeLadderMs(draft.state.attempts, draft.now.draw), auth: false });
}

/** Handles a lost stream: the queue is unknown, and what was rung for stays outstanding. */
function loseConnection(
  draft: MachineDraft,
  why: string,
  { ms, auth }: { readonly ms: number; readonly auth: boolean },
): void {
  dropPeek(draft);
  put(draft, { ...forgetUpstream(draft.state), link: { is: 'down', dueMono: draft.now.mono + ms, auth } });
  enter(draft, 'DISCONNECTED', why);
}

/** Stops the machine. After this it only handles how a doorbell went. */
export function stopMachine(
  draft: MachineDraft,
  { reason, exit, deadlineMs }: { readonly reason: string; readonly exit: 0 | 78; readonly deadlineMs: number },
): void {
  dropPeek(draft);
  put(draft, {
    ...forgetUpstream(draft.state),
    link: { is: 'down', dueMono: draft.now.mono, auth: false },
    stopping: { reason, exit },
  });
  enter(draft, 'DISCONNECTED', reason);
  const inTime = Math.min(LIMITS.stopMs, Math.max(0, deadlineMs));
  draft.effects.push({ is: 'stop', exit, reason, deadlineMs: inTime });
}

export function isCurrentConnection(link: StreamLink, conn: number): boolean {
  return link.is !== 'down' && link.conn === conn;
}

function dropPeek(draft: MachineDraft): void {
  const { peek } = draft.state;
  if (peek.is === 'asked') draft.effects.push({ is: 'drop_peek', peek: peek.id });
}

function forgetUpstream({ index, heartbeat }: MachineState): Partial<MachineState> {
  return {
    peek: { is: 'none' },
    index: index === null ? null : { ...index, is: 'unknown' },
    heartbeat: { ...heartbeat, stuckMono: null },
  };
}

/** A connection that held resets the backoff and counts as its first attempt. */
function resetLadder(draft: MachineDraft): void {
  const { link, attempts } = draft.state;
  if (attempts === 1 || link.is !== 'up' || link.reconciledMono === null) return;
  if (draft.now.mono >= link.reconciledMono + LIMITS.steadyMs) put(draft, { attempts: 1 });
}
