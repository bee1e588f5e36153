import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { BrainclawFinding } from '../../core/sources/brainclaw/commands/doctor-journal.ts';
import { type Cli, startCli } from './process.ts';
import { programEntry } from './program.ts';
import type { Scratch } from './scratch.ts';

export interface BrainclawAnswer {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** The one line it printed. @throws when it is no JSON object */
  json<T = Readonly<Record<string, unknown>>>(): T;
}

export interface BrainclawCliOptions {
  /** Instead of the place: null gives none. */
  readonly project?: string | null;
  readonly cwd?: string;
  readonly wrap?: readonly string[];
}

/** `hivebar brainclaw ARGS --project PLACE` as a process of its own, which has no home but the place. */
export type BrainclawCli = (args: readonly string[], options?: BrainclawCliOptions) => Promise<BrainclawAnswer>;

const FOREIGN = /^(HIVEBAR_|KIJITOMON_|XDG_|NODE_|npm_|PI_|ENTWURF_|BRAINCLAW_)|_proxy$/i;

export function brainclawCli(place: Pick<Scratch, 'dir' | 'at'>): BrainclawCli {
  return async (args, { project = place.dir, cwd = place.dir, wrap = [] } = {}) => {
    const inherited = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
    const [file = '', ...rest] = [...wrap, process.execPath, programEntry('hivebar'), 'brainclaw', ...args];
    const child = spawn(file, [...rest, ...(project === null ? [] : ['--project', project])], {
      ...{ cwd, env: { ...Object.fromEntries(inherited), HIVEBAR_HOME: place.at('hivebar'), HOME: place.dir } },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return {
      ...{ code, out, err },
      json: <T>() => {
        assert.match(out, /^\{.*\}\n$/, `no JSON\n${out}\n${err}`);
        return JSON.parse(out) as T;
      },
    };
  };
}

/** `hivebar brainclaw tail ARGS --follow` of a place, until it is stopped. */
export function startTail(
  place: Pick<Scratch, 'dir' | 'at'>,
  args: readonly string[] = [],
  options: { readonly wrap?: readonly string[] } = {},
): Cli {
  const env = { HIVEBAR_HOME: place.at('hivebar'), HOME: place.dir };
  return startCli(['brainclaw', 'tail', '--follow', '--project', place.dir, ...args], { env, ...options });
}

/** A line of `tail --json`. */
export interface TailLine {
  readonly seq: number;
  readonly action: string;
  readonly item_id: string | null;
  readonly effect: string;
  readonly status: string | null;
  readonly sections: readonly string[];
  readonly attention: { readonly before: number; readonly after: number; readonly why: string | null };
  readonly cursor: number;
}

export const tailLines = (cli: Cli): readonly TailLine[] => cli.lines.map((line) => JSON.parse(line) as TailLine);

export interface DoctorReport {
  readonly clean: boolean;
  readonly journal: { readonly records: number; readonly checkpoints: readonly string[] } | null;
  readonly findings: readonly BrainclawFinding[];
}
