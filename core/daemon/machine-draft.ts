import type { ErrorClass, Fsm, Transition } from '../link/index.ts';
import { formatIso } from '../model/index.ts';
import { isErrorClass } from './errors.ts';
import type { DaemonEffect, DaemonRules, MachineState, Now } from './machine-state.ts';

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
