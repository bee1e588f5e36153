import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gardenCli } from '../kit/garden-cli.ts';
import { EXPECTED, findCitizenId, garden } from '../kit/garden-store.ts';

interface Defect {
  readonly filename: string;
  readonly message: string;
}
interface GardenExamination {
  readonly certified: boolean;
  readonly citizens: number;
  readonly defects: readonly Defect[];
  readonly notes: readonly Defect[];
}

const findMessage = (defects: readonly Defect[], filename: string): string | undefined =>
  defects.find((defect) => defect.filename === filename)?.message;

describe('the doctor', () => {
  test('names every corrupt file of the data with its reason, and ends with 1', async () => {
    using store = garden('store');
    const before = store.tree();
    const { code, json } = await gardenCli(store)(['doctor', '--json']);
    const { certified, citizens, defects, notes } = json<GardenExamination>();
    assert.deepEqual([code, certified, citizens], [1, false, 18]);
    const bad = ['00bad1', '00bad2', '00bad3', '00bad4', '00bad5', '00bad6', '00d0b1', '00d0b2'];
    assert.deepEqual(
      defects.map(({ filename }) => filename),
      [
        ...bad.map((hex, n) => `meta-sessions/20260614T12000${n + 1}-${hex}.meta.json`),
        ...['state-badjson', 'state-drift', 'state-stray'].map(
          (label) => `meta-mailbox/${findCitizenId(label)}/state.json`,
        ),
        ...['meta-receivers/20260614T100114-9abadd.json', 'meta-receivers/20260614T100305-1158c5.json'],
      ],
    );
    for (const label of ['state-badjson', 'state-drift', 'state-stray']) {
      const preview = store.toPlainMessage(EXPECTED.citizens[label]?.receipt.error);
      assert.equal(findMessage(defects, `meta-mailbox/${findCitizenId(label)}/state.json`), preview);
    }
    assert.match(
      findMessage(defects, 'meta-receivers/20260614T100305-1158c5.json') ?? '',
      /process 1, which cannot own a/,
    );
    assert.deepEqual(
      notes.map(({ filename }) => filename),
      [
        ...['meta-mailbox/20260101T000000-0a0b0c', 'meta-mailbox/lost+found'],
        `meta-mailbox/${findCitizenId('agy-misdelivered')}`,
        ...['meta-receivers/20260614T100228-f3f6e5.json', 'meta-senders/claude-code/4194305.json'],
      ],
    );
    const shown = await gardenCli(store)(['doctor']);
    assert.equal(shown.code, 1);
    assert.equal(shown.out.split('\n').filter((line) => line.startsWith('defect  ')).length, defects.length);
    assert.match(shown.out, /\n18 citizens, 13 defects\n$/);
    assert.deepEqual(store.tree(), before);
  });

  test('certifies a store that is in order with 0, and one that is not there', async () => {
    using store = garden();
    const run = gardenCli(store);
    await run(['record', 'upsert', '--backend', 'claude-code', '--session', 'a']);
    await run(['record', 'upsert', '--backend', 'pi', '--session', 'b']);
    const { code, out, err } = await run(['doctor']);
    assert.deepEqual([code, out, err], [0, '2 citizens, no defect\n', '']);
    const nowhere = await run(['doctor'], { store: store.at('nowhere') });
    assert.deepEqual([nowhere.code, nowhere.out], [0, '0 citizens, no defect\n']);
    assert.match(nowhere.err, /there is no store yet/);
  });

  test('D1 names a store with records of both generations, and what upsert refuses to write into it', async () => {
    using store = garden();
    const run = gardenCli(store);
    const upsert = (session: string, ...more: readonly string[]) =>
      run(['record', 'upsert', '--backend', 'codex', '--session', session, ...more]);
    await upsert('later', '--schema', '3');
    const plain = await upsert('plain', '--json');
    assert.equal(plain.json<{ citizen: { schemaVersion: number } }>().citizen.schemaVersion, 3);
    assert.equal((await run(['doctor'])).code, 0);
    const refused = await upsert('earlier', '--schema', '2');
    assert.equal(refused.code, 1);
    assert.match(refused.err, /meta-sessions holds v3 records, .*leave --schema out/);
    assert.equal((await upsert('earlier', '--schema', '2', '--force')).code, 0);
    const doctor = await run(['doctor']);
    assert.equal(doctor.code, 1);
    assert.match(doctor.out, /^defect {2}meta-sessions: holds records of both generations \(2 of v3, 1 of v1 and v2\)/);
  });

  test('ends with 2 for a command line that is wrong', async () => {
    using store = garden();
    for (const args of [
      ['doctor', '--fix'],
      ['doctor', 'now'],
      ['doctor', '--schema', '3'],
      ['doctor', '--id', 'x'],
    ]) {
      const { code, out } = await gardenCli(store)(args);
      assert.deepEqual([code, out], [2, ''], args.join(' '));
    }
  });

  test('ends with 3 when the store cannot be read, where all else ends with 1', async () => {
    for (const directory of ['sessions', 'mailbox', 'receivers'] as const) {
      using store = garden('store');
      rmSync(store.places[directory], { recursive: true });
      writeFileSync(store.places[directory], 'no directory');
      const { code, json, err } = await gardenCli(store)(['doctor', '--json']);
      assert.deepEqual([code, json<GardenExamination>().certified], [3, false], directory);
      assert.ok(json<{ unreadable: string }>().unreadable.includes(store.places[directory]));
      assert.ok(err.includes(store.places[directory]));
      if (directory === 'receivers') continue; // mail does not depend on it
      const other = await gardenCli(store)(['status', '--json']);
      assert.deepEqual([other.code, other.out], [1, '']);
    }
    using store = garden('store');
    chmodSync(store.places.sessions, 0);
    const wrap = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
    const { code, err } = await gardenCli(store)(['doctor'], { wrap });
    chmodSync(store.places.sessions, 0o700);
    assert.match(err, /permission/);
    assert.equal(code, 3);
  });
});

