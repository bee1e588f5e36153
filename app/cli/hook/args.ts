import { HARNESS_NAMES, type Harness, harnessOf, hookEventOf } from '../../../core/hooks/index.ts';

export interface HookArgs {
  readonly harness: Harness;
  /** As it was given; stdin may name another. Null: only stdin says it. */
  readonly event: string | null;
  readonly persona: string | null;
  readonly delivery: 'inject' | 'doorbell';
  readonly onStop: 'continue' | 'leave';
}

const FLAGS = ['--harness', '--event', '--persona', '--deliver', '--on-stop', '--harness-version'] as const;
type Flag = (typeof FLAGS)[number];

/** @throws Error which names the flag and the value */
export function hookArgs(args: readonly string[]): HookArgs {
  const values = valuesIn(args);
  const name = values['--harness'];
  if (name === undefined) throw new Error(`--harness: which? Say ${HARNESS_NAMES.join(' or ')}`);
  const harness = harnessOf(name, values['--harness-version'] ?? null);
  if (harness === null) throw new Error(`--harness ${name}: must be ${HARNESS_NAMES.join(' or ')}`);
  const event = values['--event'];
  if (event !== undefined && hookEventOf(event) === null) throw new Error(`--event ${event}: is not known here`);
  const delivery = values['--deliver'] ?? 'inject';
  if (delivery !== 'inject' && delivery !== 'doorbell')
    throw new Error(`--deliver ${delivery}: must be inject or doorbell`);
  const onStop = values['--on-stop'] ?? 'continue';
  if (onStop !== 'continue' && onStop !== 'leave') throw new Error(`--on-stop ${onStop}: must be continue or leave`);
  return { harness, event: event ?? null, persona: values['--persona'] || null, delivery, onStop };
}

/** `--flag value` and `--flag=value`, as `parseArgs` of node:util reads them, which takes as long to load as all of this. */
function valuesIn(args: readonly string[]): Partial<Record<Flag, string>> {
  const values: Partial<Record<Flag, string>> = {};
  for (let i = 0; i < args.length; i += 1) {
    const [word = '', ...rest] = (args[i] ?? '').split('=');
    const flag = FLAGS.find((one) => one === word);
    if (flag === undefined) throw new Error(`${args[i]}: is no flag of a hook; there are ${FLAGS.join(', ')}`);
    if (rest.length > 0) values[flag] = rest.join('=');
    else {
      i += 1;
      const value = args[i];
      if (value === undefined) throw new Error(`${flag}: its value is missing`);
      values[flag] = value;
    }
  }
  return values;
}
