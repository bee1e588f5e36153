import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import {
  doorbell,
  EXPECTED,
  fillLiveMarkers,
  findCitizenId,
  type Garden,
  garden,
  handAt,
} from '../../../test/kit/garden-store.ts';
import { exactly, type KnownItem } from '../../model/index.ts';
import { type Files, type Log, realFiles, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { Checkpoint, SetItem } from '../source.ts';
import { drain, enqueue, upsert } from './act/index.ts';
import { createGardenSource, type GardenOptions } from './index.ts';

const never = new AbortController().signal;
const UNSET: Checkpoint = { is: 'unset' };
const NOBODY: GardenOptions['probes'] = { readProcesses: async () => new Map(), probeListener: async () => 'absent' };

interface Rig {
  readonly source: ReturnType<typeof createGardenSource>;
  readonly clock: FakeClock;
  /** Calls of the disk since it was asked last. */
  calls(): number;
  readonly output: readonly string[];
  items(gardenId: string, from?: Checkpoint): Promise<readonly SetItem[]>;
  stems(gardenId: string, from?: Checkpoint): Promise<readonly string[]>;
}

/** A source on the real disk. Its clock stands an hour ahead, so that what is on the disk is old, unless it is `now`. */
function rig(store: Garden, more: Partial<GardenOptions> & { readonly files?: Partial<Files>; at?: number } = {}): Rig {
  const clock = fakeClock(more.at ?? Date.now() + 3_600_000);
  let count = 0;
  const counted = <A extends unknown[], R>(call: (...given: A) => R): ((...given: A) => R) => {
    return (...given) => {
      count += 1;
      return call(...given);
    };
  };
  const real = { ...realFiles, ...more.files };
  const files = { ...real, open: counted(real.open), readdir: counted(real.readdir), lstat: counted(real.lstat) };
  const output: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (line: string) => void output.push(line),
    info: (line: string) => void output.push(line),
  };
  const source = createGardenSource({
    ...{ places: store.places, disk: { ...createRealDisk(silentLog), files }, clock, log, probes: NOBODY },
    ...{ contentChars: 220, backfill: false, ...more },
  });
  const items: Rig['items'] = async (gardenId, from = UNSET) => {
    const { evidence } = await source.poll(source.named(gardenId), from, never);
    assert.equal(evidence.is, 'set');
    return evidence.is === 'set' ? evidence.items : [];
  };
  return {
    ...{ source, clock, output, items },
    calls() {
      const before = count;
      count = 0;
      return before;
    },
    stems: async (gardenId, from) =>
      (await items(gardenId, from)).map(({ key, fingerprint }) => `${key} ${fingerprint}`),
  };
}

/** What is remembered once all of these were told. */
function reported(items: readonly SetItem[]): Checkpoint {
  const keys = items.map(
    ({ key, fingerprint, vanished, extra }, i): KnownItem => ({
      key,
      seq: i + 1,
      fingerprint,
      changes: 0,
      vanished,
      extra,
    }),
  );
  return { is: 'known', epoch: 'store', next: keys.length + 1, keys };
}

const findMailbox = (store: Garden, gardenId: string, ...names: string[]): string =>
  join(store.places.mailbox, gardenId, ...names);

