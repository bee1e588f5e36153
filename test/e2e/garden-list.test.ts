import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { complaintsIn, gardenCli } from '../kit/garden-cli.ts';
import { EXPECTED, EXPECTED_V3, findCitizenId, garden } from '../kit/garden-store.ts';

interface GardenListing {
  readonly citizens: readonly Readonly<Record<string, unknown>>[];
  readonly defects: readonly { readonly filename: string; readonly message: string }[];
}

const TIMES = ['lastEnqueuedAt', 'lastDeliveredAt', 'lastReadAt'] as const;
const ORPHAN = '20260101T000000-0a0b0c';

describe('garden check 1: the list', () => {
  test('has 18 citizens and 8 defects: six records that are none, and both of one session', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const before = store.tree();
    const { code, err, json } = await run(['list', '--json']);
    const { citizens, defects } = json<GardenListing>();
    assert.deepEqual([code, err, citizens.length, defects.length], [0, '', 18, 8]);
    const doubles = ['20260614T120007-00d0b1', '20260614T120008-00d0b2'];
    const { identities, errors } = EXPECTED.listAllMetaIdentities;
    assert.deepEqual(
      citizens,
      identities.filter(({ gardenId }) => !doubles.includes(String(gardenId))),
    );
    assert.deepEqual(
      defects.map(({ filename }) => filename),
      [...errors.map(({ filename }) => filename), ...doubles.map((id) => `${id}.meta.json`)],
    );
    // A record that says it is of the third schema is read as one here, so of it other words are said.
    for (const [n, { filename, message }] of errors.entries()) {
      if (!message.includes('must be 1 or 2')) assert.deepEqual(defects[n], { filename, message });
      else assert.match(defects[n]?.message ?? '', /^v3 meta-record carries unexpected key\(s\) "parentGardenId"/);
    }
    for (const { message } of defects.slice(6)) assert.match(message, /^duplicate nativeSessionId "dup-native"/);
    assert.deepEqual((await run(['record', 'list', '--json'])).json(), { citizens, defects });
    assert.deepEqual(store.tree(), before);
  });

  test('with --seed-compat is that of the reference, field by field', async () => {
    using store = garden('store');
    const { citizens, defects } = (await gardenCli(store)(['list', '--seed-compat', '--json'])).json<GardenListing>();
    assert.deepEqual([citizens.length, defects.length], [20, 6]);
    assert.deepEqual(citizens, EXPECTED.listAllMetaIdentities.identities);
    assert.deepEqual(defects, EXPECTED.listAllMetaIdentities.errors);
  });

  test('of the later generation has its citizens, and one of the second schema beside them', async () => {
    using store = garden('store-v3');
    const { citizens, defects } = (await gardenCli(store)(['list', '--json'])).json<GardenListing>();
    const ids = EXPECTED_V3.list.identities.map(({ gardenId }) => gardenId);
    assert.deepEqual(
      citizens.filter(({ schemaVersion }) => schemaVersion === 3),
      EXPECTED_V3.list.identities,
    );
    assert.deepEqual(
      citizens.filter(({ gardenId }) => !ids.includes(gardenId)).map(({ gardenId }) => gardenId),
      ['20260808T220001-00bad2'],
    );
    const doubled = EXPECTED_V3.list.errors.filter(({ message }) => message.startsWith('duplicate'));
    assert.equal(doubled.length, 2);
    assert.deepEqual(
      defects,
      // Without the command of the other program that would mend it.
      doubled.map(({ filename, message }) => ({
        filename,
        message: message.replace(/ Archive the generation .*$/, ''),
      })),
    );
  });

  test('for people has a line a citizen, and says each defect on stderr', async () => {
    using store = garden('store');
    const { code, out, err } = await gardenCli(store)(['list']);
    const [head = '', ...rows] = out.trimEnd().split('\n');
    assert.equal(code, 0);
    assert.match(head, /^ID +SCHEMA +UPDATED +CITIZEN$/);
    assert.equal(rows.length, 18);
    assert.equal(rows[2], '20260614T100151-bedab4  v2      2026-06-14T01:01:51  claude-code · beta');
    assert.equal(complaintsIn(err).length, 8);
    for (const line of complaintsIn(err))
      assert.match(line, /^meta-sessions\/2026\d{4}T\d{6}-[0-9a-z]{6}\.meta\.json: /);
  });

  test('of a store that is not there is empty, and says so', async () => {
    using store = garden();
    const { code, out, err } = await gardenCli(store)(['list', '--json'], { store: store.at('nowhere') });
    assert.deepEqual([code, out], [0, '{"citizens":[],"defects":[]}\n']);
    assert.equal(err, '');
    const shown = await gardenCli(store)(['list'], { store: store.at('nowhere') });
    assert.match(shown.err, /there is no store yet: .*nowhere\/meta-sessions does not exist/);
  });
});

