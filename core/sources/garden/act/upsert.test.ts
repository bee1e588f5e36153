import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  EXPECTED,
  EXPECTED_V3,
  findCitizenId,
  type Garden,
  garden,
  handAt,
} from '../../../../test/kit/garden-store.ts';
import { KEYS_V3, listRecords, readReceipt, readRecord, toCitizenIdentity } from '../read/index.ts';
import { type UpsertInput, upsert } from './enqueue.ts';
import { formatLocalStamp } from './local-system.node.ts';

const NEW: UpsertInput = { backend: 'codex', nativeSessionId: 'fresh', cwd: '/c' };
const record = (store: Garden, id: string): ReturnType<typeof toCitizenIdentity> =>
  toCitizenIdentity(readRecord(handAt().disk, store.places.sessions, id));
const readSession = (store: Garden, label: string): { backend: string; nativeSessionId: string } => {
  const { backend, nativeSessionId } = record(store, findCitizenId(label));
  return { backend, nativeSessionId };
};

describe('an upsert', () => {
  test('of a session that is known keeps who it is, follows its folder, and takes three values', () => {
    using store = garden('store');
    const id = findCitizenId('cc-mixed');
    const before = record(store, id);
    const session = { ...readSession(store, 'cc-mixed'), cwd: '/elsewhere' };
    const put = (more: Partial<UpsertInput>): unknown =>
      upsert(handAt({ now: '2027-01-01T00:00:00.000Z' }), store.places, { ...session, ...more }).record;
    const saved = { ...before, cwd: '/elsewhere', recordUpdatedAt: '2027-01-01T00:00:00.000Z' };
    assert.deepEqual(put({}), saved);
    assert.deepEqual(put({ model: undefined, isEntwurf: undefined }), saved);
    assert.deepEqual(put({ model: null }), { ...saved, model: null });
    const set = { model: 'm', transcriptPath: '/t', parentGardenId: findCitizenId('pi-parent'), isEntwurf: true };
    assert.deepEqual(put(set), { ...saved, ...set });
    assert.deepEqual(put({}), { ...saved, ...set });
    assert.deepEqual(put({ parentGardenId: null, transcriptPath: null, isEntwurf: false }), {
      ...saved,
      model: 'm',
      transcriptPath: null,
    });
    assert.deepEqual(record(store, id), { ...saved, model: 'm', transcriptPath: null });
  });

  test('twice of a new session makes one citizen', () => {
    using store = garden();
    const first = upsert(handAt(), store.places, NEW);
    const second = upsert(handAt(), store.places, NEW);
    assert.deepEqual([first.action, second.action], ['create', 'attach']);
    assert.deepEqual(readdirSync(store.places.sessions), [`${first.record.gardenId}.meta.json`]);
    assert.match(first.record.gardenId, /^20260614T150000-[0-9a-f]{6}$/);
  });

  test('never takes the place of a citizen who drew the same id', () => {
    using store = garden('store');
    const accepted = findCitizenId('cc-never-armed');
    const before = readFileSync(join(store.places.sessions, `${accepted}.meta.json`), 'utf8');
    const hand = handAt({ now: '2026-06-14T01:00:37.000Z', hex: ['626df8', '626df8', 'abcdef'] });
    assert.equal(upsert(hand, store.places, NEW).record.gardenId, '20260614T100037-abcdef');
    assert.equal(readFileSync(join(store.places.sessions, `${accepted}.meta.json`), 'utf8'), before);
    const unlucky = handAt({ now: '2026-06-14T01:00:37.000Z', hex: Array(9).fill('626df8') });
    const other = { ...NEW, nativeSessionId: 'another' };
    assert.throws(() => upsert(unlucky, store.places, other), {
      code: 'garden',
      message: /no free garden id .* 5 tries/,
    });
  });

  test('names the neighbours it could not ask, and goes on', () => {
    using store = garden('store');
    const { action, skipped } = upsert(handAt(), store.places, NEW);
    assert.equal(action, 'create');
    assert.equal(skipped.length, 5);
  });

  const errors: readonly (readonly [keyof typeof EXPECTED.upsertErrors, UpsertInput])[] = [
    ['duplicate', { ...NEW, nativeSessionId: 'dup-native' }],
    ['backendDrift', { ...NEW, nativeSessionId: '0f3c9d1e-77aa-4b10-9c55-000000000003' }],
    ['badBackend', { ...NEW, backend: 'gemini' }],
  ];
  for (const [label, input] of errors) {
    test(`${label}: what the reference throws, and nothing is changed`, () => {
      using store = garden('store');
      const before = store.tree();
      const message = store.toPlainMessage(EXPECTED.upsertErrors[label].error);
      assert.throws(() => upsert(handAt(), store.places, input), { code: 'garden', message });
      assert.deepEqual(store.tree(), before);
    });
  }

  const bad: readonly (readonly [string, Partial<UpsertInput>, RegExp])[] = [
    ['an empty folder', { cwd: '' }, /"cwd" must be a non-empty string/],
    ['an empty session', { nativeSessionId: '' }, /"nativeSessionId" must be/],
    ['an empty model', { model: '' }, /"model" must be a non-empty string or null/],
    ['a parent that leads out of the store', { parentGardenId: '../x' }, /"parentGardenId" must be null or match/],
    ['a session whose record has drifted', { nativeSessionId: 'n-drift', backend: 'claude-code' }, /drift: 2026/],
  ];
  for (const [label, input, why] of bad) {
    test(`with ${label} changes nothing`, () => {
      using store = garden('store');
      const before = store.tree();
      assert.throws(() => upsert(handAt(), store.places, { ...NEW, ...input }), { code: 'garden', message: why });
      assert.deepEqual(store.tree(), before);
    });
  }
});