describe('who is there', () => {
  test('each citizen, by garden id, labelled with its backend and folder', async () => {
    using store = garden('store');
    const { source } = rig(store);
    const personas = await source.personas(never);
    assert.equal(personas.length, 18);
    assert.deepEqual(personas[0], {
      id: `garden-${personas[0]?.address}`,
      address: personas[0]?.address,
      label: `${source.record(personas[0]?.address ?? '')?.backend} · alpha`,
    });
    assert.equal(new Set(personas.map(({ id }) => id)).size, 18);
  });

  test('a folder is text of somebody else: control characters go, and it is cut', async () => {
    using store = garden();
    const add = (nativeSessionId: string, cwd: string) =>
      upsert(handAt(), store.places, { backend: 'pi', nativeSessionId, cwd }).record.gardenId;
    const ids = [add('a', `/x/\u202eri\u0007ver${'y'.repeat(200)}`), add('b', '/'), add('c', 'C:\\work\\bank\\')];
    const { source } = rig(store);
    await source.personas(never);
    const [long, root, windows] = ids.map((id) => source.named(id).label);
    assert.equal(long, `pi · river${'y'.repeat(75)}`);
    assert.deepEqual([root, windows], ['pi · /', 'pi · bank']);
  });

  test('a store that is not there has nobody; one that cannot be read is a fault of the whole source', async () => {
    using store = garden();
    assert.deepEqual(await rig(store).source.personas(never), []);
    writeFileSync(store.places.sessions, '');
    const asked = rig(store).source.personas(never);
    await assert.rejects(asked, { code: 'unreadable', scope: { is: 'source', key: 'garden' } });
    using full = garden('store');
    const refused = (): never => {
      throw Object.assign(new Error('no'), { code: 'EACCES' });
    };
    for (const call of ['readdir', 'lstat'] as const) {
      const { source } = rig(full, { files: { [call]: refused } });
      await assert.rejects(source.personas(never), { code: 'unreadable', scope: { is: 'source', key: 'garden' } });
      await assert.rejects(async () => await source.poll(source.named(findCitizenId('cc-mixed')), UNSET, never), {
        scope: { is: 'source', key: 'garden' },
      });
      assert.equal(source.isGone?.(source.named(findCitizenId('cc-mixed'))), false, 'nobody is known to be gone');
    }
  });

  test('each thing that is wrong is said once, and that it is mended', async () => {
    using store = garden('store');
    const { source, output } = rig(store);
    await source.personas(never);
    for (const { filename } of EXPECTED.listAllMetaIdentities.errors) {
      assert.equal(output.filter((line) => line.startsWith(`garden: ${filename}: `)).length, 1);
    }
    const before = output.length;
    await source.personas(never);
    assert.equal(output.length, before);
    rmSync(join(store.places.sessions, '20260614T120001-00bad1.meta.json'));
    await source.personas(never);
    assert.equal(output.length, before + 1);
    assert.match(output.at(-1) ?? '', /1 of the records that were wrong is fixed/);
    assert.ok(source.defects.some((line) => line.startsWith('20260101T000000-0a0b0c: belongs to no citizen')));
  });
});

