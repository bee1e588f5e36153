import { parseArgs } from 'node:util';
import { HARNESS_NAMES, type Harness, harnessOf, hookEventOf } from '../../../core/hooks/index.ts';

export interface HookArgs {
  readonly harness: Harness;
  /** As it was given; stdin may name another. Null: only stdin says it. */
  readonly event: string | null;
  readonly persona: string | null;
  readonly delivery: 'inject' | 'doorbell';
  readonly onStop: 'continue' | 'leave';
}

/** @throws Error which names the flag and the value */
export function hookArgs(args: readonly string[]): HookArgs {
  const { values } = parseArgs({
    args: [...args],
    options: {
      harness: { type: 'string' },
      event: { type: 'string' },
      persona: { type: 'string' },
      deliver: { type: 'string', default: 'inject' },
      'on-stop': { type: 'string', default: 'continue' },
      'harness-version': { type: 'string' },
    },
  });
  const { harness: name, event, persona, deliver, 'on-stop': onStop, 'harness-version': version } = values;
  if (name === undefined) throw new Error(`--harness: which? Say ${HARNESS_NAMES.join(' or ')}`);
  const harness = harnessOf(name, version ?? null);
  if (harness === null) throw new Error(`--harness ${name}: must be ${HARNESS_NAMES.join(' or ')}`);
  if (event !== undefined && hookEventOf(event) === null) throw new Error(`--event ${event}: is not known here`);
  if (deliver !== 'inject' && deliver !== 'doorbell')
    throw new Error(`--deliver ${deliver}: must be inject or doorbell`);
  if (onStop !== 'continue' && onStop !== 'leave') throw new Error(`--on-stop ${onStop}: must be continue or leave`);
  return { harness, event: event ?? null, persona: persona || null, delivery: deliver, onStop };
}
