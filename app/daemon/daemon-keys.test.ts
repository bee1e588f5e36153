import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Log, realFiles, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, type Disk } from '../../core/state/index.ts';
import { installPersonas } from '../../test/kit/daemon-personas.ts';
import { createCallers } from '../status/session.ts';
import { openDaemonKeys } from './upstream-service.ts';

const home = mkdtempSync(join(tmpdir(), 'hivebar-keys-'));
after(() => rmSync(home, { recursive: true, force: true }));
let made = 0;

function rig() {
  const dir = join(home, `${++made}`);
  const directory = join(dir, 'daemons');
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (line) => warned.push(line) };
  const read: string[] = [];
  const real = createRealDisk(silentLog);
  const files = {
    ...realFiles,
    open(path: string, flags: number, mode: number) {
      read.push(path);
      return realFiles.open(path, flags, mode);
    },
  };
  const disk: Disk = { ...real, files };
  const keys = openDaemonKeys(disk, directory, log);
  const callers = createCallers('own', keys);
  const is = (token: string): string => {
    const caller = callers.identify(`Bearer ${token}`);
    return typeof caller === 'string'
      ? caller
      : caller.is === 'owner'
        ? 'owner'
        : `${caller.key.scope} ${caller.key.address}`;
  };
  return { dir, at: (...names: string[]) => join(directory, ...names), warned, read, keys, callers, is };
}

test('given nothing installed, only the own token is known', () => {
  const { is, keys, callers } = rig();
  assert.deepEqual([keys.all(), is('own'), is('a'.repeat(64)), is('')], [[], 'owner', 'wrong', 'wrong']);
  assert.equal(callers.identify(undefined), 'nobody');
  assert.equal(callers.identify('Basic own'), 'wrong');
});

test('given two daemons, each token is for its scope and its persona', () => {
  const { dir, is } = rig();
  const [ada, bo] = installPersonas(dir);
  assert.deepEqual(
    [ada?.observe, ada?.act, bo?.observe, bo?.act].map((token = '') => is(token)),
    ['observe ada', 'act ada', 'observe bo', 'act bo'],
  );
});

test('the files are read again when one is another, and only then', () => {
  const { dir, is, read, at } = rig();
  const [ada] = installPersonas(dir);
  assert.equal(is(ada?.observe ?? ''), 'observe ada');
  read.splice(0);
  assert.equal(is(ada?.observe ?? ''), 'observe ada');
  assert.deepEqual(read, []);
  const [later] = installPersonas(dir);
  assert.equal(is(ada?.observe ?? ''), 'wrong');
  assert.equal(is(later?.observe ?? ''), 'observe ada');
  rmSync(at('lab-ada'), { recursive: true });
  assert.equal(is(later?.act ?? ''), 'wrong');
});

test('a token that is none, or stands elsewhere, is not taken; its neighbours are, and it is said once', () => {
  const { dir, is, warned, at } = rig();
  const [ada, bo] = installPersonas(dir);
  writeFileSync(at('lab-ada', 'observe.token'), 'not in hex\n', { mode: 0o600 });
  rmSync(at('lab-bo', 'act.token'));
  writeFileSync(join(dir, 'elsewhere'), `${bo?.act}\n`, { mode: 0o600 });
  symlinkSync(join(dir, 'elsewhere'), at('lab-bo', 'act.token'));
  for (const _ of [1, 2])
    assert.deepEqual(
      [ada?.observe, ada?.act, bo?.observe, bo?.act].map((token = '') => is(token)),
      ['wrong', 'act ada', 'observe bo', 'wrong'],
    );
  assert.equal(warned.length, 2);
});

test('what became of a token: good, changed, or gone with its daemon', () => {
  const { dir, callers, keys, at } = rig();
  installPersonas(dir);
  const [key] = keys.all();
  if (key === undefined) throw new Error('a key is needed');
  assert.equal(callers.checkKey(key), 'good');
  installPersonas(dir);
  assert.equal(callers.checkKey(key), 'changed');
  rmSync(at('lab-ada', 'daemon.json'));
  assert.equal(callers.checkKey(key), 'gone');
});
