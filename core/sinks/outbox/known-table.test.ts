import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { type FakeFiles, fakeFiles, UID } from '../../../test/kit/fake-files.ts';
import { stillClocks } from '../../../test/kit/still-clocks.ts';
import type { Event } from '../../events/index.ts';
import type { KnownItem, KnownSet } from '../../model/index.ts';
import { silentLog } from '../../ports/index.ts';
import { type Database, openDatabase } from '../../state/index.ts';
import { type Outbox, openOutbox } from './index.ts';
import { findChange } from './rows.ts';

const going = new AbortController().signal;
const JOURNAL = '/d/outbox.journal';

interface KnownSetState {
  readonly state: string;
  readonly known?: KnownSet;
}

function life(db: Database, files: FakeFiles): Outbox<KnownSetState> {
  return openOutbox<KnownSetState>({
    db,
    disk: { files, log: silentLog, uid: UID },
    clock: fakeClock(),
    clocks: stillClocks,
    directory: '/d/state',
    journal: JOURNAL,
    onBehind: () => {},
  });
}

const thing = (key: string, seq: number | null, fingerprint = 'fresh'): KnownItem => {
  const isReported = seq !== null;
  return {
    key,
    seq,
    fingerprint,
    changes: 0,
    vanished: isReported ? 'gone' : null,
    extra: isReported ? { stem: key, n: null } : {},
  };
};
const createKnownSet = (...keys: readonly KnownItem[]): KnownSet => ({ epoch: '1', next: keys.length + 1, keys });
const byKey = (set: KnownSet | undefined): object => ({
  ...set,
  keys: set?.keys.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
});

function event(name: 'new' | 'read', id: number): Event {
  const base = { source: 'garden', ts: 'T', id, persona: 'ada' };
  if (name === 'new')
    return { ...base, event: name, from: null, created: null, event_id: `ada:new:${id}`, wake_class: 'mail' };
  return { ...base, event: name, event_id: `ada:read:${id}-1`, wake_class: 'liveness' };
}

