import { parseArgs } from 'node:util';
import { toUsageFault } from '../../core/command/index.ts';

export type FollowHarness = 'claude' | 'codex' | 'fifo' | 'exec';

export interface FollowArgs {
  readonly persona: string;
  readonly harness: FollowHarness;
  /** The name under which the position is stored. */
  readonly consumer: string;
  readonly from: 'oldest' | 'now';
  readonly once: boolean;
  /** How long to wait for the first event; null: forever. */
  readonly timeoutMs: number | null;
  readonly limit: number;
  readonly json: boolean;
  readonly diagnostics: boolean;
  readonly session: boolean;
  readonly killAfterMs: number;
  readonly fifo: string | null;
  readonly command: readonly string[];
}

const HARNESSES: readonly string[] = ['claude', 'codex', 'fifo', 'exec'];
const LIMIT = 20;
const MOST = 1000;
/** In seconds. A command for one event ends soon; a turn of an agent may take long. */
const KILL_AFTER_S = { exec: 60, turn: 3600 };

const FLAGS = {
  harness: { type: 'string' },
  as: { type: 'string' },
  from: { type: 'string' },
  once: { type: 'boolean', default: false },
  timeout: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean', default: false },
  'no-diagnostics': { type: 'boolean', default: false },
  'no-session': { type: 'boolean', default: false },
  'kill-after': { type: 'string' },
  fifo: { type: 'string' },
} as const;

/** @throws Fault `usage` which names the flag and the value */
export function parseFollowArgs(args: readonly string[]): FollowArgs {
  // The command may contain anything, including flags that look like ours.
  const dashes = args.indexOf('--');
  const command = dashes === -1 ? [] : args.slice(dashes + 1);
  try {
    const ours = [...(dashes === -1 ? args : args.slice(0, dashes))];
    const { values, positionals } = parseArgs({ args: ours, options: FLAGS, allowPositionals: true });
    const [persona, ...rest] = positionals;
    if (persona === undefined || persona === '') throw new Error('whose events? Give the name of a persona');
    if (rest.length > 0) throw new Error(`${rest.join(' ')} is too much; a command comes after --`);
    const harness = parseHarness(values.harness);
    if (dashes !== -1 && command.length === 0) throw new Error('-- : which command? Nothing comes after it');
    if (command[0] === '') throw new Error('-- : the name of the command is empty');
    if (harness === 'exec' && command.length === 0) throw new Error('--harness exec: which command? Give it after --');
    if (harness === 'fifo' && command.length > 0) throw new Error('--harness fifo takes no command');
    if (harness !== 'fifo' && values.fifo !== undefined) throw new Error('--fifo is for --harness fifo');
    if (harness === 'exec' && values.json) throw new Error('--json: a command has the line on its stdin anyway');
    if (command.length === 0 && values['kill-after'] !== undefined)
      throw new Error('--kill-after: there is no command');
    for (const name of ['as', 'fifo'] as const) if (values[name] === '') throw new Error(`--${name}: is empty`);
    const from = values.from ?? 'oldest';
    if (from !== 'oldest' && from !== 'now') throw new Error(`--from ${from}: say oldest or now`);
    // A line does not wake Codex; only the end of a command that it waits for does.
    const once = values.once || (harness === 'codex' && command.length === 0);
    if (values.timeout !== undefined && !once) throw new Error('--timeout goes with --once');
    return {
      persona,
      harness,
      consumer: values.as ?? harness,
      from,
      once,
      timeoutMs: values.timeout === undefined ? null : 1000 * parseNumber('timeout', values.timeout, 0, 1e6),
      limit: parseWholeNumber('limit', values.limit ?? String(LIMIT), 1, MOST),
      json: values.json,
      diagnostics: !values['no-diagnostics'],
      session: !values['no-session'],
      killAfterMs:
        1000 *
        parseNumber(
          'kill-after',
          values['kill-after'] ?? String(KILL_AFTER_S[harness === 'exec' ? 'exec' : 'turn']),
          1,
          1e6,
        ),
      fifo: values.fifo ?? null,
      command,
    };
  } catch (error) {
    throw toUsageFault(error);
  }
}

function parseHarness(text: string | undefined): FollowHarness {
  if (text === undefined) throw new Error(`--harness: say which, ${HARNESSES.join(', ')}`);
  if (!HARNESSES.includes(text)) throw new Error(`--harness ${text}: it is one of ${HARNESSES.join(', ')}`);
  return text as FollowHarness;
}

function parseNumber(flag: string, text: string, least: number, most: number): number {
  const value = /^\d{1,7}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`--${flag} ${text}: must be a number from ${least} to ${most}`);
}

function parseWholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = parseNumber(flag, text, least, most);
  if (Number.isInteger(value)) return value;
  throw new Error(`--${flag} ${text}: must be a whole number`);
}
