import type { Doorbell, RingWhy, TurnBoundary } from '../link/index.ts';
import { formatIso, type Instant } from '../model/index.ts';
import { isUnknown, refresh } from './machine-peek.ts';
import type { AgentTurn, DaemonInput, MachineState } from './machine-state.ts';
import { enter, fail, LIMITS, type MachineDraft, newId, put } from './machine-stream.ts';

type PacingInput<Is extends DaemonInput['is']> = Extract<DaemonInput, { is: Is }>;

/** How doorbells are spaced (persona daemon, contract 4). */
export const PACE = {
  /** How long a boundary is remembered, so that two hooks at one event ring once. */
  turnBoundaryMs: 300_000,
  /** After this time, items that were rung for and not drained may ring again, at a later boundary. */
  againMs: 600_000,
  /** No agent is woken until this long after a connection was reconciled. */
  wakeAfterMs: 30_000,
} as const;

/** The name of a boundary: the same for two hooks at one event. */
export function formatTurnBoundaryId({ session, turn, kind }: TurnBoundary): string {
  return JSON.stringify([session, turn, kind]);
}

/** Why nothing rings at this turn boundary; null: a doorbell may ring. */
function findObstacle(state: MachineState, turnBoundary: TurnBoundary, mono: number): RingWhy | null {
  const { stopping, fsm, index, outstanding, ring: inFlight } = state;
  if (stopping !== null) return 'stopping';
  if (fsm === 'DISCONNECTED') return 'disconnected';
  if (fsm === 'RECONCILING' || index === null || isUnknown(index)) return 'reconciling';
  // Also for a doorbell that was given to the surface on an earlier connection.
  if (fsm === 'EMITTING' || inFlight !== null) return 'emitting';
  if (index.count === 0) return 'nothing_pending';
  if (outstanding !== null && mono - outstanding.mono < PACE.againMs) return 'outstanding';
  return isSpent(state, turnBoundary, mono) ? 'duplicate_boundary' : null;
}

export function onNotify(draft: MachineDraft, { ask, turnBoundary }: PacingInput<'notify'>): void {
  const { state, now } = draft;
  if (turnBoundary === null) {
    if (state.stopping === null) refresh(draft);
    answer(draft, ask, state.stopping === null ? 'queued' : 'stopping');
    return;
  }
  const turn = toTurnAfter(draft, turnBoundary);
  put(draft, { activeMono: now.mono, turn });
  // The harness takes no answer when it reports a complete turn, so the wake path or the next turn boundary rings.
  const why =
    findObstacle(state, turnBoundary, now.mono) ?? (turnBoundary.kind === 'agent-turn-complete' ? 'queued' : null);
  if (why !== null) {
    answer(draft, ask, why);
    return;
  }
  ring(draft, { way: 'boundary', ask, turn, turnBoundaryId: formatTurnBoundaryId(turnBoundary) });
}

/** Handles activity of the agent. A note from before the last boundary is ignored. A Stop is a boundary even if no hook asked. */
export function onActivity(draft: MachineDraft, { touched, moment }: PacingInput<'activity'>): void {
  put(draft, { activeMono: draft.now.mono });
  if (touched > draft.state.turn.at) put(draft, { turn: toNotedTurn(draft.state, moment, touched) });
}

/** Opt-in: an agent at rest is at a boundary, and is rung there once (contract 4, idle surfaces). */
export function wakeIdle(draft: MachineDraft): void {
  const { turn, fsm, index, outstanding, ring: inFlight, link } = draft.state;
  if (!draft.rules.wakeIdle || turn.is !== 'rest' || turn.woken) return;
  if (fsm !== 'CONNECTED' || outstanding !== null || inFlight !== null) return;
  if (index?.is !== 'fresh' || index.count === 0) return;
  if (link.is !== 'up' || link.reconciledMono === null) return;
  if (draft.now.mono - link.reconciledMono < PACE.wakeAfterMs) return;
  const woken: AgentTurn = { ...turn, woken: true };
  put(draft, { turn: woken });
  ring(draft, { way: 'wake', ask: null, turn: woken, turnBoundaryId: turn.turnBoundaryId });
}

/** Handles an accepted doorbell. Accepted is not acknowledged: the ring stays outstanding until somebody drains. */
export function onAccepted(draft: MachineDraft, { ring: id }: PacingInput<'accepted'>): void {
  const { ring: inFlight } = draft.state;
  if (inFlight === null || inFlight.id !== id) return;
  put(draft, { ring: null });
  if (draft.state.fsm === 'EMITTING') enter(draft, 'CONNECTED', 'rung');
  if (inFlight.ask !== null) answer(draft, inFlight.ask, 'rung');
}

export function onRejected(draft: MachineDraft, { ring: id }: PacingInput<'rejected'>): void {
  const { ring: inFlight } = draft.state;
  if (inFlight === null || inFlight.id !== id) return;
  const { turn } = draft.state;
  if (turn.is === 'open' && turn.ring === id) put(draft, { turn: inFlight.turn });
  failRing(draft, 'the surface did not accept the doorbell');
}

