import { isUnknown, onDrained, onPeeked, onPeekFailed, onPendingChanged, peekInTime, refresh } from './machine-peek.ts';
import type { DaemonInput, DaemonOutput, DaemonRules, MachineState, Now } from './machine-state.ts';
import {
  createErrors,
  fail,
  isCurrentConnection,
  LIMITS,
  type MachineDraft,
  onClosed,
  onGarbled,
  onWelcome,
  put,
  recordHeard,
  stopMachine,
  streamInTime,
} from './machine-stream.ts';
import { onAccepted, onActivity, onNotify, onRejected, ringInTime, wakeIdle } from './pacing.ts';

/** Creates the state of a new daemon, which connects at its first tick. */
export function createMachineState({ at, mono }: Pick<Now, 'at' | 'mono'>): MachineState {
  return {
    fsm: 'DISCONNECTED',
    startedAt: at,
    startedMono: mono,
    lastInput: { at, mono },
    link: { is: 'down', dueMono: mono, auth: false },
    attempts: 0,
    lastId: 0,
    peek: { is: 'none' },
    index: null,
    outstanding: null,
    ring: null,
    used: [],
    turn: { is: 'unknown', at },
    activeMono: null,
    heartbeat: { seq: 0, dueMono: mono, sentMono: null, stuckMono: null },
    drained: null,
    errors: createErrors(),
    lastError: null,
    transitions: [],
    stopping: null,
  };
}

/**
 * One step of the persona daemon (contract 3). Pure: the same state, input and rules give the same output. The step first does
 * what is due, then handles the input, then does what follows from the new state.
 */
export function step(state: MachineState, input: DaemonInput, rules: DaemonRules): DaemonOutput {
  const { at, mono, draw } = input;
  const draft: MachineDraft = { state, effects: [], now: { at, mono, draw }, rules };
  runDue(draft);
  put(draft, { lastInput: { at, mono } });
  handleInput(draft, input);
  followUp(draft, input);
  return { state: draft.state, effects: draft.effects };
}

/** The latest time for the next input, on the `mono` clock. */
export function computeDueMono({ lastInput, link, peek, ring, heartbeat, stopping }: MachineState): number {
  const dues: number[] = [lastInput.mono + LIMITS.tickMs];
  if (ring !== null) dues.push(ring.sinceMono + LIMITS.ringMs);
  if (stopping !== null) return Math.min(...dues);
  if (link.is === 'down') dues.push(link.dueMono);
  if (link.is === 'opening') dues.push(link.sinceMono + LIMITS.welcomeMs);
  if (link.is === 'up') dues.push(link.heardMono + LIMITS.silenceMs);
  if (link.is === 'up' && link.reconciledMono !== null) dues.push(heartbeat.dueMono);
  if (peek.is === 'asked') dues.push(peek.sinceMono + LIMITS.peekMs);
  if (peek.is === 'waiting') dues.push(peek.dueMono);
  return Math.min(...dues);
}

/** The same daemon without its index, which is a cache and may be lost at any time (contract 3). */
export function dropIndex(state: MachineState): MachineState {
  return { ...state, index: null, outstanding: null };
}

function runDue(draft: MachineDraft): void {
  ringInTime(draft);
  if (draft.state.stopping !== null) return;
  streamInTime(draft);
  peekInTime(draft);
  heartbeatInTime(draft);
}

function handleInput(draft: MachineDraft, input: DaemonInput): void {
  switch (input.is) {
    case 'notify':
      onNotify(draft, input);
      break;
    case 'accepted':
      onAccepted(draft, input);
      break;
    case 'rejected':
      onRejected(draft, input);
      break;
    case 'failed':
      fail(draft, input.error, 'told');
      break;
    default:
      if (draft.state.stopping === null) handleWhileAlive(draft, input);
  }
}