describe('the registry of capabilities', () => {
  const entry = (wakeMode: string, nativeIdLabel: string): object => ({ wakeMode, deliveryLevel: 'D6', nativeIdLabel });
  const backends = {
    'claude-code': entry('self-fetch', 'sessionId'),
    antigravity: entry('direct-inject', 'conversationId'),
    codex: entry('direct-inject', 'threadId'),
    pi: entry('direct-inject', 'sessionId'),
  };
  const text = (more: object = {}): string => JSON.stringify({ schemaVersion: 1, backends: { ...backends, ...more } });

  test('is examined where it is named, or in this folder', async () => {
    using store = garden();
    const run = gardenCli(store);
    const named = store.at('registry.json');
    const examine = async (content: string): Promise<readonly unknown[]> => {
      writeFileSync(named, content);
      const { code, json } = await run(['doctor', '--capabilities', 'registry.json', '--json']);
      return [code, ...json<GardenExamination>().defects.map(({ filename, message }) => [filename, message])];
    };
    assert.deepEqual(await examine(text()), [0]);
    assert.deepEqual(await examine(text({ codex: entry('self-fetch', 'threadId') })), [
      1,
      [named, 'codex.wakeMode is "self-fetch", here "direct-inject"'],
    ]);
    assert.deepEqual(await examine(text({ gemini: entry('self-fetch', 'x') })), [
      1,
      [
        named,
        'capability registry must cover exactly antigravity, claude-code, codex, pi (got antigravity, claude-code, codex, gemini, pi).',
      ],
    ]);
    rmSync(named);
    const gone = await run(['doctor', '--capabilities', named]);
    assert.deepEqual([gone.code, gone.out], [1, `defect  ${named}: does not exist\n0 citizens, 1 defect\n`]);
    mkdirSync(store.at('pi'));
    writeFileSync(store.at('pi', 'entwurf-capabilities.json'), '{}');
    assert.equal((await run(['doctor'])).code, 1);
    assert.equal((await run(['doctor'], { cwd: store.at('pi') })).code, 0);
  });
});

describe('prune', () => {
  test('lists what a person may delete, and deletes nothing', async () => {
    using store = garden('store');
    const own = join(store.places.mailbox, findCitizenId('cc-read'), `state.json.tmp-${process.pid}-1781406000000`);
    writeFileSync(own, '');
    const before = store.tree();
    const run = gardenCli(store);
    const { code, json } = await run(['prune', '--json']);
    const { prunable } = json<{ prunable: readonly { path: string; why: string }[] }>();
    assert.equal(code, 0);
    assert.deepEqual(
      prunable.map(({ path, why }) => [path.slice(store.store.length + 1), why.replace(/: .*/, '')]),
      [
        ['meta-sessions/20260614T120009-00bad9.meta.json.tmp-4242-1781406000000', 'left behind by process 4242'],
        [
          `meta-mailbox/${findCitizenId('cc-read')}/state.json.tmp-${process.pid}-1781406000000`,
          `process ${process.pid} still runs`,
        ],
        ['meta-receivers/20260614T100228-f3f6e5.json', 'a marker whose owner has ended'],
        ['meta-receivers/20260614T100305-1158c5.json', 'a marker whose owner cannot own a session'],
        ['meta-receivers/20260614T100114-9abadd.json', 'not a marker'],
        ['meta-senders/claude-code/4194305.json', 'a marker whose owner has ended'],
        ['meta-mailbox/20260101T000000-0a0b0c', 'a mailbox without a citizen; 1 message waits in it'],
      ],
    );
    const shown = await run(['prune']);
    assert.match(shown.out, /\nnothing was deleted: this is a list\n$/);
    assert.deepEqual(store.tree(), before);
    using empty = garden();
    assert.equal((await gardenCli(empty)(['prune'])).out, 'nothing to prune\n');
  });
});
