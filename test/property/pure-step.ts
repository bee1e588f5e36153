import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { step, type WatcherRules, type WatcherState } from '../../core/watcher/index.ts';

export type Input = Parameters<typeof step>[1];

/** One transition as `step` promises it: of what cannot be changed, the same each time, to a state that survives JSON. */
export function pureStep(state: WatcherState, input: Input, rules: WatcherRules): ReturnType<typeof step> {
  const before = freeze(state);
  const out = step(before, freeze(input), rules);
  assert.ok(isDeepStrictEqual(step(before, input, rules), out), 'the same input gives the same output');
  const again = JSON.parse(JSON.stringify(out.state)) as WatcherState;
  assert.deepEqual(again, out.state, 'a state survives a JSON round trip');
  return { ...out, state: again };
}

export function freeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