/** Fails a doorbell that was not accepted in time. It may have rung nevertheless, so the agent is not woken for it. */
export function ringInTime(draft: MachineDraft): void {
  const { ring: inFlight } = draft.state;
  if (inFlight !== null && draft.now.mono >= inFlight.sinceMono + LIMITS.ringMs) {
    failRing(draft, 'the surface did not answer in time');
  }
}

interface RingRequest {
  readonly way: 'boundary' | 'wake';
  readonly ask: number | null;
  readonly turn: AgentTurn;
  /** The boundary that the ring is spent on. */
  readonly turnBoundaryId: string;
}

function ring(draft: MachineDraft, { way, ask, turn, turnBoundaryId }: RingRequest): void {
  const { mono, at } = draft.now;
  const id = newId(draft);
  const used = draft.state.used.filter((spent) => mono - spent.mono < PACE.turnBoundaryMs);
  put(draft, {
    used: [...used, { id: turnBoundaryId, mono }],
    outstanding: { rev: draft.state.index?.rev ?? 0, ring: id, mono, at, oldest: draft.state.index?.oldest ?? null },
    ring: { id, ask, sinceMono: mono, turn },
    // After a ring at a Stop the agent goes on.
    turn: turn.is === 'rest' && !turn.woken ? { is: 'open', ring: id, at } : turn,
  });
  enter(draft, 'EMITTING', way);
  draft.effects.push({ is: 'ring', ring: id, way, ask, doorbell: createDoorbell(at) });
}

function failRing(draft: MachineDraft, why: string): void {
  const { ring: inFlight, outstanding } = draft.state;
  if (inFlight === null) return;
  put(draft, { ring: null, outstanding: outstanding?.ring === inFlight.id ? null : outstanding });
  fail(draft, 'surface_inject_failed', why);
  if (draft.state.fsm === 'EMITTING') enter(draft, 'CONNECTED', 'surface_inject_failed');
  if (inFlight.ask !== null) answer(draft, inFlight.ask, 'surface_inject_failed');
}

function answer(draft: MachineDraft, ask: number, why: RingWhy): void {
  draft.effects.push({ is: 'answer', ask, answer: { emitted: why === 'rung', why } });
}

/** The agent's turn after a boundary. */
function toTurnAfter({ state, now }: MachineDraft, turnBoundary: TurnBoundary): AgentTurn {
  switch (turnBoundary.kind) {
    case 'SessionStart':
      return { is: 'unknown', at: now.at };
    case 'UserPromptSubmit':
      return { is: 'open', ring: null, at: now.at };
    case 'Stop':
    case 'agent-turn-complete':
      // A second hook at a boundary that already rang adds nothing, unless the agent drained since: then it has stopped once
      // more.
      return isSpent(state, turnBoundary, now.mono, state.drained?.mono ?? null)
        ? state.turn
        : { is: 'rest', turnBoundaryId: formatTurnBoundaryId(turnBoundary), at: now.at, woken: false };
  }
}

/** The agent's turn after a moment that its hook noted. */
function toNotedTurn({ turn, drained }: MachineState, moment: string | null, at: Instant): AgentTurn {
  switch (moment) {
    case 'SessionStart':
    case 'SessionEnd':
    case 'StopFailure':
    case 'Interrupt':
      return { is: 'unknown', at };
    case 'Stop': {
      // The second hook at a Stop at which the agent was sent on, or woken.
      const isKnown = turn.is === 'open' ? turn.ring !== null : turn.is === 'rest' && turn.woken;
      if (isKnown && (drained === null || drained.at <= turn.at)) return turn;
      return { is: 'rest', turnBoundaryId: JSON.stringify(['noted', at]), at, woken: false };
    }
    // Noted in place of a Stop: a hook let the turn go on.
    case 'Continued':
      return { is: 'open', ring: turn.is === 'open' ? turn.ring : null, at };
    default:
      return { is: 'open', ring: null, at };
  }
}

/** Whether a doorbell was recently spent on this boundary; with `since`, whether that was after `since`. */
function isSpent(
  { used }: MachineState,
  turnBoundary: TurnBoundary,
  mono: number,
  since: number | null = null,
): boolean {
  const id = formatTurnBoundaryId(turnBoundary);
  return used.some(
    (spent) => spent.id === id && mono - spent.mono < PACE.turnBoundaryMs && (since === null || spent.mono >= since),
  );
}

/**
 * Creates all that a surface ever receives (persona daemon, contract 4). The time is the only input, so no word of a message can
 * get into the doorbell.
 */
export function createDoorbell(at: Instant): Doorbell {
  return { timestamp: formatIso(at), source: 'daemon', kind: 'pending_work_notice' };
}
