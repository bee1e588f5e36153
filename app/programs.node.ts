import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import type { Clock } from '../core/ports/index.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The absolute path of a program on PATH, or null. Entries that are empty or relative are passed over: they mean the
 * current folder, and what lies there is anybody's.
 * @param beside further absolute folders, for what a login session's short PATH leaves out
 */
export function programOnPath(
  name: string,
  env: Env,
  platform: NodeJS.Platform,
  beside: readonly string[] = [],
): string | null {
  const path = platform === 'win32' ? win32 : posix;
  for (const folder of [...(env.PATH ?? '').split(path.delimiter), ...beside]) {
    if (!path.isAbsolute(folder)) continue;
    const file = path.join(folder, name);
    if (isProgram(file)) return file;
  }
  return null;
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // not there, or not for us: the answer, not a failure
  }
}

export interface Ran {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that was started, and may run for as long as it likes. */
export interface Running {
  /** Resolves when it ended, however. @throws Error when it could not be started */
  readonly ended: Promise<Ran>;
  /** Resolves when it ended with 0, or still runs after `ms`. @throws Error when it failed before */
  well(ms: number): Promise<void>;
  interrupt(): void;
}

/** Bounded: programs that talk on are not listened to any more. */
const KEPT = 4000;

/** Starts a program by its absolute path, with its arguments as they are: no shell has a part in it. */
export function start(file: string, args: readonly string[], env: Env, clock: Clock): Running {
  const child = spawn(file, [...args], { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const ended = new Promise<Ran>((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(0, KEPT);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, KEPT);
    });
    child.on('error', (error) => reject(new Error(`${file} could not be started: ${error.message}`, { cause: error })));
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  ended.catch(() => {}); // whoever asks `well` or `ended` is told
  return {
    ended,
    interrupt: () => void child.kill('SIGINT'),
    well: async (ms) => {
      using stack = new DisposableStack();
      const still = new Promise<null>((resolve) => {
        stack.use(clock.after(ms, () => resolve(null)));
      });
      const ran = await Promise.race([ended, still]);
      if (ran !== null && ran.code !== 0) throw new Error(`${file} ended with ${ran.code}: ${ran.stderr.trim()}`);
    },
  };
}