describe('what a watch remembers of a set', () => {
  test('comes back whole after a restart, with whatever else it wants remembered', async () => {
    const db = openDatabase(':memory:');
    const files = fakeFiles();
    const first = life(db, files);
    const known = createKnownSet(thing('b', 1), thing('a', 2, 'read'), thing('c', null), {
      ...thing('q', 3),
      asks: true,
    });
    await first.sinkFor('ada', 'ada').take([event('new', 1)], { state: 'UP', known }, going);
    assert.equal(first.readSaved('ada')?.known?.keys, known.keys);
    const second = life(db, files);
    assert.deepEqual(byKey(second.readSaved('ada')?.known), byKey(known));
    assert.deepEqual(byKey(second.readAllSaved().get('ada')?.known), byKey(known));
    assert.equal(second.readSaved('ada')?.state, 'UP');
  });

  test('is written as far as it changed: one message does not cost the whole box', async () => {
    const db = openDatabase(':memory:');
    const files = fakeFiles();
    const outbox = life(db, files);
    const sink = outbox.sinkFor('ada', 'ada');
    const box = Array.from({ length: 1000 }, (_, i) => thing(`stem-${i}`, i + 1));
    await sink.take([], { state: 'UP', known: createKnownSet(...box) }, going);
    const before = files.text(JOURNAL)?.length ?? 0;
    const [first = thing('', 0), ...rest] = box;
    const changed = [{ ...first, fingerprint: 'read' }, ...rest.slice(1), thing('newest', 1001)];
    await sink.take([event('new', 1001)], { state: 'UP', known: { ...createKnownSet(...changed), next: 1002 } }, going);
    const added = (files.text(JOURNAL) ?? '').slice(before);
    assert.ok(added.length < 2000, `${added.length} characters`);
    assert.deepEqual(added.match(/"drop":.*?\]/)?.[0], '"drop":["stem-1"]');
    await sink.take([event('read', 2)], { state: 'DOWN', known: { ...createKnownSet(...changed), next: 1002 } }, going);
    assert.ok(!(files.text(JOURNAL) ?? '').slice(before + added.length).includes('drop'), 'nothing changed');
    assert.deepEqual(byKey(life(db, files).readSaved('ada')?.known), byKey({ epoch: '1', next: 1002, keys: changed }));
  });

  test('is as it was when its events were not taken, and the next take has it all', async () => {
    const db = openDatabase(':memory:');
    const files = fakeFiles();
    const outbox = life(db, files);
    const sink = outbox.sinkFor('ada', 'ada');
    const firstSet = createKnownSet(thing('a', 1));
    await sink.take([event('new', 1)], { state: 'UP', known: firstSet }, going);
    files.mishaps((call) => (call.name === 'write' ? { is: 'fails', code: 'ENOSPC' } : null));
    const secondSet = createKnownSet(...firstSet.keys, thing('b', 2));
    assert.equal((await sink.take([event('new', 2)], { state: 'UP', known: secondSet }, going)).is, 'stopped');
    assert.equal(outbox.readSaved('ada')?.known?.keys.length, 1);
    files.mishaps(null);
    const thirdSet = createKnownSet(...secondSet.keys, thing('c', 3));
    await sink.take([event('new', 2), event('new', 3)], { state: 'UP', known: thirdSet }, going);
    assert.deepEqual(byKey(life(db, files).readSaved('ada')?.known), byKey(thirdSet));
  });

  test('is of one persona, and another one in its place is all that stays', async () => {
    const db = openDatabase(':memory:');
    const files = fakeFiles();
    const outbox = life(db, files);
    await Promise.all(
      ['ada', 'bo'].map((persona) =>
        outbox
          .sinkFor(persona, persona)
          .take([], { state: 'UP', known: createKnownSet(thing(`of ${persona}`, 1)) }, going),
      ),
    );
    await outbox.sinkFor('ada', 'ada').take([], { state: 'UP' }, going);
    assert.equal(outbox.readSaved('ada')?.known, undefined);
    const other = { ...createKnownSet(thing('other', 5)), epoch: '2' };
    const again = life(db, files);
    await again.sinkFor('ada', 'ada').take([], { state: 'UP', known: other }, going);
    const all = life(db, files).readAllSaved();
    assert.deepEqual([all.get('ada')?.known, all.get('bo')?.known], [other, createKnownSet(thing('of bo', 1))]);
  });

  test('a thing of the same name with somebody else stays there', async () => {
    const db = openDatabase(':memory:');
    const files = fakeFiles();
    const outbox = life(db, files);
    const [ada, bo] = [outbox.sinkFor('ada', 'ada'), outbox.sinkFor('bo', 'bo')];
    for (const sink of [ada, bo]) await sink.take([], { state: 'UP', known: createKnownSet(thing('a', 1)) }, going);
    await ada.take([], { state: 'UP', known: createKnownSet() }, going);
    const all = life(db, files).readAllSaved();
    assert.deepEqual([all.get('ada')?.known?.keys, all.get('bo')?.known?.keys], [[], [thing('a', 1)]]);
  });

  test('two takes of one group are written one after the other', async () => {
    const db = openDatabase(':memory:');
    const files = fakeFiles();
    const outbox = life(db, files);
    const sink = outbox.sinkFor('ada', 'ada');
    const [a, b, c] = [thing('a', 1), thing('b', 2), thing('c', 3)];
    await Promise.all([
      outbox.sinkFor('bo', 'bo').take([], { state: 'UP' }, going),
      sink.take([event('new', 1)], { state: 'UP', known: createKnownSet(a, b) }, going),
      sink.take([event('new', 3)], { state: 'UP', known: createKnownSet(b, c) }, going),
    ]);
    assert.deepEqual(byKey(life(db, files).readSaved('ada')?.known), byKey(createKnownSet(b, c)));
  });

  test('whatever a key is: it is the same after a restart', async () => {
    const keys = [
      '__proto__',
      'constructor',
      '',
      'a\0b',
      '\ud800',
      '\udc00\ud800',
      '"',
      "'; DROP TABLE known; --",
      '😀',
    ];
    const db = openDatabase(':memory:');
    const files = fakeFiles();
    const known = createKnownSet(
      ...keys.map((key, i) => ({ ...thing(key, i + 1), fingerprint: key, extra: { [key]: key } })),
    );
    await life(db, files).sinkFor('ada', 'ada').take([], { state: 'UP', known }, going);
    assert.deepEqual(byKey(life(db, files).readSaved('ada')?.known), byKey(known));
  });

  test('whatever changes: what is stored and what is remembered are the same, through refusals, kills and restarts', async () => {
    const op = fc.record({
      drop: fc.subarray(['a', 'b', 'c', 'd']),
      put: fc.subarray(['a', 'b', 'c', 'd', 'e']),
      fingerprint: fc.constantFrom('fresh', 'read'),
      turned: fc.boolean(),
      ends: fc.constantFrom('go on', 'go on', 'refuse', 'restart', 'restart from JSON', 'fill'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(op, { maxLength: 12 }), async (ops) => {
        const db = openDatabase(':memory:');
        const files = fakeFiles();
        let outbox = life(db, files);
        let keys: readonly KnownItem[] = [];
        let acknowledged: KnownSet | undefined;
        let next = 1;
        for (const { drop, put, fingerprint, turned, ends } of ops) {
          const left = keys.filter(({ key }) => !drop.includes(key));
          const stays = left.map((item) =>
            put.includes(item.key) ? { ...item, fingerprint, changes: item.changes + 1 } : item,
          );
          const added = put
            .filter((key) => !left.some((item) => item.key === key))
            .map((key) => thing(key, next++, fingerprint));
          keys = turned ? [...added, ...stays] : [...stays, ...added];
          const known = { epoch: '1', next, keys };
          if (ends === 'refuse') files.mishaps((call) => (call.name === 'write' ? { is: 'fails', code: 'EIO' } : null));
          const ack = await outbox.sinkFor('ada', 'ada').take([], { state: 'UP', known }, going);
          files.mishaps(null);
          if (ack.is === 'all') acknowledged = known;
          assert.equal(ack.is, ends === 'refuse' ? 'stopped' : 'all');
          if (ends === 'fill') outbox.readSaved('ada');
          if (!ends.startsWith('restart')) continue;
          outbox = life(db, files);
          const saved = outbox.readSaved('ada')?.known;
          assert.deepEqual(byKey(saved), byKey(acknowledged));
          keys = saved?.keys ?? [];
          if (ends === 'restart from JSON') keys = JSON.parse(JSON.stringify(keys)) as readonly KnownItem[];
        }
        const last = life(db, files).readSaved('ada')?.known;
        if (acknowledged === undefined) assert.equal(last, undefined);
        else assert.deepEqual(byKey(last), byKey(acknowledged));
      }),
      { numRuns: 150 },
    );
  });
});

