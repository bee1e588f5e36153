import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { win32 } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { type Clock, type Invocation, toInvocation } from '../../core/ports/index.ts';
import { isProgram, type ProgramEnv, programOnPath } from '../programs.node.ts';
import type { OpenUrl } from './page-opener.ts';

interface UrlOpenerNeeds {
  readonly platform: NodeJS.Platform;
  readonly env: ProgramEnv;
  readonly clock: Clock;
}

/** xdg-open may run for as long as the browser that it started. */
const FAILS_WITHIN_MS = 3000;

/**
 * Passes a URL to the desktop's own opener, as one argument of a program with an absolute path. No shell is used, and nothing
 * from the current folder. The program is detached and may outlive us.
 */
export function createUrlOpener({ platform, env, clock }: UrlOpenerNeeds): OpenUrl {
  return async (url, activationToken) => {
    const [file, ...args] = findOpenCommand(url, platform, env);
    const childEnv = { ...env, ...toActivationEnv(activationToken) };
    await launch({ file, args, cwd: null, env: childEnv, failsWithinMs: FAILS_WITHIN_MS }, clock);
  };
}

/** Returns the program, by its absolute path, and its arguments. @throws Fault `exec-failed` when there is none */
export function findOpenCommand(
  url: string,
  platform: NodeJS.Platform,
  env: ProgramEnv,
): readonly [string, ...string[]] {
  switch (platform) {
    case 'darwin':
      return ['/usr/bin/open', url];
    case 'win32': {
      // `start` is a command of the shell; this is what it does with a URL.
      const dll = win32.join(env.SystemRoot ?? 'C:\\Windows', 'System32', 'rundll32.exe');
      return [dll, 'url.dll,FileProtocolHandler', url];
    }
    default: {
      const file = programOnPath('xdg-open', env, platform);
      if (file === null) throw createOpenFault('xdg-open is not on PATH (Debian: apt-get install xdg-utils)');
      return [file, url];
    }
  }
}

interface Launch {
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
