import { spawn } from 'node:child_process';
import { killTree, startTimer, type Variables } from '../ports/index.ts';

/** How a program ended that only looks. `stdout` is whole unless it is over the limit, which counts as not started. */
export type ProgramEnd =
  | { readonly is: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly is: 'timeout' }
  | { readonly is: 'failed'; readonly why: string };

/** A program, by its absolute path, with its arguments as they are. No shell is involved. */
export interface ProgramCall {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Variables;
  readonly timeoutMs: number;
  /** The content of its stdin, which it need not read. Absent: nothing. */
  readonly input?: string;
}

/** Runs a program to its end. An abort or the time limit ends everything that it started. Never rejects. */
export type RunProgram = (call: ProgramCall, signal: AbortSignal) => Promise<ProgramEnd>;

const MOST_CHARS = 16 * 1024 * 1024;
const MOST_STDERR_CHARS = 2000;

export const runProgram: RunProgram = (call, signal) => {
  if (signal.aborted) return Promise.resolve({ is: 'failed', why: 'stopped before it ran' });
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>();
  const options = {
    cwd: call.cwd,
    env: { ...call.env },
    detached: process.platform !== 'win32',
    windowsHide: true,
  };
  const child =
    call.input === undefined
      ? spawn(call.file, [...call.args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
      : spawn(call.file, [...call.args], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  const end = (result: ProgramEnd): void => {
    late[Symbol.dispose]();
    signal.removeEventListener('abort', abort);
    resolve(result);
  };
  child.stdin?.on('error', () => {}).end(call.input); // it may end without reading
  const stop = (result: ProgramEnd): void => {
    killTree(child, 'SIGKILL');
    child.stdout.destroy(); // something that it started may still hold the pipes
    child.stderr.destroy();
    end(result);
  };
  const abort = (): void => stop({ is: 'failed', why: 'stopped' });
  const late = startTimer(call.timeoutMs, () => stop({ is: 'timeout' }));
  signal.addEventListener('abort', abort, { once: true });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (stdout.length > MOST_CHARS) stop({ is: 'failed', why: `it wrote more than ${MOST_CHARS} characters` });
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MOST_STDERR_CHARS);
  });
  child.on('error', (error) => end({ is: 'failed', why: error.message }));
  child.on('close', (code, ended) => {
    if (code === null) end({ is: 'failed', why: `it was ended by ${ended ?? 'a signal'}` });
    else end({ is: 'exited', code, stdout, stderr });
  });
  return promise;
};
