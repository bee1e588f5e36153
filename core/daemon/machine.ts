import type { Input, MachineState, Output, Rules } from './machine-state.ts';

/** One transition of the persona daemon (contract 3). Pure: the same state, input and rules give the same output. */
export function step(state: MachineState, _input: Input, _rules: Rules): Output {
  return { state, effects: [] };
}