describe('which store is meant', () => {
  test('is --store, else the environment of both generations, else that of the user', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const count = async (env: Record<string, string>, named: string | null = null): Promise<number> =>
      (await run(['list', '--json'], { env, store: named })).json<GardenListing>().citizens.length;
    const sessions = store.places.sessions;
    assert.equal(await count({}), 0);
    assert.equal(await count({ PI_CODING_AGENT_DIR: store.store }), 18);
    assert.equal(await count({ PI_META_SESSIONS_DIR: sessions }), 18);
    assert.equal(await count({ ENTWURF_META_SESSIONS_DIR: sessions, PI_META_SESSIONS_DIR: store.at('none') }), 18);
    assert.equal(await count({ ENTWURF_META_SESSIONS_DIR: store.at('none') }, store.store), 18);
    assert.equal(await count({ PI_CODING_AGENT_DIR: '~/agent' }), 18);
  });
});

describe('one citizen', () => {
  test('is found by the id of its native session, as the reference finds it', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const { known, duplicate, empty } = EXPECTED.scan;
    const found = await run(['record', 'scan', '--session', '0f3c9d1e-77aa-4b10-9c55-000000000003', '--json']);
    assert.deepEqual(found.json().citizen, known.ok);
    const none = await run(['record', 'scan', '--session', 'no-such-session', '--json']);
    assert.deepEqual([none.code, none.json().citizen], [0, null]);
    for (const [session, expected] of [
      ['dup-native', duplicate],
      ['', empty],
    ] as const) {
      const { code, out, err } = await run(['record', 'scan', '--session', session]);
      assert.deepEqual([code, out, err], [1, '', `hivebar garden: ${store.toPlainMessage(expected.error)}\n`]);
    }
  });

  test('is read by its id, or refused in the words of the reference', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const id = findCitizenId('v1-claude');
    const expected = EXPECTED.listAllMetaIdentities.identities.find(({ gardenId }) => gardenId === id);
    assert.deepEqual((await run(['record', 'get', '--id', id, '--json'])).json().citizen, expected);
    const asked = {
      drift: '20260614T120006-00bad6',
      driftBodyId: '20260614T120006-00ffff',
      unknown: '20200101T000000-000000',
      badGrammar: '../../etc/passwd',
      upperHex: '20260614T120006-00BAD6',
    } as const;
    for (const scan of Object.keys(asked) as (keyof typeof asked)[]) {
      const { code, out, err } = await run(['record', 'get', '--id', asked[scan]]);
      const preview = store.toPlainMessage(EXPECTED.readByGardenId[scan].error);
      assert.deepEqual([code, out, err], [1, '', `hivebar garden: ${preview}\n`], scan);
    }
  });

  test('has the receipt of the reference, and one of the first schema that which is inside it', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    for (const [label, { gardenId, receipt }] of Object.entries(EXPECTED.citizens)) {
      const { code, err, json } = await run(['receipt', 'show', '--id', gardenId, '--json']);
      if (receipt.error !== undefined) {
        assert.deepEqual([code, err], [1, `hivebar garden: ${store.toPlainMessage(receipt.error)}\n`]);
        continue;
      }
      const record = JSON.parse(readFileSync(join(store.places.sessions, `${gardenId}.meta.json`), 'utf8')) as {
        readonly delivery?: Readonly<Record<string, unknown>>;
      };
      const { delivery = {} } = record;
      const shown = TIMES.map((time) => [time, receipt.ok[time] ?? delivery[time] ?? null]);
      assert.deepEqual(json().receipt, { ...receipt.ok, ...Object.fromEntries(shown) }, label);
      if (label === 'v1-claude') assert.deepEqual(shown[0], ['lastEnqueuedAt', '2026-06-01T08:00:00.000Z']);
    }
  });
});

