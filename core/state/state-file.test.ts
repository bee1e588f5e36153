import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { Fault } from '../model/index.ts';
import { realRandom, silentLog } from '../ports/index.ts';
import { realDisk } from './disk.node.ts';
import { type Json, openStateFile, type StateFile } from './state-file.ts';

const IDENTITY: Json = ['http', '127.0.0.1', 7474, '/api/inbox', [['persona', 'ada']]];
const GOOD = { identity: IDENTITY, cursor: 7, state: 'UP', consecutive_failures: 0 };

let dir: string;
let path: string;
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-state-'));
  path = join(dir, 'hive.ada.json');
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

const file = (identity: Json = IDENTITY): StateFile =>
  openStateFile({ disk: realDisk(silentLog), random: realRandom, path, identity });

const put = (value: unknown): void => fs.writeFileSync(path, JSON.stringify(value));

test('nothing there is absent; what was saved is read back', () => {
  assert.deepEqual(file().read(), { is: 'absent' });
  for (const saved of [
    { cursor: null, state: 'UP', consecutive_failures: 0 },
    { cursor: 42, state: 'DOWN', consecutive_failures: 5 },
  ] as const) {
    file().save(saved);
    assert.deepEqual(file().read(), { is: 'valid', saved });
  }
  assert.deepEqual(Object.keys(JSON.parse(fs.readFileSync(path, 'utf8'))), [
    'identity',
    'cursor',
    'state',
    'consecutive_failures',
  ]);
});

test('a file of the Python monitor is read, its other keys are ignored', () => {
  put({ ...GOOD, emitted_above: [9, 10], pin_forced: true });
  assert.deepEqual(file().read(), { is: 'valid', saved: { cursor: 7, state: 'UP', consecutive_failures: 0 } });
});

test('a file of another inbox is a mismatch, and says both', () => {
  put({ ...GOOD, identity: ['http', 'localhost', 7474, '/api/inbox', [['persona', 'ada']]] });
  const read = file().read();
  assert.equal(read.is, 'mismatch');
  if (read.is === 'mismatch') assert.deepEqual(read.expected, IDENTITY);
});

test('a type that is not exactly right is corrupt and named, never taken as a number', () => {
  const cases: [object, RegExp][] = [
    [{ cursor: true }, /cursor is true/],
    [{ cursor: '7' }, /cursor is "7"/],
    [{ cursor: 2.5 }, /cursor is 2.5/],
    [{ cursor: 2 ** 53 }, /cursor/],
    [{ state: 'up' }, /state is "up"/],
    [{ state: null }, /state is null/],
    [{ consecutive_failures: false }, /consecutive_failures is false/],
    [{ consecutive_failures: -1 }, /consecutive_failures is -1/],
    [{ consecutive_failures: null }, /consecutive_failures is null/],
  ];
  for (const [wrong, why] of cases) {
    put({ ...GOOD, ...wrong });
    const read = file().read();
    assert.equal(read.is, 'corrupt', JSON.stringify(wrong));
    if (read.is === 'corrupt') assert.match(read.why, why);
  }
  for (const key of Object.keys(GOOD)) {
    put({ ...GOOD, [key]: undefined });
    const read = file().read();
    assert.equal(read.is, 'corrupt', key);
    if (read.is === 'corrupt') assert.match(read.why, new RegExp(`${key} is missing`));
  }
});

test('an empty, cut, garbled or foreign file is corrupt, not absent', () => {
  const whole = JSON.stringify(GOOD);
  const texts = ['', 'null', '[]', '7', '\0\0\0\0', '{"cursor": NaN}', `${whole}${whole}`];
  for (let cut = 1; cut < whole.length; cut += 1) texts.push(whole.slice(0, cut));
  for (const text of texts) {
    fs.writeFileSync(path, text);
    assert.equal(file().read().is, 'corrupt', JSON.stringify(text));
  }
  fs.writeFileSync(path, Buffer.from([0x22, 0xff, 0x22]));
  assert.equal(file().read().is, 'corrupt');
});

test('a cursor below 0, as the Python monitor can write it for an empty inbox, is 0', () => {
  put({ ...GOOD, cursor: -1 });
  const read = file().read();
  assert.ok(read.is === 'valid' && read.saved.cursor === 0);
});

test('what is there but can not be read is a fault, not an answer', { timeout: 5000 }, () => {
  const unreadable = (make: () => void, why: RegExp): void => {
    make();
    assert.throws(
      () => file().read(),
      (error) => error instanceof Fault && error.code === 'unreadable' && why.test(error.message),
    );
    fs.rmSync(path, { recursive: true });
  };
  unreadable(() => fs.mkdirSync(path), /directory/);
  unreadable(() => fs.symlinkSync('/etc/hostname', path), /symlink/);
  unreadable(() => execFileSync('mkfifo', [path]), /pipe/);
});

test('opening sweeps what a killed writer of this file left', () => {
  const state = file();
  state.save({ cursor: 1, state: 'UP', consecutive_failures: 0 });
  const prefix = '.kijmon-';
  const other = join(dir, `${prefix}00000000-abcdef.tmp`);
  fs.writeFileSync(other, '');
  // The name a killed save would have left, learned by failing one at its rename.
  fs.rmSync(path);
  fs.mkdirSync(path);
  const disk = realDisk(silentLog);
  const keepsLitter = { ...disk, files: { ...disk.files, unlink: () => {} } };
  const failing = openStateFile({ disk: keepsLitter, random: realRandom, path, identity: IDENTITY });
  assert.throws(() => failing.save({ cursor: 2, state: 'UP', consecutive_failures: 0 }));
  assert.equal(fs.readdirSync(dir).filter((name) => name.startsWith(prefix)).length, 2);
  file();
  assert.deepEqual(
    fs.readdirSync(dir).filter((name) => name.startsWith(prefix)),
    [`${prefix}00000000-abcdef.tmp`],
  );
});
