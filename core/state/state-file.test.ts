import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { Fault } from '../model/index.ts';
import { realRandom, silentLog } from '../ports/index.ts';
import { createRealDisk } from './disk.node.ts';
import { type JsonValue, openStateFile, type SavedPin, type StateFile } from './state-file.ts';

const IDENTITY: JsonValue = ['http', '127.0.0.1', 7474, '/api/inbox', [['persona', 'ada']]];
const GOOD = { identity: IDENTITY, cursor: 7, state: 'UP', consecutive_failures: 0 };

let dir: string;
let path: string;
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-state-'));
  path = join(dir, 'hive.ada.json');
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

const file = (identity: JsonValue = IDENTITY, keys: 'rev-6' | 'all' = 'all'): StateFile =>
  openStateFile({ disk: createRealDisk(silentLog), random: realRandom, path, identity, keys });

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

test('as rev 6 reads it, only four keys of a file of the later monitor count, however odd the others are', () => {
  put({ ...GOOD, emitted_above: [9, 10], pin_forced: 1 });
  const saved = { cursor: 7, state: 'UP', consecutive_failures: 0 };
  assert.deepEqual(file(IDENTITY, 'rev-6').read(), { is: 'valid', saved });
});

test('a position without a pin is written byte for byte as rev 6 writes it', () => {
  file().save({ cursor: 13, state: 'UP', consecutive_failures: 0 });
  assert.equal(
    fs.readFileSync(path, 'utf8'),
    '{"identity":["http","127.0.0.1",7474,"/api/inbox",[["persona","ada"]]],"cursor":13,"state":"UP","consecutive_failures":0}\n',
  );
});

test('what was told of a set is never in a file, whichever keys it may have', () => {
  const saved = { cursor: 13, state: 'UP', consecutive_failures: 0 } as const;
  for (const keys of ['rev-6', 'all'] as const) {
    file(IDENTITY, keys).save({ ...saved, known: { epoch: '1', next: 2, keys: [] } });
    assert.deepEqual(file(IDENTITY, keys).read(), { is: 'valid', saved });
    assert.ok(!fs.readFileSync(path, 'utf8').includes('known'));
  }
});

test('trap 25: everything of a pin is read back after a restart, and what is not in force is not in the file', () => {
  const pins: readonly SavedPin[] = [
    { delivered_above: [[9, 9]] },
    { delivered_above: [[9, 12], [20, 90_000]], gap_alerted: 7 }, // biome-ignore format: a span a pair
    { pin_release_at: 30 },
    { pin_evidence_intact: false },
    { state_corrupt: 'the file is empty' },
    { unread_hidden: true },
    { persona_added: true },
    { baseline_skipped: { armed_at: 7, skipped: 3, id_range: [3, 7], unread_held: 'unknown', reason: 'r' } },
  ];
  for (const pin of [...pins, Object.assign({}, ...pins)]) {
    const saved = { cursor: 7, state: 'DOWN', consecutive_failures: 4, ...pin } as const;
    file().save(saved);
    assert.deepEqual(file().read(), { is: 'valid', saved });
  }
  file().save({ cursor: 7, state: 'UP', consecutive_failures: 0, pin_release_at: 30 });
  const keys = ['identity', 'cursor', 'state', 'consecutive_failures', 'pin_forced', 'pin_release_at'];
  assert.deepEqual(Object.keys(JSON.parse(fs.readFileSync(path, 'utf8'))), keys);
});

