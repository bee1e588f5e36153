import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { Fault } from '../../core/model/index.ts';
import { type Clock, type Invocation, toInvocation } from '../../core/ports/index.ts';
import { isProgram, type ProgramEnv } from '../programs.node.ts';

export interface Launch {
  /** An absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** An absolute path; null for our current directory. */
  readonly cwd: string | null;
  /** The whole environment of the child process. */
  readonly env: ProgramEnv;
  /** A program that fails does so within this time. One that still runs then has opened its window. */
  readonly failsWithinMs: number;
}

/**
 * Starts a program that may outlive us. It gets its arguments unchanged, no shell, none of our open files, and a process group of
 * its own. Resolves when it ended with success, or still runs after `failsWithinMs`.
 * @throws Fault `exec-failed`
 */
export async function launch({ file, args, cwd, env, failsWithinMs }: Launch, clock: Clock): Promise<void> {
  if (!isProgram(file)) throw createOpenFault(`${file} is not a program that can be run`);
  if (cwd !== null && !isFolder(cwd)) throw createOpenFault(`the folder ${cwd} is not there`);
  const ended = new Promise<number | string>((resolve, reject) => {
    const start = buildInvocation(file, args, env);
    const child = spawn(start.file, [...start.args], {
      windowsVerbatimArguments: start.windowsVerbatimArguments,
      env: { ...env },
      stdio: 'ignore',
      detached: true,
      windowsHide: true,
      ...(cwd === null ? {} : { cwd }),
    });
    child.unref();
    child.on('error', (error) => reject(createOpenFault(`${file} could not be started: ${error.message}`, error)));
    child.on('exit', (code, signal) => resolve(code ?? signal ?? 'a signal'));
  });
  using stack = new DisposableStack();
  const stillRuns = new Promise<0>((resolve) => {
    stack.use(clock.after(failsWithinMs, () => resolve(0)));
  });
  const code = await Promise.race([ended, stillRuns]);
  if (code !== 0) throw createOpenFault(`${file} ended with ${code}`);
}

/** @throws Fault `exec-failed` for an argument that cannot be passed to a batch file of Windows */
function buildInvocation(file: string, args: readonly string[], env: ProgramEnv): Invocation {
  try {
    return toInvocation(file, args, env, process.platform);
  } catch (error) {
    throw createOpenFault(error instanceof Error ? error.message : String(error), error);
  }
}

/** Returns the desktop's permission to raise a window, under the variable names that programs read. */
export function toActivationEnv(token: string | null): ProgramEnv {
  return token === null ? {} : { XDG_ACTIVATION_TOKEN: token, DESKTOP_STARTUP_ID: token };
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // it does not exist or cannot be run: that is the answer, not a failure
  }
}

export function createOpenFault(message: string, cause?: unknown): Fault {
  return new Fault('exec-failed', message, { is: 'machine', key: 'open' }, { cause });
}