describe('an upsert of v1', () => {
  test('moves its receipts into the mailbox, where what is there already wins', () => {
    using store = garden('store');
    const id = findCitizenId('v1-claude');
    upsert(handAt(), store.places, { ...readSession(store, 'v1-claude'), cwd: '/c' });
    assert.equal(record(store, id).schemaVersion, 2);
    const text = readFileSync(join(store.places.mailbox, id, 'state.json'), 'utf8');
    assert.equal(
      text,
      `{\n  "schemaVersion": 1,\n  "gardenId": "${id}",\n  "lastEnqueuedAt": "2026-06-01T08:00:00.000Z",\n` +
        '  "lastDeliveredAt": "2026-06-01T08:00:05.000Z",\n  "lastReadAt": null\n}\n',
    );
  });

  test('without receipts leaves no mailbox behind', () => {
    using store = garden('store');
    upsert(handAt(), store.places, { ...readSession(store, 'v1-agy'), cwd: '/c' });
    assert.equal(store.box(findCitizenId('v1-agy')), null);
  });

  test('loses no receipt when the record cannot be written, nor when the receipt cannot', () => {
    using store = garden('store');
    const id = findCitizenId('v1-claude');
    const session = { ...readSession(store, 'v1-claude'), cwd: '/c' };
    const { disk, ...hand } = handAt();
    const failing = (at: string): typeof disk => ({
      ...disk,
      files: {
        ...disk.files,
        rename: (from, to) => {
          if (to.endsWith(at)) throw Object.assign(new Error('EIO'), { code: 'EIO' });
          disk.files.rename(from, to);
        },
      },
    });
    assert.throws(() => upsert({ ...hand, disk: failing('state.json') }, store.places, session), {
      code: 'unwritable',
    });
    assert.equal(readRecord(disk, store.places.sessions, id).schemaVersion, 1);
    assert.throws(() => upsert({ ...hand, disk: failing('.meta.json') }, store.places, session), {
      code: 'unwritable',
    });
    assert.equal(readRecord(disk, store.places.sessions, id).schemaVersion, 1);
    assert.equal(readReceipt(disk, store.places.mailbox, id).lastEnqueuedAt, '2026-06-01T08:00:00.000Z');
    assert.deepEqual(
      readdirSync(store.places.sessions).filter((name) => name.startsWith('.')),
      [],
    );
  });

  test('whose receipt file is none stays v1', () => {
    using store = garden('store');
    const id = findCitizenId('v1-claude');
    const session = { ...readSession(store, 'v1-claude'), cwd: '/c' };
    execFileSync('mkdir', [join(store.places.mailbox, id)]);
    writeFileSync(join(store.places.mailbox, id, 'state.json'), '{');
    assert.throws(() => upsert(handAt(), store.places, session), { code: 'garden', message: /^mailbox receipt state/ });
    assert.equal(readRecord(handAt().disk, store.places.sessions, id).schemaVersion, 1);
  });
});

