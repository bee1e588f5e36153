import { afterClose, CLOSE, ladderMs } from './backoff.ts';
import { type Draft, enter, fail, newId, put } from './machine-draft.ts';
import type { Input, Link, MachineState } from './machine-state.ts';

type Told<Is extends Input['is']> = Extract<Input, { is: Is }>;

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
export function streamInTime(draft: Draft): void {
  const { link, told } = draft.state;
  const { at, mono } = draft.now;
  const gap = Math.max(at - told.at, mono - told.mono);
  // Before a loss is judged: a connection that held is steady also when the end of its minute was slept through.
  steady(draft);
  if (gap > LIMITS.tickMs + LIMITS.lateMs) ended(draft, 'woke from sleep');
  else if (link.is === 'opening' && mono >= link.sinceMono + LIMITS.welcomeMs) {
    fail(draft, 'ws_connect_failed', 'no welcome in time');
    ended(draft, 'no welcome');
  } else if (link.is === 'up' && mono >= link.heardMono + LIMITS.silenceMs) {
    fail(draft, 'ws_stream_stalled', 'nothing was heard');
    ended(draft, 'stalled');
  }
  open(draft);
}

function open(draft: Draft): void {
  const { link, attempts } = draft.state;
  const { mono } = draft.now;
  if (link.is !== 'down' || mono < link.dueMono) return;
  const conn = newId(draft);
  put(draft, { link: { is: 'opening', conn, sinceMono: mono, auth: link.auth }, attempts: attempts + 1 });
  draft.effects.push({ is: 'open', conn });
}

export function onWelcome(draft: Draft, told: Told<'welcome'>): void {
  const { link } = draft.state;
  if (link.is !== 'opening' || link.conn !== told.conn) return;
  const { tenant, identity } = draft.rules;
  if ((told.tenant ?? tenant) !== tenant || (told.identity ?? identity) !== identity) {
    fail(draft, 'config_invalid', 'the upstream welcomes another persona');
    stop(draft, { reason: 'wrong persona', exit: 78, deadlineMs: LIMITS.stopMs });
    return;
  }
  put(draft, {
    link: {
      is: 'up',
      conn: told.conn,
      registration: told.registration,
      heartbeatMs: Math.max(SHORTEST_HEARTBEAT_MS, told.heartbeatMs),
      since: draft.now.at,
      heardMono: draft.now.mono,
      rev: told.rev,
      streamRev: told.rev,
      reconciledMono: null,
    },
  });
  enter(draft, 'RECONCILING', 'welcome');
}

/** Whatever the upstream says shows that it lives; what was written to it shows nothing. */
export function heard(draft: Draft, { conn }: { readonly conn: number }): void {
  const { link } = draft.state;
  if (link.is === 'up' && link.conn === conn) put(draft, { link: { ...link, heardMono: draft.now.mono } });
}

export function onGarbled(draft: Draft, { conn }: Told<'garbled'>): void {
  if (!isOf(draft.state.link, conn)) return;
  fail(draft, 'ws_stream_stalled', 'a frame that is too large or no JSON');
  ended(draft, 'garbled');
}

export function onClosed(draft: Draft, { conn, code, retryAfterMs }: Told<'closed'>): void {
  const { link, attempts } = draft.state;
  if (!isOf(link, conn)) return;
  const next = afterClose({ code, retryAfterMs }, attempts, draft.now.draw);
  const said = code === null ? 'closed' : `closed ${code}`;
  if (next.is === 'stop') {
    if (next.exit !== 0) fail(draft, 'config_invalid', said);
    stop(draft, { reason: said, exit: next.exit, deadlineMs: LIMITS.stopMs });
    return;
  }
  const wasRefused = link.is === 'opening' || code === CLOSE.auth || code === CLOSE.second || code === CLOSE.busy;
  if (wasRefused) fail(draft, 'ws_connect_failed', said);
  lost(draft, said, { ms: next.ms, auth: code === CLOSE.auth });
}

/** Ends the connection from here, and begins the ladder. */
export function ended(draft: Draft, why: string): void {
  const { link } = draft.state;
  if (link.is === 'down') return;
  draft.effects.push({ is: 'terminate', conn: link.conn });
  lost(draft, why, { ms: ladderMs(draft.state.attempts, draft.now.draw), auth: false });
}

/** The stream is gone: nothing is known of the queue, and what was rung stays rung. */
function lost(draft: Draft, why: string, { ms, auth }: { readonly ms: number; readonly auth: boolean }): void {
  dropPeek(draft);
  put(draft, { ...withoutWord(draft.state), link: { is: 'down', dueMono: draft.now.mono + ms, auth } });
  enter(draft, 'DISCONNECTED', why);
}

/** The last thing a machine does but to hear how a doorbell went. */
export function stop(
  draft: Draft,
  { reason, exit, deadlineMs }: { readonly reason: string; readonly exit: 0 | 78; readonly deadlineMs: number },
): void {
  dropPeek(draft);
  put(draft, {
    ...withoutWord(draft.state),
    link: { is: 'down', dueMono: draft.now.mono, auth: false },
    stopping: { reason, exit },
  });
  enter(draft, 'DISCONNECTED', reason);
  const inTime = Math.min(LIMITS.stopMs, Math.max(0, deadlineMs));
  draft.effects.push({ is: 'stop', exit, reason, deadlineMs: inTime });
}

export function isOf(link: Link, conn: number): boolean {
  return link.is !== 'down' && link.conn === conn;
}

function dropPeek(draft: Draft): void {
  const { peek } = draft.state;
  if (peek.is === 'asked') draft.effects.push({ is: 'drop_peek', peek: peek.id });
}

function withoutWord({ index, heartbeat }: MachineState): Partial<MachineState> {
  return {
    peek: { is: 'none' },
    index: index === null ? null : { ...index, is: 'unknown' },
    heartbeat: { ...heartbeat, stuckMono: null },
  };
}

/** A connection that held is the first of a ladder that begins anew. */
function steady(draft: Draft): void {
  const { link, attempts } = draft.state;
  if (attempts === 1 || link.is !== 'up' || link.reconciledMono === null) return;
  if (draft.now.mono >= link.reconciledMono + LIMITS.steadyMs) put(draft, { attempts: 1 });
}