describe('ids', () => {
  test('a sink says the highest that was ever told, of mail or of its changes, also after a restart', async () => {
    const db = openDatabase(':memory:');
    const files = fakeFiles();
    const sink = life(db, files).sinkFor('ada', 'ada');
    assert.equal((await sink.open()).newest, 0);
    await sink.take([event('new', 3), event('read', 9)], { state: 'UP' }, going);
    assert.equal((await sink.open()).newest, 9);
    assert.equal((await life(db, files).sinkFor('ada', 'ada').open()).newest, 9);
  });

  test('mail below an id that was told of is new all the same, once', async () => {
    const outbox = life(openDatabase(':memory:'), fakeFiles());
    const sink = outbox.sinkFor('ada', 'ada');
    for (const each of [event('read', 9), event('new', 5), event('new', 5)])
      await sink.take([each], { state: 'UP' }, going);
    assert.deepEqual(
      outbox.after('ada', 0, 9).map((row) => row.eventId),
      ['ada:read:9-1', 'ada:new:5'],
    );
  });
});

test('a change is as small as can be: what is the same object in the same order is passed over', () => {
  const [a, b, c] = [thing('a', 1), thing('b', 2), thing('c', 3)];
  const change = (before: KnownItem[], after: KnownItem[], gone?: KnownItem[]) =>
    findChange({ keys: before }, gone === undefined ? { keys: after } : { keys: after, gone });
  assert.equal(change([a, b], [a, b]), null);
  assert.deepEqual(change([a, b], [b, c]), {
    drop: ['a'],
    put: [['c', 3, 'fresh', 0, 'gone', { stem: 'c', n: null }]],
  });
  assert.deepEqual(change([a, b, c], []), { drop: ['a', 'b', 'c'], put: [] });
  assert.deepEqual(change([a, b], [a, { ...b, fingerprint: 'read' }])?.put.length, 1);
  const back = { ...a, vanished: null, extra: {} };
  assert.deepEqual(change([a, b], [b], [back]), { drop: ['a'], put: [['a', 1, 'fresh', 0, null, {}, true]] });
  assert.deepEqual(findChange({ keys: [b], gone: [back] }, { keys: [b, a] })?.drop, ['a']);
});