describe('the third schema', () => {
  test('has the keys of the newer generation in its order', () => {
    using store = garden();
    const { path } = upsert(handAt(), store.places, NEW, 3);
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(path, 'utf8')) as object), [...KEYS_V3]);
    assert.deepEqual([...KEYS_V3], Object.keys(EXPECTED_V3.list.identities[0] ?? {}));
  });

  test('is never rewritten as v2; v2 becomes v3 unless it would lose its parent', () => {
    using store = garden('store-v3');
    const session = { backend: 'codex', nativeSessionId: 'thr-31', cwd: '/c' };
    const before = store.tree();
    assert.throws(() => upsert(handAt(), store.places, session, 2), {
      code: 'garden',
      message: /never rewritten as v2/,
    });
    assert.deepEqual(store.tree(), before);
    assert.equal(upsert(handAt(), store.places, session, 3).record.schemaVersion, 3);

    using older = garden('store');
    const child = { ...readSession(older, 'pi-child'), cwd: '/c' };
    assert.throws(() => upsert(handAt(), older.places, child, 3, true), {
      code: 'garden',
      message: /has no parentGardenId/,
    });
    const cleared = { ...child, parentGardenId: null, isEntwurf: false };
    assert.equal(upsert(handAt(), older.places, cleared, 3, true).record.schemaVersion, 3);
    const v1 = { ...readSession(older, 'v1-claude'), cwd: '/c' };
    assert.equal(upsert(handAt(), older.places, v1, 3, true).record.schemaVersion, 3);
    assert.ok(existsSync(join(older.places.mailbox, findCitizenId('v1-claude'), 'state.json')));
  });
});

describe('D1 what is written has the schema of the store', () => {
  const schemas = (store: Garden): readonly number[] =>
    listRecords(handAt().disk, store.places.sessions)
      .records.map(({ schemaVersion }) => schemaVersion)
      .sort();

  test('D1 given a store of v3 records, a new one is v3; of v2 records, v2; of none, v2', () => {
    using store = garden();
    upsert(handAt(), store.places, NEW, 3);
    const second = upsert(handAt(), store.places, { ...NEW, nativeSessionId: 'second' });
    assert.deepEqual([second.action, second.record.schemaVersion], ['create', 3]);
    assert.equal(upsert(handAt(), store.places, NEW).record.schemaVersion, 3);
    assert.deepEqual(schemas(store), [3, 3]);
    using older = garden();
    for (const nativeSessionId of ['a', 'b']) upsert(handAt(), older.places, { ...NEW, nativeSessionId });
    assert.deepEqual(schemas(older), [2, 2]);
  });

  test('D1 a record of the other generation is refused and nothing is written, without --force', () => {
    for (const [first, other] of [
      [2, 3],
      [3, 2],
    ] as const) {
      using store = garden();
      upsert(handAt(), store.places, NEW, first);
      const before = store.tree();
      const another = { ...NEW, nativeSessionId: 'another' };
      const wanted = { code: 'garden', message: /refuses every write .*: leave --schema out .*, or use --force$/ };
      assert.throws(() => upsert(handAt(), store.places, another, other), wanted);
      assert.deepEqual(store.tree(), before);
      upsert(handAt(), store.places, another, other, true);
      assert.deepEqual(schemas(store), [2, 3]);
      assert.throws(() => upsert(handAt(), store.places, { ...NEW, nativeSessionId: 'third' }), {
        message: /both generations, .*move those of one generation away/,
      });
      // What is there already is brought up to date in its own generation.
      assert.equal(upsert(handAt(), store.places, another).record.schemaVersion, other);
    }
  });

  test('D1 the only record of a store may change to the later generation', () => {
    using store = garden();
    upsert(handAt(), store.places, NEW, 2);
    assert.equal(upsert(handAt(), store.places, NEW, 3).record.schemaVersion, 3);
  });
});

test('what is written is private, also where everything is open', () => {
  using store = garden('store');
  const path = join(store.places.sessions, `${findCitizenId('cc-read')}.meta.json`);
  chmodSync(path, 0o666);
  upsert(handAt(), store.places, { ...readSession(store, 'cc-read'), cwd: '/c' });
  assert.match(String(store.tree()[`meta-sessions/${findCitizenId('cc-read')}.meta.json`]), /^100600 /);
});

test('a garden id begins with the time on the wall of the machine', () => {
  const file = fileURLToPath(import.meta.resolve('./local-system.node.ts'));
  const script = `import(${JSON.stringify(file)}).then((m) => console.log(m.formatLocalStamp(Date.parse('2026-06-14T15:00:37.999Z'))))`;
  for (const [zone, stamp] of [
    ['Asia/Seoul', '20260615T000037'],
    ['America/New_York', '20260614T110037'],
  ]) {
    const out = execFileSync(process.execPath, ['-e', script], { env: { ...process.env, TZ: zone }, encoding: 'utf8' });
    assert.equal(out.trim(), stamp);
  }
  assert.match(formatLocalStamp(Date.now()), /^\d{8}T\d{6}$/);
});
