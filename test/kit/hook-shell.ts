import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatScript, type ScriptFacts } from '../../app/hook/script.ts';
import { type StampFacts, stampPending } from '../../app/hook/stamps.node.ts';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { openDatabase, toStem } from '../../core/state/index.ts';
import { type Scratch, scratch } from './scratch.ts';

/** What a machine of the real world runs hooks with; those that are not here are left out. */
export const SHELLS: readonly (readonly string[])[] = [
  ['/usr/bin/dash'],
  ['/bin/bash', '--posix'],
  ['/bin/bash'],
  ['/bin/busybox', 'ash'],
  ['/bin/ksh'],
  ['/bin/zsh', '--emulate', 'sh'],
].filter(([file = '']) => isHere(file));

function isHere(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // not on this machine
  }
}

export interface HookRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A state directory with the installed script, and in place of the program one that says `ASKED` and what it was given. */
export interface HookShell extends Disposable {
  readonly state: Scratch;
  readonly script: string;
  stamp(persona: string, heardFacts?: Partial<StampFacts>): ReturnType<typeof stampPending>;
  run(args: readonly string[], options?: RunOptions): HookRun;
  activity(stem: string): string;
}

export interface RunOptions {
  readonly shell?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
}

const PROGRAM = '#!/bin/sh\necho "ASKED $* persona=$HIVEBAR_PERSONA home=$HIVEBAR_HOME"\ncat\nexit 2\n';

export function hookShell(facts: Partial<ScriptFacts> = {}): HookShell {
  const state = scratch();
  for (const dir of ['run', 'run/pending', 'run/activity', 'hook', 'gates', 'inject-queue', 'cwd']) {
    mkdirSync(state.at(dir), { mode: 0o700 });
  }
  const node = state.write('node', PROGRAM);
  chmodSync(node, 0o700);
  const entry = state.write("entry o'f $it.cjs", '');
  // `@own`: a Node of the package, in the state directory.
  const otherNodes = (facts.otherNodes ?? []).map((path) => (path === '@own' ? state.at("own n'ode") : path));
  const text = formatScript({ node, entry, state: state.dir, leads: {}, ...facts, otherNodes });
  const script = state.write('hook/hivebar-hook', text);
  chmodSync(script, 0o700);
  const db = openDatabase(state.at('hivebar.sqlite'));
  const run = state.at('run');
  return {
    state,
    script,
    stamp: (persona, heardFacts = {}) =>
      stampPending({ run, clock: realClock, random: realRandom }, db, persona, () => ({
        quiet: ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'PreCompact'],
        gates: state.at('gates', toStem(persona)),
        folders: [],
        ...heardFacts,
      })),
    run(args, { shell = [], env = {}, input = '', cwd = state.at('cwd') } = {}) {
      const [file = script, ...rest] = [...shell, script, ...args];
      // No PATH: what is not a builtin is not found.
      const ran: SpawnSyncReturns<string> = spawnSync(file, rest, { encoding: 'utf8', env, input, cwd });
      return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
    },
    activity: (stem) => readOr(join(state.at('run', 'activity'), stem)),
    [Symbol.dispose]() {
      db[Symbol.dispose]();
      state[Symbol.dispose]();
    },
  };
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // not there
  }
}
