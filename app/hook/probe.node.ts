import { spawn } from 'node:child_process';
import { parse } from 'node:path';
import { realClock } from '../../core/ports/index.ts';
import { PROBE, PROBE_ANSWER } from './probe.ts';

/** The same time that a harness gives a hook. */
const WITHIN_MS = 10_000;
const MOST_CHARS = 300;

/**
 * Runs the command of a hook once as a harness does, with the shell of the system. A variable makes it answer and do nothing
 * else. Returns null when it answered, else what came instead.
 */
export function tryCommand(command: string, env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  const isWindows = process.platform === 'win32';
  return new Promise((resolve) => {
    const child = spawn(command, {
      shell: isWindows ? true : '/bin/sh',
      cwd: parse(process.execPath).root,
      env: { ...env, [PROBE]: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let stdout = '';
    let stderr = '';
    let isOver = false;
    const end = (answer: string | null): void => {
      if (isOver) return;
      isOver = true;
      timer[Symbol.dispose]();
      resolve(answer);
    };
    const timer = realClock.after(WITHIN_MS, () => {
      child.kill('SIGKILL');
      for (const stream of child.stdio) stream?.destroy();
      end(`it did not end within ${WITHIN_MS / 1000} s`);
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(0, MOST_CHARS);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, MOST_CHARS);
    });
    child.stdin.on('error', () => {}); // the command ended before it read its input
    child.stdin.end('{}\n');
    child.on('error', ({ message }) => end(message));
    child.on('close', (code) => {
      if (stdout.trim() === PROBE_ANSWER) return end(null);
      const output = (stderr.trim() || stdout.trim()).split('\n')[0] ?? '';
      end(`it ended with ${code} and ${output === '' ? 'said nothing' : `said: ${output}`}`);
    });
  });
}
