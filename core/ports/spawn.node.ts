import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { startTimer } from './clock.node.ts';
import {
  type ChildCommand,
  completeProgramPath,
  findProgramWith,
  killTreeWith,
  type ProcessEnd,
  type Spawn,
  toInvocation,
  type Variables,
} from './ports.ts';

const MAX_STDERR_CHARS = 2000;

export const realSpawn: Spawn = {
  async run(command, signal) {
    if (signal.aborted) return { is: 'not-started', why: 'stopped before it ran' };
    try {
      return await waitForEnd(startChild(command), command, signal);
    } catch (error) {
      // Node refuses an invalid argument or variable before there is a process.
      return { is: 'not-started', why: error instanceof Error ? error.message : String(error) };
    }
  },
};

function startChild(command: ChildCommand): ChildProcess {
  const { env, input, cwd, stdout } = command;
  const program = resolveProgram(command.file, env, process.platform);
  if (program === null) throw new Error(`there is no program ${command.file} on PATH`);
  const { file, args, windowsVerbatimArguments } = command.windowsVerbatimArguments
    ? { file: program, args: command.args, windowsVerbatimArguments: true }
    : toInvocation(program, command.args, env, process.platform);
  return spawn(file, [...args], {
    windowsVerbatimArguments,
    env,
    ...(cwd === undefined ? {} : { cwd }),
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', stdout ?? 'ignore', 'pipe'],
    windowsHide: true,
  });
}

function waitForEnd(child: ChildProcess, { input, timeoutMs }: ChildCommand, signal: AbortSignal): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    let stderr = '';
    let timedOut = false;
    const killAll = (): void => killTree(child, 'SIGKILL');
    const timer = startTimer(timeoutMs, () => {
      timedOut = true;
      killAll();
    });
    const cleanUp = (): void => {
      timer[Symbol.dispose]();
      signal.removeEventListener('abort', killAll);
      child.stdin?.destroy();
      child.stderr?.destroy(); // a grandchild may still hold the pipe open
    };
    signal.addEventListener('abort', killAll, { once: true });
    child.stdin?.on('error', () => {}); // the child may not read its stdin; only how it ends counts
    child.stdin?.end(input);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-MAX_STDERR_CHARS); // keeps the end, where programs report what was wrong
    });
    child.on('error', (error) => {
      cleanUp();
      resolve({ is: 'not-started', why: error.message });
    });
    child.on('exit', (code, sig) => {
      cleanUp();
      if (timedOut) resolve({ is: 'timeout' });
      else if (code !== null) resolve({ is: 'exited', code, stderr });
      else resolve({ is: 'killed', signal: sig ?? 'unknown', stderr });
    });
  });
}

/** Ends a child of this process and everything that it started: see `killTreeWith`. */
export function killTree(child: ChildProcess, signal: NodeJS.Signals): void {
  const { platform, env } = process;
  killTreeWith({ platform, env, signal: process.kill, run }, child, signal);
}

function run(file: string, args: readonly string[], ended: (isDone: boolean) => void): void {
  const child = spawn(file, [...args], { stdio: 'ignore', windowsHide: true });
  child.on('error', () => ended(false));
  child.on('exit', (code) => ended(code === 0));
}

/** Returns the absolute path of the program `name` on this machine, or null: see `findProgramWith`. */
export function findProgram(
  name: string,
  env: Variables,
  platform: NodeJS.Platform,
  beside: readonly string[] = [],
): string | null {
  return findProgramWith(isProgram, name, env, platform, beside);
}

/** Resolves a program that somebody named: a path stays, a name is looked up on PATH. Null: the name is not on PATH. */
export function resolveProgram(program: string, env: Variables, platform: NodeJS.Platform): string | null {
  if (!/[\\/]/.test(program)) return findProgram(program, env, platform);
  return completeProgramPath(isProgram, program, env, platform);
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    // The Microsoft Store puts links on PATH that only the system can follow.
    return process.platform === 'win32' ? !lstatSync(file).isDirectory() : statSync(file).isFile();
  } catch {
    return false; // missing, or not accessible: that is an answer, not a failure
  }
}
