import type { ErrorClass, Fsm, Transition } from '../link/index.ts';
import { isoOf } from '../model/index.ts';
import { isErrorClass } from './errors.ts';
import type { Effect, MachineState, Now, Rules } from './machine-state.ts';

/** How many transitions are kept to be shown. */
const KEPT = 64;

/** One step in the making: the parts of the machine write to it, one after the other; nobody else sees it. */
export interface Draft {
  state: MachineState;
  readonly effects: Effect[];
  readonly now: Now;
  readonly rules: Rules;
}

export function put(draft: Draft, change: Partial<MachineState>): void {
  draft.state = { ...draft.state, ...change };
}

export function newId(draft: Draft): number {
  put(draft, { lastId: draft.state.lastId + 1 });
  return draft.state.lastId;
}

/** Goes over to a state; staying where one is, is no transition. */
export function enter(draft: Draft, to: Fsm, why: string): void {
  const { fsm: from, transitions } = draft.state;
  if (from === to) return;
  const transition: Transition = { at: isoOf(draft.now.at), from, to, why };
  put(draft, { fsm: to, transitions: [...transitions, transition].slice(-KEPT) });
  draft.effects.push({ is: 'moved', transition });
}

/** Counts a failure. A class that is none, from a caller that lies about its types, is counted as what it is: unclassified. */
export function fail(draft: Draft, told: ErrorClass, why: string): void {
  const error = isErrorClass(told) ? told : 'unclassified';
  const { errors } = draft.state;
  const { count } = errors[error];
  put(draft, { errors: { ...errors, [error]: { count: count + 1, at: draft.now.at } }, lastError: error });
  draft.effects.push({ is: 'error', error, why });
}