test('a file of the later monitor is taken over with its pin', () => {
  const cases: readonly (readonly [its: object, ours: SavedPin])[] = [
    [{ emitted_above: [12, 9, 10] }, { delivered_above: [[9, 10], [12, 12]] }], // biome-ignore format: a span a pair
    [{ gap_alerted: 7, emitted_above: [] }, { gap_alerted: 7 }],
    [{ pin_forced: true, pin_release_at: 30 }, { pin_release_at: 30 }],
    [{ pin_forced: true }, { pin_release_at: 7 }],
    [{ pin_evidence_intact: false }, { pin_evidence_intact: false }],
    [{ state_corrupt: true }, { state_corrupt: 'the position was given up in an earlier run' }],
    [{ unread_hidden: true }, { unread_hidden: true }],
    [{ pin_forced: false, pin_evidence_intact: true, state_corrupt: false, unread_hidden: false }, {}],
    [{ emitted_above: null, gap_alerted: null, pin_forced: null, pin_release_at: null }, {}],
  ];
  for (const [fields, expected] of cases) {
    put({ ...GOOD, ...fields });
    const saved = { cursor: 7, state: 'UP', consecutive_failures: 0, ...expected };
    assert.deepEqual(file().read(), { is: 'valid', saved }, JSON.stringify(fields));
  }
});

test('revision 6 knows no pin: its file holds its four keys, whatever there would be to say', () => {
  const saved = { cursor: 0, state: 'UP', consecutive_failures: 0 } as const;
  file(IDENTITY, 'rev-6').save({ ...saved, persona_added: true, delivered_above: [[9, 9]] });
  assert.deepEqual(Object.keys(JSON.parse(fs.readFileSync(path, 'utf8'))), ['identity', ...Object.keys(saved)]);
});

test('the later monitor finds what was delivered above the cursor as ids, unless they are many', () => {
  const written = (): Record<string, unknown> => JSON.parse(fs.readFileSync(path, 'utf8'));
  const saved = { cursor: 7, state: 'UP', consecutive_failures: 0 } as const;
  file().save({ ...saved, delivered_above: [[9, 11], [20, 20]] }); // biome-ignore format: a span a pair
  assert.deepEqual(written().emitted_above, [9, 10, 11, 20]);
  file().save({ ...saved, delivered_above: [[9, 9 + 1000]] });
  assert.equal('emitted_above' in written(), false);
  assert.deepEqual(file().read(), { is: 'valid', saved: { ...saved, delivered_above: [[9, 1009]] } });
});

test('trap 31: pin_forced 1 is no false and no true: whatever is odd in a pin makes the file corrupt, and is named', () => {
  const odd = [1, 0, 'true', [], {}, 2.5];
  const baseline = { armed_at: 7, skipped: 3, id_range: [3, 7], unread_held: 2, reason: 'r' };
  const oddBaselines = [
    { armed_at: '7' },
    { skipped: true },
    { id_range: [7, 3] },
    { unread_held: null },
    { unread_held: '2' },
    { reason: 1 },
  ].map((part) => ({ ...baseline, ...part }));
  const cases: readonly (readonly [key: string, values: readonly unknown[]])[] = [
    ['pin_forced', odd],
    ['pin_evidence_intact', odd],
    ['state_corrupt', odd],
    ['unread_hidden', odd],
    ['persona_added', odd],
    ['baseline_skipped', [...odd, 'x', ...oddBaselines]],
    ['gap_alerted', [true, false, '7', 2.5, 2 ** 53, [], {}]],
    ['pin_release_at', [true, false, '7', 2.5, 2 ** 53, [], {}]],
    ['emitted_above', [true, 9, '9', {}, [true], ['9'], [2.5], [9, null], [[9]]]],
    ['delivered_above', [true, 9, {}, [9], [[9]], [[9, true]], [[9, 8]], [[9, 10, 11]], [['9', '10']]]],
    ['state_corrupt_why', [1, true, []]],
  ];
  for (const [key, values] of cases)
    for (const value of values) {
      put({ ...GOOD, [key]: value });
      const read = file().read();
      assert.ok(read.is === 'corrupt', `${key} ${JSON.stringify(value)}`);
      assert.match(read.why, new RegExp(`^${key} is `));
    }
});

