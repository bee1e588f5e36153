import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  type Answer,
  EXPECTED,
  EXPECTED_V3,
  findCitizenId,
  garden,
  handAt,
} from '../../../../test/kit/garden-store.ts';
import { needs } from '../../../../test/kit/require.ts';
import { toCitizenIdentity } from './record.ts';
import { findBySession, type Listing, listRecords, listStrictly, readRecord, SEED_COMPAT } from './store.ts';

const { disk } = handAt();
const identities = ({ records }: Listing): unknown => records.map(toCitizenIdentity);
const names = ({ errors }: Listing): readonly string[] => errors.map(({ filename }) => filename);

describe('garden check 1: the listing', () => {
  test('has 18 citizens and 8 defects, both records of one session among them', () => {
    using store = garden('store');
    const list = listRecords(disk, store.places.sessions);
    const quarantined = ['20260614T120007-00d0b1', '20260614T120008-00d0b2'];
    const { identities: all, errors } = EXPECTED.listAllMetaIdentities;
    assert.deepEqual(
      identities(list),
      all.filter(({ gardenId }) => !quarantined.includes(String(gardenId))),
    );
    assert.equal(list.records.length, 18);
    assert.deepEqual(names(list), [
      ...errors.map(({ filename }) => filename),
      ...quarantined.map((id) => `${id}.meta.json`),
    ]);
    const messages = new Map(list.errors.map(({ filename, message }) => [filename, message]));
    for (const { filename, message } of errors) {
      if (filename.includes('00bad4'))
        assert.match(messages.get(filename) ?? '', /v3 meta-record carries unexpected key/);
      else assert.equal(messages.get(filename), message);
    }
    assert.match(
      messages.get('20260614T120007-00d0b1.meta.json') ?? '',
      /also claimed by 20260614T120008-00d0b2\.meta/,
    );
  });

  test('is that of the reference field by field when asked for', () => {
    using store = garden('store');
    const list = listRecords(disk, store.places.sessions, SEED_COMPAT);
    assert.deepEqual({ identities: identities(list), errors: list.errors }, EXPECTED.listAllMetaIdentities);
  });

  test('that must be whole throws what the reference throws', () => {
    using store = garden('store');
    assert.throws(() => listStrictly(disk, store.places.sessions, SEED_COMPAT), {
      code: 'garden',
      message: store.toPlainMessage(EXPECTED.listStrict.error),
    });
    assert.throws(() => listStrictly(disk, store.places.sessions), /: 8 unreadable meta-record/);
  });

  test('of the newer generation is its own but for the record of the older one, which is read here', () => {
    using store = garden('store-v3');
    const list = listRecords(disk, store.places.sessions);
    const old = '20260808T220001-00bad2';
    const isOld = (id: unknown): boolean => String(id).startsWith(old);
    assert.deepEqual(
      list.records.map(toCitizenIdentity).filter(({ gardenId }) => !isOld(gardenId)),
      EXPECTED_V3.list.identities,
    );
    assert.equal(list.records.filter(({ gardenId }) => isOld(gardenId)).length, 1);
    const errors = EXPECTED_V3.list.errors.filter(({ filename }) => !isOld(filename));
    assert.deepEqual(
      names(list),
      errors.map(({ filename }) => filename),
    );
    for (const [index, { message }] of list.errors.entries()) {
      assert.ok(errors[index]?.message.startsWith(`${message} Archive the generation`), message);
    }
  });

  test('of a directory that is not there is empty; of one that cannot be read there is none', () => {
    using store = garden();
    assert.deepEqual(listRecords(disk, store.places.sessions), { records: [], errors: [] });
    writeFileSync(store.places.sessions, 'a file');
    assert.throws(() => listRecords(disk, store.places.sessions), { code: 'unreadable' });
    assert.throws(() => listRecords(disk, join(store.places.sessions, 'below')), { code: 'unreadable' });
  });
});