describe('a look', () => {
  test('counts what waits, and has each message with its stage; what is read is remembered and not told', async () => {
    using store = garden('store');
    const { source, items } = rig(store);
    const poll = await source.poll(source.named(findCitizenId('cc-mixed')), UNSET, never);
    assert.deepEqual([poll.unread, poll.urgent], [exactly(3), exactly(0)]);
    const mixed = await items(findCitizenId('cc-mixed'));
    assert.deepEqual(
      mixed.map(({ fingerprint, appeared, changed, vanished }) => [fingerprint, appeared, changed, vanished]).sort(),
      [
        ['delivered', 'new', 'delivered', 'gone'],
        ['delivered', 'new', 'delivered', 'gone'],
        ['fresh', 'new', null, 'gone'],
        ['read', 'quiet', 'read', 'gone'],
      ],
    );
    const again = await rig(store, { backfill: true }).items(findCitizenId('cc-mixed'));
    assert.ok(again.every(({ appeared, content }) => appeared === 'new' && content !== null));
  });

  test('has what stands below the envelope, cut, and the sender; a body without one is whole and of nobody', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-never-armed');
    const rule = '─'.repeat(40);
    const head = `[entwurf received ⟵]\n  from: bo\n  session: s\n  at: t\n  wants reply: yes\n${rule}\n`;
    enqueue(handAt({ hex: ['000001'] }), store.places, id, `${head}${'😀'.repeat(300)}`);
    enqueue(handAt({ hex: ['000002'] }), store.places, id, 'plain\u0000 text\n');
    const [first, second] = await rig(store).items(id);
    assert.deepEqual([first?.from, first?.content], ['bo', '😀'.repeat(220)]);
    assert.deepEqual([second?.from, second?.content], [null, 'plain text\n']);
    assert.deepEqual([second?.created, second?.extra], ['2026-06-14T06:00:00.000Z', { stem: second?.key }]);
    const [none] = await rig(store, { contentChars: null }).items(id);
    assert.deepEqual([none?.from, none?.content], ['bo', null]);
  });

  test('reads a body once, and none of what was told', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-enqueued');
    let bodies = 0;
    const open: Files['open'] = (path, flags, mode) => {
      if (path.endsWith('.msg')) bodies += 1;
      return realFiles.open(path, flags, mode);
    };
    const { items } = rig(store, { files: { open } });
    const first = await items(id);
    await items(id);
    assert.equal(bodies, 2);
    const known = await items(id, reported(first));
    assert.deepEqual([bodies, known.map(({ content }) => content)], [2, [null, null]]);
  });

  test('trap 4: a body that is being written is counted, and told when the signal says it is whole', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-enqueued');
    const { source, stems, items } = rig(store);
    const before = await stems(id);
    const late = '2026-06-14T01-10-00-000Z-aaaaaa';
    writeFileSync(findMailbox(store, id, `${late}.msg`), 'half');
    assert.deepEqual(await stems(id), before);
    assert.deepEqual((await source.poll(source.named(id), UNSET, never)).unread, exactly(3));
    writeFileSync(findMailbox(store, id, `${late}.msg`), 'half and half\n');
    assert.deepEqual(await stems(id), before);
    writeFileSync(findMailbox(store, id, 'inbox.signal'), '2026-06-14T01:10:00.000Z\n');
    assert.equal((await items(id)).at(-1)?.content, 'half and half\n');
  });

  test('trap 4: without a signal it is told when it stood still for a tick, also if it is read meanwhile', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-enqueued');
    const { clock, stems, items } = rig(store);
    const before = await stems(id);
    const late = '2026-06-14T01-10-00-000Z-aaaaaa';
    const write = (text: string): void => writeFileSync(findMailbox(store, id, `${late}.msg`), text);
    write('half');
    assert.deepEqual(await stems(id), before);
    await clock.advance(200);
    write('half and half');
    assert.deepEqual(await stems(id), before);
    await clock.advance(200);
    assert.deepEqual(await stems(id), before, 'it stood still since 200 ms');
    await clock.advance(50);
    assert.deepEqual(await stems(id), [...before, `${late} fresh`]);

    const second = '2026-06-14T01-11-00-000Z-bbbbbb';
    writeFileSync(findMailbox(store, id, `${second}.msg`), 'x');
    await stems(id);
    renameSync(findMailbox(store, id, `${second}.msg`), findMailbox(store, id, `${second}.msg.read`));
    const found = (await items(id)).find(({ key }) => key === second);
    assert.deepEqual([found?.appeared, found?.fingerprint, found?.content], ['new', 'read', 'x']);
  });

  test('an empty body, and one that cannot be read, are told after 10 s without content', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-never-armed');
    mkdirSync(findMailbox(store, id));
    writeFileSync(findMailbox(store, id, '2026-06-14T01-10-00-000Z-aaaaaa.msg'), '');
    writeFileSync(findMailbox(store, id, '2026-06-14T01-10-00-000Z-bbbbbb.msg'), 'secret');
    const open: Files['open'] = (path, flags, mode) => {
      if (path.includes('bbbbbb')) throw Object.assign(new Error('no'), { code: 'EACCES' });
      return realFiles.open(path, flags, mode);
    };
    const { clock, items } = rig(store, { files: { open } });
    assert.deepEqual(await items(id), []);
    await clock.advance(1000);
    assert.deepEqual(await items(id), []);
    await clock.advance(9500);
    await items(id);
    await clock.advance(10_000);
    assert.deepEqual(
      (await items(id)).map(({ content }) => content),
      ['', null],
    );
  });

  test('symlinks and pipes with the name of a message are neither counted nor told, and named', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-enqueued');
    const before = await rig(store).stems(id);
    symlinkSync('/etc/passwd', findMailbox(store, id, '2026-06-14T01-10-00-000Z-aaaaaa.msg'));
    execFileSync('mkfifo', [findMailbox(store, id, '2026-06-14T01-10-00-000Z-bbbbbb.msg.delivered')]);
    const { source, stems, output } = rig(store);
    assert.deepEqual(await stems(id), before);
    assert.deepEqual((await source.poll(source.named(id), UNSET, never)).unread, exactly(2));
    assert.equal(output.filter((line) => line.includes('aaaaaa.msg: is a symlink')).length, 1);
    assert.equal(output.filter((line) => line.includes('bbbbbb.msg.delivered: is a pipe')).length, 1);
  });

  test('what a listing misses while it is renamed is not gone; what is not there is', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-enqueued');
    const all = await rig(store).items(id);
    let misses = true;
    const readdir: Files['readdir'] = (path) =>
      realFiles.readdir(path).filter((name) => !misses || !name.includes('.msg'));
    const { source, stems } = rig(store, { files: { readdir } });
    assert.deepEqual(
      await stems(id, reported(all)),
      all.map(({ key }) => `${key} fresh`),
    );
    assert.deepEqual((await source.poll(source.named(id), reported(all), never)).unread, exactly(2));
    doorbell(store.places, id);
    assert.deepEqual(
      await stems(id, reported(all)),
      all.map(({ key }) => `${key} delivered`),
    );
    misses = false;
    await drain(handAt(), store.places, id, never);
    assert.deepEqual(
      await stems(id, reported(all)),
      all.map(({ key }) => `${key} read`),
    );
    rmSync(findMailbox(store, id), { recursive: true });
    assert.deepEqual(await stems(id, reported(all)), []);
  });

  test('one that is no citizen any more has an empty set, and is gone; one whose record broke is a fault', async () => {
    using store = garden('store');
    const { source, items } = rig(store);
    const [deleted, damaged] = [findCitizenId('cc-mixed'), findCitizenId('cc-enqueued')];
    await source.personas(never);
    assert.equal(source.isGone?.(source.named(deleted)), false);
    rmSync(join(store.places.sessions, `${deleted}.meta.json`));
    writeFileSync(join(store.places.sessions, `${damaged}.meta.json`), '{');
    const poll = await source.poll(source.named(deleted), UNSET, never);
    assert.deepEqual([poll.unread, await items(deleted)], [exactly(0), []]);
    await assert.rejects(async () => await source.poll(source.named(damaged), UNSET, never), { code: 'garden' });
    assert.deepEqual(
      [deleted, damaged].map((id) => source.isGone?.(source.named(id))),
      [true, true],
    );
  });

  test('a box that cannot be entered is the trouble of its citizen alone', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-never-armed');
    symlinkSync('/etc', findMailbox(store, id));
    const { source } = rig(store);
    const asked = async () => await source.poll(source.named(id), UNSET, never);
    await assert.rejects(asked, { code: 'unreadable', scope: { is: 'persona', key: `garden-${id}` } });
    await source.poll(source.named(findCitizenId('cc-mixed')), UNSET, never);
  });
});

