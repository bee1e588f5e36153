import { CLOSE, computeLadderMs, decideAfterClose } from './backoff.ts';
import { enter, fail, type MachineDraft, newId, put } from './machine-draft.ts';
import type { DaemonInput, MachineState, StreamLink } from './machine-state.ts';

type StreamInput<Is extends DaemonInput['is']> = Extract<DaemonInput, { is: Is }>;

/** How long is waited for what (persona daemon, contract 2 and 3; the wait for a welcome is ours). */
export const LIMITS = {
  welcomeMs: 15_000,
  silenceMs: 45_000,
  peekMs: 10_000,
  ringMs: 2_000,
  /** Something is told to the machine at least so often. */
  tickMs: 5_000,
  /** Later than that by this much: the computer slept. */
  lateMs: 15_000,
  steadyMs: 60_000,
  stopMs: 5_000,
  /** Peeks in a row whose revision went back before the stream is given up. */
  timesBack: 5,
} as const;

const SHORTEST_HEARTBEAT_MS = 50;

/** What became due of the stream: its ends before its beginnings. */
export function streamInTime(draft: MachineDraft): void {
  const { link, lastInput } = draft.state;
  const { at, mono } = draft.now;
  const gap = Math.max(at - lastInput.at, mono - lastInput.mono);
  // Before a loss is judged: a connection that held is steady also when the end of its minute was slept through.
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

/** Whatever the upstream says shows that it lives; what was written to it shows nothing. */
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

/** Ends the connection from here, and begins the ladder. */
export function endConnection(draft: MachineDraft, why: string): void {
  const { link } = draft.state;
  if (link.is === 'down') return;
  draft.effects.push({ is: 'terminate', conn: link.conn });
  loseConnection(draft, why, { ms: computeLadderMs(draft.state.attempts, draft.now.draw), auth: false });
}

/** The stream is gone: nothing is known of the queue, and what was rung stays rung. */
function loseConnection(
  draft: MachineDraft,
  why: string,
  { ms, auth }: { readonly ms: number; readonly auth: boolean },
): void {
  dropPeek(draft);
  put(draft, { ...forgetUpstream(draft.state), link: { is: 'down', dueMono: draft.now.mono + ms, auth } });
  enter(draft, 'DISCONNECTED', why);
}

/** The last thing a machine does but to hear how a doorbell went. */
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

/** A connection that held is the first of a ladder that begins anew. */
function resetLadder(draft: MachineDraft): void {
  const { link, attempts } = draft.state;
  if (attempts === 1 || link.is !== 'up' || link.reconciledMono === null) return;
  if (draft.now.mono >= link.reconciledMono + LIMITS.steadyMs) put(draft, { attempts: 1 });
}
