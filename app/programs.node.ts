import { spawn } from 'node:child_process';
import type { Clock } from '../core/ports/index.ts';

export { findProgram as programOnPath, isProgram } from '../core/ports/index.ts';

export type ProgramEnv = Readonly<Record<string, string | undefined>>;

export interface ProgramResult {
  /** Null when a signal ended the program. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that was started, and may run for any time. */
export interface RunningProgram {
  /** Resolves when the program ended for any reason. @throws Error when it could not be started */
  readonly ended: Promise<ProgramResult>;
  /** Resolves when the program ended with 0, or still runs after `ms`. @throws Error when it failed before */
  waitUntilStable(ms: number): Promise<void>;
  interrupt(): void;
}

/** The limit for saved output. Output beyond it is dropped. */
const MAX_OUTPUT_CHARS = 4000;

/** Starts a program by its absolute path. The arguments are passed as they are, without a shell. */
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
  ended.catch(() => {}); // callers of `waitUntilStable` or `ended` get the error
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
