import { spawn } from 'node:child_process';
import type { Spawn } from './spawn.ts';

const STDERR_KEPT = 2000;

export const realSpawn: Spawn = {
  run: (command, signal) =>
    new Promise((resolve) => {
      const child = spawn(command.file, [...command.args], {
        env: command.env,
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe'],
        windowsHide: true,
      });
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
      }, command.timeoutMs);
      const cleanUp = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', killGroup);
        child.stderr?.destroy(); // a grandchild may still hold the pipe open
      };
      signal.addEventListener('abort', killGroup, { once: true });
      if (signal.aborted) killGroup();
      child.stderr?.on('data', (chunk: Buffer) => {
        if (stderr.length < STDERR_KEPT) stderr += chunk.toString('utf8').slice(0, STDERR_KEPT - stderr.length);
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
    }),
};
