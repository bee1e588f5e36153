import { type ChildProcess, spawn } from 'node:child_process';
import type { Ended } from '../../core/ports/index.ts';
import { programOnPath } from '../programs.node.ts';

export interface Program {
  /** The program and its arguments; no shell has a part in it. */
  readonly argv: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What it finds on its stdin; whether it reads it is its own affair. */
  readonly input: string;
  readonly killAfterMs: number;
}

const STDERR_KEPT = 2000;

/**
 * Runs a program to its end, in a process group of its own that is killed as a whole when its time is up or `stop` aborts.
 * Its stdout is ours. A name without a slash is looked for on PATH, never in the current folder. Never rejects.
 */
export function runProgram({ argv, env, input, killAfterMs }: Program, stop: AbortSignal): Promise<Ended> {
  const [name = '', ...args] = argv;
  const file = /[\\/]/.test(name) ? name : programOnPath(name, env, process.platform);
  if (file === null) return Promise.resolve({ is: 'not-started', why: `there is no program ${name} on PATH` });
  if (stop.aborted) return Promise.resolve({ is: 'not-started', why: 'stopped before it ran' });
  let child: ChildProcess;
  try {
    child = spawn(file, args, { env, detached: true, stdio: ['pipe', 'inherit', 'pipe'], windowsHide: true });
  } catch (error) {
    return Promise.resolve({ is: 'not-started', why: error instanceof Error ? error.message : String(error) });
  }
  return new Promise((resolve) => {
    let stderr = '';
    let timedOut = false;
    const killGroup = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        child.kill('SIGKILL'); // the group is gone already, or the platform has none
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup();
    }, killAfterMs);
    const cleanUp = (): void => {
      clearTimeout(timer);
      stop.removeEventListener('abort', killGroup);
      child.stdin?.destroy();
      child.stderr?.destroy(); // a grandchild may still hold the pipe open
    };
    stop.addEventListener('abort', killGroup, { once: true });
    child.stdin?.on('error', () => {}); // it does not read: how it ends is what counts
    child.stdin?.end(input);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_KEPT); // the end is where programs say what was wrong
    });
    child.on('error', (error) => {
      cleanUp();
      resolve({ is: 'not-started', why: error.message });
    });
    child.on('exit', (code, signal) => {
      cleanUp();
      if (timedOut) resolve({ is: 'timeout' });
      else if (code !== null) resolve({ is: 'exited', code, stderr });
      else resolve({ is: 'killed', signal: signal ?? 'unknown', stderr });
    });
  });
}