/** Handles inputs that matter only while the daemon is not stopping. */
function handleWhileAlive(
  draft: MachineDraft,
  input: Exclude<DaemonInput, { readonly is: 'notify' | 'accepted' | 'rejected' | 'failed' }>,
): void {
  switch (input.is) {
    case 'tick':
      break;
    case 'heard':
      recordHeard(draft, input);
      break;
    case 'welcome':
      onWelcome(draft, input);
      break;
    case 'pending_changed':
      recordHeard(draft, input);
      onPendingChanged(draft, input);
      break;
    case 'drained':
      recordHeard(draft, input);
      onDrained(draft, input);
      break;
    case 'lifecycle':
      if (isCurrentConnection(draft.state.link, input.conn)) {
        stopMachine(draft, { reason: input.verb, exit: 0, deadlineMs: LIMITS.stopMs });
      }
      break;
    case 'garbled':
      onGarbled(draft, input);
      break;
    case 'closed':
      onClosed(draft, input);
      break;
    case 'peeked':
      onPeeked(draft, input);
      break;
    case 'peek_failed':
      onPeekFailed(draft, input);
      break;
    case 'heartbeat_sent':
      onHeartbeatSent(draft, input);
      break;
    case 'heartbeat_failed':
      onHeartbeatFailed(draft, input);
      break;
    case 'activity':
      onActivity(draft, input);
      break;
    case 'shutdown':
      stopMachine(draft, { reason: input.reason, exit: 0, deadlineMs: input.deadlineMs });
      break;
  }
}

/**
 * Starts a peek if the queue is unknown, after a welcome or when the index was lost. Sends a heartbeat on a connection that was
 * just reconciled, and wakes an agent at rest.
 */
function followUp(draft: MachineDraft, input: DaemonInput): void {
  if (draft.state.stopping !== null) return;
  if (isUnknown(draft.state.index) && draft.state.peek.is === 'none') refresh(draft);
  heartbeatInTime(draft);
  // A hook notes a Stop before it asks the daemon. An agent whose hook asks is rung and need not be woken.
  if (input.is !== 'activity') wakeIdle(draft);
}

type HeartbeatInput<Is extends DaemonInput['is']> = Extract<DaemonInput, { is: Is }>;

/** A heartbeat that the stream did not take for this many intervals is a failure (persona daemon, contract 6). */
const STUCK_INTERVALS = 2;

/** Sends one heartbeat per interval, from the moment a connection is reconciled. While a heartbeat is stuck, no other is sent. */
function heartbeatInTime(draft: MachineDraft): void {
  const { link, heartbeat } = draft.state;
  const { mono } = draft.now;
  if (link.is !== 'up' || link.reconciledMono === null || mono < heartbeat.dueMono) return;
  const dueMono = mono + link.heartbeatMs;
  if (heartbeat.stuckMono === null) {
    const seq = heartbeat.seq + 1;
    put(draft, { heartbeat: { ...heartbeat, seq, dueMono, stuckMono: mono } });
    draft.effects.push({ is: 'heartbeat', conn: link.conn, seq });
    return;
  }
  const isStuck = mono - heartbeat.stuckMono >= STUCK_INTERVALS * link.heartbeatMs;
  put(draft, { heartbeat: { ...heartbeat, dueMono, stuckMono: isStuck ? mono : heartbeat.stuckMono } });
  if (isStuck) fail(draft, 'heartbeat_publish_failed', 'no progress in two intervals');
}

function onHeartbeatSent(draft: MachineDraft, { conn, seq }: HeartbeatInput<'heartbeat_sent'>): void {
  const { link, heartbeat } = draft.state;
  if (link.is !== 'up' || link.conn !== conn || heartbeat.seq !== seq) return;
  put(draft, { heartbeat: { ...heartbeat, sentMono: draft.now.mono, stuckMono: null } });
}

function onHeartbeatFailed(draft: MachineDraft, { conn }: HeartbeatInput<'heartbeat_failed'>): void {
  const { link, heartbeat } = draft.state;
  if (link.is !== 'up' || link.conn !== conn) return;
  put(draft, { heartbeat: { ...heartbeat, stuckMono: null } });
  fail(draft, 'heartbeat_publish_failed', 'the stream did not accept the heartbeat');
}
