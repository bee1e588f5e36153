import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Child, type KillCalls, killTreeWith } from './ports.ts';

/** What was done, in order. */
function killed(platform: NodeJS.Platform, child: Partial<Child>, how: { fails?: boolean } = {}): readonly string[] {
  const done: string[] = [];
  const calls: KillCalls = {
    platform,
    env: { systemroot: 'D:\\Windows' },
    signal: (pid, signal) => {
      done.push(`${signal} to ${pid}`);
      if (how.fails) throw new Error('ESRCH');
    },
    run: (file, args, ended) => {
      done.push([file, ...args].join(' '));
      ended(!how.fails);
    },
  };
  const kill = (signal: NodeJS.Signals): boolean => done.push(`${signal} to the child`) > 0;
  killTreeWith(calls, { pid: 42, exitCode: null, signalCode: null, kill, ...child }, 'SIGKILL');
  return done;
}

const TASKKILL = 'D:\\Windows\\System32\\taskkill.exe /T /F /PID 42';

test('G4 on Windows everything that a program started ends with it: the tree below the pid that we started', () => {
  assert.deepEqual(killed('win32', {}), [TASKKILL]);
  assert.deepEqual(killed('win32', {}, { fails: true }), [TASKKILL, 'SIGKILL to the child']);
});

test('G4 on Windows a child that has ended is left alone, because its pid may be of another process by then', () => {
  assert.deepEqual(killed('win32', { exitCode: 0 }), []);
  assert.deepEqual(killed('win32', { signalCode: 'SIGKILL' }), []);
});

test('G4 elsewhere it is the process group, as before, also when the child has ended and left others behind', () => {
  for (const child of [{}, { exitCode: 0 }]) assert.deepEqual(killed('linux', child), ['SIGKILL to -42']);
  assert.deepEqual(killed('darwin', {}, { fails: true }), ['SIGKILL to -42', 'SIGKILL to the child']);
  assert.deepEqual(killed('linux', { pid: undefined }), []);
});