describe('what did not change is not read again', () => {
  test('a look at a box costs a few stats, and finds what is renamed into it', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-mixed');
    const { stems, calls, items } = rig(store);
    const all = reported(await items(id));
    await items(id, all);
    calls();
    const before = await stems(id, all);
    assert.ok(calls() <= 5);
    doorbell(store.places, id);
    assert.notDeepEqual(await stems(id, all), before);
  });

  test('right after a change nothing is taken for granted, since a later one has the same time', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-mixed');
    let lists = 0;
    const readdir: Files['readdir'] = (path) => {
      if (path === findMailbox(store, id)) lists += 1;
      return realFiles.readdir(path);
    };
    const at = Date.now();
    utimesSync(findMailbox(store, id), at / 1000, at / 1000); // however long the copy of the store took
    const fresh = rig(store, { at, files: { readdir } });
    await fresh.stems(id);
    await fresh.stems(id);
    assert.equal(lists, 2);
    const old = rig(store, { files: { readdir } });
    await old.stems(id);
    await old.stems(id);
    assert.equal(lists, 3);
  });

  test('the pending list has the counts of what is as it was, and sends to look wherever it is not', async () => {
    using store = garden('store');
    let isRunning = false;
    const processes: GardenOptions['probes']['readProcesses'] = async (pids) =>
      new Map(pids.map((pid) => [pid, isRunning ? { is: 'running', startKey: 'linux:1' } : { is: 'gone' }]));
    fillLiveMarkers(store, 4321, 'linux:1');
    const { source } = rig(store, { probes: { ...NOBODY, readProcesses: processes } });
    const unknown = async (): Promise<readonly string[]> =>
      [...((await source.pending?.once(never))?.byAddress ?? [])].flatMap(([id, { unread }]) =>
        unread.is === 'exact' ? [] : [id],
      );
    const pollId = async (id: string) => await source.poll(source.named(id), UNSET, never);
    const all = (await source.personas(never)).map(({ address }) => address);
    assert.deepEqual(await unknown(), all, 'nobody was looked at');
    for (const id of all) await pollId(id);
    assert.deepEqual(await unknown(), []);
    const levels = await source.pending?.once(never);
    assert.deepEqual(levels?.byAddress.get(findCitizenId('cc-mixed')), { unread: exactly(3), urgent: exactly(0) });
    doorbell(store.places, findCitizenId('cc-mixed'));
    assert.deepEqual(await unknown(), [findCitizenId('cc-mixed')]);
    await pollId(findCitizenId('cc-mixed'));
    isRunning = true;
    assert.deepEqual(await unknown(), [findCitizenId('cc-enqueued'), findCitizenId('agy-direct')]);
    assert.equal((await pollId(findCitizenId('cc-enqueued'))).agentState.is, 'live');
    assert.equal((await pollId(findCitizenId('agy-direct'))).agentState.is, 'live');
    assert.deepEqual(await unknown(), []);
    rmSync(join(store.places.sessions, `${findCitizenId('cc-mixed')}.meta.json`));
    assert.deepEqual(await unknown(), [findCitizenId('cc-mixed')], 'it goes with a look');
    assert.deepEqual(await unknown(), []);
  });

  test('while nothing changes the pending list is the same map, and a citizen without a marker costs one stat', async () => {
    using store = garden('store');
    const { source, calls, clock } = rig(store);
    await clock.advance(1000);
    const all = await source.personas(never);
    const ask = async () => (await source.pending?.once(never))?.byAddress;
    for (const persona of all) await source.poll(persona, UNSET, never);
    await ask();
    const first = await ask();
    const markers = readdirSync(store.places.receivers).length;
    calls();
    assert.equal(await ask(), first);
    // Beside them: the directories of records, boxes and both kinds of markers.
    assert.ok(calls() <= all.length + markers + 6, `${all.length} boxes, ${markers} markers`);
    await source.poll(source.named(findCitizenId('cc-mixed')), UNSET, never);
    assert.equal(await ask(), first, 'a poll that finds the same changes nothing');
    doorbell(store.places, findCitizenId('cc-mixed'));
    assert.notEqual(await ask(), first);
  });

  test('records: one stat, until one comes, goes, or is written over', async () => {
    using store = garden('store');
    const { source, calls } = rig(store);
    await source.personas(never);
    const path = join(store.places.sessions, `${findCitizenId('cc-mixed')}.meta.json`);
    const label = () => source.named(findCitizenId('cc-mixed')).label;
    calls();
    await source.poll(source.named(findCitizenId('cc-never-armed')), UNSET, never);
    assert.ok(calls() <= 6);
    const text = readFileSync(path, 'utf8').replace(/"cwd": ".*"/, '"cwd": "/fields/elsewhere"');
    store.write('next', text);
    renameSync(store.at('next'), path);
    await source.personas(never);
    assert.equal(label(), 'claude-code · elsewhere');
    rmSync(path);
    await source.personas(never);
    assert.equal(source.record(findCitizenId('cc-mixed')), null);
  });

  test('a record that is written where it stands is found when the directory is doubted, every 10 min', async () => {
    using store = garden('store');
    const { source, clock } = rig(store);
    await source.personas(never);
    const path = join(store.places.sessions, `${findCitizenId('cc-mixed')}.meta.json`);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"cwd": ".*"/, '"cwd": "/fields/elsewhere"'));
    utimesSync(path, 0, 0);
    await source.personas(never);
    assert.notEqual(source.named(findCitizenId('cc-mixed')).label, 'claude-code · elsewhere');
    await clock.advance(600_000);
    await source.personas(never);
    assert.equal(source.named(findCitizenId('cc-mixed')).label, 'claude-code · elsewhere');
  });
});