interface Status {
  readonly unread: number;
  readonly citizens: readonly (Readonly<Record<string, unknown>> & { readonly gardenId: string })[];
  readonly diagnostics: GardenListing['defects'];
}

describe('garden check 2: the status', () => {
  test('counts what waits for whom as the reference does, 7 in all, and names the box of nobody', async () => {
    using store = garden('store');
    const before = store.tree();
    const { code, json } = await gardenCli(store)(['status', '--json']);
    const { unread, citizens, diagnostics } = json<Status>();
    assert.deepEqual([code, unread, citizens.length], [0, 7, 18]);
    for (const [label, { gardenId, receipt, ...expected }] of Object.entries(EXPECTED.citizens)) {
      const found = citizens.find((citizen) => citizen.gardenId === gardenId);
      const counts = { fresh: expected.fresh, delivered: expected.delivered, read: expected.read };
      assert.deepEqual(
        { fresh: found?.fresh, delivered: found?.delivered, read: found?.read, unread: found?.unread },
        { ...counts, unread: expected.unread },
        label,
      );
      if (receipt.ok !== undefined && !label.startsWith('v1-')) {
        for (const time of TIMES) assert.equal(found?.[time], receipt.ok[time], label);
      }
    }
    const named = diagnostics.map(({ filename }) => filename);
    assert.deepEqual(named, [
      ...['00bad1', '00bad2', '00bad3', '00bad4', '00bad5', '00bad6'].map(
        (hex, n) => `meta-sessions/20260614T12000${n + 1}-${hex}.meta.json`,
      ),
      ...['meta-sessions/20260614T120007-00d0b1.meta.json', 'meta-sessions/20260614T120008-00d0b2.meta.json'],
      ...['state-badjson', 'state-drift', 'state-stray'].map(
        (label) => `meta-mailbox/${findCitizenId(label)}/state.json`,
      ),
      ...['meta-receivers/20260614T100114-9abadd.json', `meta-mailbox/${ORPHAN}`, 'meta-mailbox/lost+found'],
    ]);
    const [orphan] = diagnostics.filter(({ filename }) => filename.endsWith(ORPHAN));
    assert.equal(orphan?.message, 'a mailbox without a citizen; 1 message waits in it');
    assert.deepEqual(store.tree(), before);
  });

  test('of the later generation as well', async () => {
    using store = garden('store-v3');
    const { unread, citizens } = (await gardenCli(store)(['status', '--json'])).json<Status>();
    assert.equal(unread, 2);
    for (const [label, expected] of Object.entries(EXPECTED_V3.citizens)) {
      const found = citizens.find(({ gardenId }) => gardenId === expected.gardenId);
      if (label === 'agy')
        assert.equal(found, undefined); // one of two records of a session
      else assert.equal(found?.unread, expected.unread, label);
    }
  });

  test('for people is a line a citizen below the sum', async () => {
    using store = garden('store');
    const { out, err } = await gardenCli(store)(['status']);
    const [sum, , head = '', ...rows] = out.trimEnd().split('\n');
    assert.equal(sum, '7 unread, 18 citizens');
    assert.match(head, /^UNREAD +FRESH +RUNG +READ +AGENT +ID +CITIZEN$/);
    assert.equal(rows.length, 18);
    assert.match(
      rows[5] ?? '',
      /^ {5}3 {6}1 {5}2 {5}1 {2}unknown: not-armed +20260614T100342-080533 {2}claude-code · sub$/,
    );
    assert.equal(complaintsIn(err).length, 14);
  });

  test('of a box that is closed knows no number, and the others are counted', async () => {
    using store = garden('store');
    writeFileSync(join(store.places.mailbox, findCitizenId('cc-never-armed')), 'no directory');
    const { unread, citizens, diagnostics } = (await gardenCli(store)(['status', '--json'])).json<Status>();
    assert.equal(unread, 7);
    assert.equal(citizens.find(({ gardenId }) => gardenId === findCitizenId('cc-never-armed'))?.unread, null);
    const box = diagnostics.find(({ filename }) => filename === `meta-mailbox/${findCitizenId('cc-never-armed')}`);
    assert.equal(box?.message, 'is not a directory');
  });
});
