import { ERROR_CLASSES, type ErrorClass, type Fsm, type Transition } from '../link/index.ts';
import { Fault, type FaultCode, formatIso } from '../model/index.ts';
import {
  CLOSE,
  computeLadderMs,
  type DaemonEffect,
  type DaemonInput,
  type DaemonRules,
  decideAfterClose,
  type ErrorCounts,
  type MachineState,
  type Now,
  type StreamLink,
} from './machine-state.ts';

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
    fail(draft, 'ws_stream_stalled', 'the stream is silent');
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
    fail(draft, 'config_invalid', 'the upstream welcomed another persona');
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
  fail(draft, 'ws_stream_stalled', 'a frame is too large or not JSON');
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

/** How many transitions are kept for display. */
const MOST_TRANSITIONS = 64;

/** One step in progress. The parts of the machine write to it one after the other; nothing outside the machine sees it. */
export interface MachineDraft {
  state: MachineState;
  readonly effects: DaemonEffect[];
  readonly now: Now;
  readonly rules: DaemonRules;
}

export function put(draft: MachineDraft, change: Partial<MachineState>): void {
  draft.state = { ...draft.state, ...change };
}

export function newId(draft: MachineDraft): number {
  put(draft, { lastId: draft.state.lastId + 1 });
  return draft.state.lastId;
}

/** Moves to a state. Staying in the same state is no transition. */
export function enter(draft: MachineDraft, to: Fsm, why: string): void {
  const { fsm: from, transitions } = draft.state;
  if (from === to) return;
  const transition: Transition = { at: formatIso(draft.now.at), from, to, why };
  put(draft, { fsm: to, transitions: [...transitions, transition].slice(-MOST_TRANSITIONS) });
  draft.effects.push({ is: 'moved', transition });
}

/** Counts a failure. An unknown class, from a caller with wrong types, counts as `unclassified`. */
export function fail(draft: MachineDraft, errorClass: ErrorClass, why: string): void {
  const error = isErrorClass(errorClass) ? errorClass : 'unclassified';
  const { errors } = draft.state;
  const { count } = errors[error];
  put(draft, { errors: { ...errors, [error]: { count: count + 1, at: draft.now.at } }, lastError: error });
  draft.effects.push({ is: 'error', error, why });
}

const BY_FAULT: Partial<Record<FaultCode, ErrorClass>> = {
  'daemon-config': 'config_invalid',
  settings: 'config_invalid',
  usage: 'config_invalid',
  'daemon-socket': 'ipc_bind_failed',
};

/** The class for each failed system call. */
const BY_CALL: Readonly<Record<string, ErrorClass>> = {
  listen: 'ipc_bind_failed',
  bind: 'ipc_bind_failed',
  connect: 'ws_connect_failed',
  getaddrinfo: 'ws_connect_failed',
};

const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$)/;

/**
 * Maps anything that was thrown to one of the ten classes (persona daemon, contract 6). The error's own text goes only to the
 * log. A caller that knows what it was doing gives the class itself.
 */
export function classifyError(thrown: unknown): ErrorClass {
  if (isErrorClass(thrown)) return thrown;
  if (thrown instanceof Fault) return BY_FAULT[thrown.code] ?? 'unclassified';
  const call = readText(thrown, 'syscall');
  if (call !== null && Object.hasOwn(BY_CALL, call)) return BY_CALL[call] ?? 'unclassified';
  return TLS.test(readText(thrown, 'code') ?? '') ? 'ws_connect_failed' : 'unclassified';
}

export function isErrorClass(value: unknown): value is ErrorClass {
  return ERROR_CLASSES.some((known) => known === value);
}

/** Counts for all ten classes, starting at 0, so that a class without errors is shown as 0 and not left out. */
export function createErrors(): ErrorCounts {
  return Object.fromEntries(ERROR_CLASSES.map((errorClass) => [errorClass, { count: 0, at: null }])) as Record<
    ErrorClass,
    ErrorCounts[ErrorClass]
  >;
}

function readText(value: unknown, key: string): string | null {
  if (value === null || typeof value !== 'object') return null;
  try {
    const field = (value as Readonly<Record<string, unknown>>)[key];
    return typeof field === 'string' ? field : null;
  } catch {
    return null; // a foreign getter threw, so there is nothing to read
  }
}
