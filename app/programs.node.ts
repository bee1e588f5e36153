import { spawn } from 'node:child_process';
import type { Clock } from '../core/ports/index.ts';

export { findProgram as programOnPath, isProgram } from '../core/ports/index.ts';

export type ProgramEnv = Readonly<Record<string, string | undefined>>;

export interface ProgramResult {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that was started, and may run for as long as it likes. */
export interface RunningProgram {
  /** Resolves when it ended, however. @throws Error when it could not be started */
  readonly ended: Promise<ProgramResult>;
  /** Resolves when it ended with 0, or still runs after `ms`. @throws Error when it failed before */
  waitUntilStable(ms: number): Promise<void>;
  interrupt(): void;
}

/** Bounded: programs that talk on are not listened to any more. */
const MAX_OUTPUT_CHARS = 4000;

/** Starts a program by its absolute path, with its arguments as they are: no shell has a part in it. */
export function startProgram(file: string, args: readonly string[], env: ProgramEnv, clock: Clock): RunningProgram {
  const child = spawn(file, [...args], { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const ended = new Promise<ProgramResult>((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(0, MAX_OUTPUT_CHARS);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, MAX_OUTPUT_CHARS);
    });
    child.on('error', (error) => reject(new Error(`${file} could not be started: ${error.message}`, { cause: error })));
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  ended.catch(() => {}); // whoever asks `well` or `ended` is told
  return {
    ended,
    interrupt: () => void child.kill('SIGINT'),
    waitUntilStable: async (ms) => {
      using stack = new DisposableStack();
      const still = new Promise<null>((resolve) => {
        stack.use(clock.after(ms, () => resolve(null)));
      });
      const result = await Promise.race([ended, still]);
      if (result !== null && result.code !== 0)
        throw new Error(`${file} ended with ${result.code}: ${result.stderr.trim()}`);
    },
  };
}