describe('bad files of a store are named, and their neighbours are there', () => {
  const good = `${findCitizenId('cc-enqueued')}.meta.json`;
  const bad = '20260614T130000-0bad00.meta.json';
  const cases: readonly (readonly [string, (path: string, real: string) => void, RegExp])[] = [
    ['a symlink to a good record', (path, real) => symlinkSync(real, path), /^is a symlink, which is never followed$/],
    ['a symlink to nowhere', (path) => symlinkSync('/nowhere', path), /^is a symlink, which is never followed$/],
    ['a pipe that nobody writes to', (path) => execFileSync('mkfifo', [path]), /^is a pipe, socket or device/],
    ['a directory', (path) => mkdirSync(path), /^is a directory, not a file$/],
    ['a record too long', (path) => writeFileSync(path, ' '.repeat(300_000)), /^is 300000 bytes long, over 262144$/],
    [
      'a record half written',
      (path) => writeFileSync(path, '{"schemaVersion": 2, "gard'),
      /^meta-record is not valid JSON/,
    ],
    ['bytes that are no text', (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0])), /not valid JSON/],
  ];
  for (const [label, make, why] of cases) {
    test(label, () => {
      using store = garden('store');
      const path = join(store.places.sessions, bad);
      make(path, join(store.places.sessions, good));
      const list = listRecords(disk, store.places.sessions);
      assert.equal(list.records.length, 18);
      assert.match(list.errors.find(({ filename }) => filename === bad)?.message ?? '', why);
      assert.throws(() => readRecord(disk, store.places.sessions, bad.slice(0, 22)), { code: 'garden' });
    });
  }

  test('a record of another user', (t) => {
    if (needs(t, process.getuid?.() === 0 ? null : 'only root can give a file away')) return;
    using store = garden('store');
    chownSync(join(store.places.sessions, good), 4242, 4242);
    const list = listRecords(disk, store.places.sessions);
    assert.equal(list.records.length, 17);
    assert.match(list.errors.find(({ filename }) => filename === good)?.message ?? '', /^belongs to user 4242, whose/);
    chownSync(store.places.sessions, 4242, 4242); // the directory is theirs as well: it is their store that was named
    assert.equal(listRecords(disk, store.places.sessions).records.length, 18);
  });

  test('nothing was changed by any of it, not even a mode that is too open', () => {
    using store = garden('store');
    chmodSync(join(store.places.sessions, good), 0o666);
    const before = store.tree();
    listRecords(disk, store.places.sessions);
    assert.throws(() => findBySession(disk, store.places.sessions, 'dup-native'));
    readRecord(disk, store.places.sessions, findCitizenId('cc-enqueued'));
    assert.deepEqual(store.tree(), before);
  });
});

describe('the record of a native session', () => {
  const check = (scan: keyof typeof EXPECTED.scan, run: (sessions: string) => unknown): void =>
    void test(`${scan} is that of the reference`, () => {
      using store = garden('store');
      const answer: Answer<unknown> = EXPECTED.scan[scan];
      const ask = (): unknown => run(store.places.sessions);
      if (answer.error !== undefined)
        assert.throws(ask, { code: 'garden', message: store.toPlainMessage(answer.error) });
      else assert.deepEqual(ask(), answer.ok);
    });
  const known = String(EXPECTED.scan.known.ok?.nativeSessionId);
  check('known', (sessions) => findBySession(disk, sessions, known).match);
  check('missing', (sessions) => findBySession(disk, sessions, 'of nobody').match);
  check('duplicate', (sessions) => findBySession(disk, sessions, 'dup-native').match);
  check('v1OnlyReaderOnV2', (sessions) => findBySession(disk, sessions, known, [1]).match);
  check('empty', (sessions) => findBySession(disk, sessions, '').match);

  test('is found beside files that cannot be read, and those are named', () => {
    using store = garden('store');
    const { skipped } = findBySession(disk, store.places.sessions, known);
    assert.deepEqual(
      skipped.map(({ filename }) => filename.slice(16, 22)),
      ['00bad1', '00bad2', '00bad3', '00bad4', '00bad5'],
    );
  });

  test('is not found by the name of a file: the second of two matches may come last', () => {
    using store = garden('store');
    const again = join(store.places.sessions, '20991231T235959-ffffff.meta.json');
    copyFileSync(join(store.places.sessions, `${findCitizenId('cc-enqueued')}.meta.json`), again);
    assert.throws(
      () => findBySession(disk, store.places.sessions, known),
      /matched 2 records \(.*, 20991231T235959-ffffff/,
    );
  });

  test('is none when its file has another name', () => {
    using store = garden('store');
    assert.throws(
      () => findBySession(disk, store.places.sessions, 'n-drift'),
      /drift: 20260614T120006-00bad6\.meta\.json contains/,
    );
  });
});

describe('the record of a garden id', () => {
  const asked: Readonly<Record<keyof typeof EXPECTED.readByGardenId, string>> = {
    drift: '20260614T120006-00bad6',
    driftBodyId: '20260614T120006-00ffff',
    unknown: '20200101T000000-000000',
    badGrammar: '../../etc/passwd',
    upperHex: '20260614T120006-00BAD6',
  };
  for (const [label, id] of Object.entries(asked)) {
    test(`${label}: what the reference throws`, () => {
      using store = garden('store');
      const { error } = EXPECTED.readByGardenId[label as keyof typeof asked];
      assert.throws(() => readRecord(disk, store.places.sessions, id), {
        code: 'garden',
        message: store.toPlainMessage(error),
      });
    });
  }

  test('is found in a store that is reached by a symlink', () => {
    using store = garden('store');
    renameSync(store.places.sessions, store.at('elsewhere'));
    symlinkSync(store.at('elsewhere'), store.places.sessions);
    assert.equal(readRecord(disk, store.places.sessions, findCitizenId('v1-agy')).schemaVersion, 1);
  });
});
