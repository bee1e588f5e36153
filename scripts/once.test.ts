import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const once = pathToFileURL(join(import.meta.dirname, 'once.mjs')).href;
const log = (line: string): string => `appendFileSync('log', '${line} ' + process.pid + '\\n')`;

/** Takes the lock, notes when it has it and when it gives it back, and how often it had to wait. */
const WORKER = `
  import { appendFileSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { once } from '${once}';
  await once('cache/lock', async () => { ${log('in')}; await sleep(50); ${log('out')}; }, () => ${log('waits')});
`;

describe('set-up by several processes at once', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hivebar-once-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const args = ['--input-type=module', '-e', WORKER];
  const lines = (): readonly string[] => readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');

  /** Fails when two were in at the same time. */
  function assertOneAtATime(count: number): void {
    const turns = lines().filter((line) => !line.startsWith('waits'));
    assert.equal(turns.length, 2 * count);
    for (let i = 0; i < turns.length; i += 2) assert.equal(turns[i + 1], turns[i]?.replace('in', 'out'));
  }

  test('each has its turn alone, and nothing is left behind', async () => {
    const slow = ['--input-type=module', '-e', WORKER.replace('sleep(50)', 'sleep(300)')]; // so that somebody has to wait
    await Promise.all(Array.from({ length: 5 }, () => promisify(execFile)(process.execPath, slow, { cwd: folder })));
    assertOneAtATime(5);
    assert.ok(lines().some((line) => line.startsWith('waits')));
    assert.deepEqual(readdirSync(join(folder, 'cache')), []);
  });

  test('the lock of a process that died is taken over, by one of those who wait', async () => {
    const dead = spawnSync(process.execPath, ['-e', '0']).pid;
    mkdirSync(join(folder, 'cache', 'lock'), { recursive: true });
    writeFileSync(join(folder, 'cache', 'lock', 'owner'), `${dead} left-behind`);
    await Promise.all(Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, args, { cwd: folder })));
    assertOneAtATime(4);
  });

  test('who waits ends with words when everything was removed under its hands', async () => {
    mkdirSync(join(folder, 'cache', 'lock'), { recursive: true });
    writeFileSync(join(folder, 'cache', 'lock', 'owner'), `${process.pid} alive`);
    const waiting = promisify(execFile)(process.execPath, args, { cwd: folder, timeout: 60_000 });
    const ended = assert.rejects(waiting, /is gone: somebody has removed it while it waited for cache\/lock/);
    while (!existsSync(join(folder, 'log'))) await sleep(10);
    rmSync(join(folder, 'cache'), { recursive: true });
    await ended;
  });

  test('a lock that many take and give without a pause fails nobody', async () => {
    const busy = WORKER.replace('await once(', 'for (let i = 0; i < 100; i += 1) await once(').replace(
      'await sleep(50);',
      '',
    );
    const each = ['--input-type=module', '-e', busy];
    await Promise.all(Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, each, { cwd: folder })));
    assertOneAtATime(400);
  });

  test('work that fails gives the lock back', () => {
    const failing = WORKER.replace('await sleep(50)', `throw new Error('no')`);
    assert.notEqual(spawnSync(process.execPath, ['--input-type=module', '-e', failing], { cwd: folder }).status, 0);
    assert.equal(spawnSync(process.execPath, args, { cwd: folder }).status, 0);
  });
});