test('trap 34: a persona that is respelled in another case has its position; any other difference is another inbox', () => {
  const createIdentity = (change: Partial<Record<0 | 1 | 2 | 3 | 4, JsonValue>>): JsonValue =>
    (IDENTITY as readonly JsonValue[]).map((item, n) => change[n as 0] ?? item);
  put({ ...GOOD, identity: createIdentity({ 4: [['persona', 'Ada']] }) });
  const read = file().read();
  assert.ok(read.is === 'respelled', read.is);
  assert.deepEqual([read.saved.cursor, read.expected], [7, IDENTITY]);
  const others: readonly JsonValue[] = [
    createIdentity({ 0: 'HTTP' }),
    createIdentity({ 1: 'LOCALHOST' }),
    createIdentity({ 2: 80 }),
    createIdentity({ 3: '/API/inbox' }),
    createIdentity({ 4: [['Persona', 'ada']] }),
    createIdentity({ 4: [['persona', 'adah']] }),
    createIdentity({ 4: [['persona', 'ada'], ['x', 'y']] }), // biome-ignore format: one query
    createIdentity({ 4: 'persona=ada' }),
    ['x'],
  ];
  for (const identity of others) {
    put({ ...GOOD, identity });
    assert.equal(file().read().is, 'mismatch', JSON.stringify(identity));
  }
  put({ ...GOOD, identity: createIdentity({ 4: [['persona', 'Ada']] }), pin_forced: 1 });
  assert.equal(file().read().is, 'corrupt');
});

test('a file of another inbox is a mismatch, and says both', () => {
  put({ ...GOOD, identity: ['http', 'localhost', 7474, '/api/inbox', [['persona', 'ada']]] });
  const read = file().read();
  assert.equal(read.is, 'mismatch');
  if (read.is === 'mismatch') assert.deepEqual(read.expected, IDENTITY);
});

test('D15: a type that is not exactly right is corrupt and named, never taken as a number', () => {
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

test('trap 30: an empty, cut, garbled or foreign file is corrupt, not absent', () => {
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

test('D23: a cursor below 0, as the Python monitor can write it for an empty inbox, is 0', () => {
  put({ ...GOOD, cursor: -1 });
  const read = file().read();
  assert.ok(read.is === 'valid' && read.saved.cursor === 0);
});

test('trap 35: what is there but cannot be read, a symlink too, is a fault and not an answer', {
  timeout: 5000,
}, () => {
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

test('D25: opening sweeps what a killed writer of this file left', () => {
  const state = file();
  state.save({ cursor: 1, state: 'UP', consecutive_failures: 0 });
  const prefix = '.kijmon-';
  const other = join(dir, `${prefix}00000000-abcdef.tmp`);
  fs.writeFileSync(other, '');
  // The name a killed save would have left, learned by failing one at its rename.
  fs.rmSync(path);
  fs.mkdirSync(path);
  const disk = createRealDisk(silentLog);
  const keepsLitter = { ...disk, files: { ...disk.files, unlink: () => {} } };
  const failing = openStateFile({ disk: keepsLitter, random: realRandom, path, identity: IDENTITY, keys: 'all' });
  assert.throws(() => failing.save({ cursor: 2, state: 'UP', consecutive_failures: 0 }));
  assert.equal(fs.readdirSync(dir).filter((name) => name.startsWith(prefix)).length, 2);
  file();
  assert.deepEqual(
    fs.readdirSync(dir).filter((name) => name.startsWith(prefix)),
    [`${prefix}00000000-abcdef.tmp`],
  );
});

for (const keys of ['rev-6', 'all'] as const) {
  test(`F5 whose ids the cursor is of is kept, with the keys of ${keys}`, () => {
    const open = () =>
      openStateFile({ disk: createRealDisk(silentLog), random: realRandom, path, identity: IDENTITY, keys });
    const log = { name: '00ff00ff00ff00ff-3', read_to: 7 };
    open().save({ cursor: 9, state: 'UP', consecutive_failures: 0, log });
    assert.deepEqual(open().read(), { is: 'valid', saved: { cursor: 9, state: 'UP', consecutive_failures: 0, log } });
  });
}
