import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { type FakeFiles, fakeFiles, UID } from '../../../test/kit/fake-files.ts';
import { formatTakeLine, stillClocks } from '../../../test/kit/still-clocks.ts';
import { computeNonce, type Event, parseEventLine, toMailEventId, toOtherEventId } from '../../events/index.ts';
import { Fault, type PersonaId } from '../../model/index.ts';
import { type Clocks, silentLog } from '../../ports/index.ts';
import { type Database, migrate, openDatabase } from '../../state/index.ts';
import { type Outbox, type OutboxOptions, type OutboxRow, openOutbox, openOutboxReader } from './index.ts';
import { OUTBOX_SCHEMA } from './rows.ts';

const going = new AbortController().signal;
const JOURNAL = '/d/outbox.journal';

interface CursorState {
  readonly cursor: number;
}

interface Rig {
  readonly db: Database & { broken: boolean };
  readonly files: FakeFiles;
  readonly clock: FakeClock;
  readonly outbox: Outbox<CursorState>;
  readonly behind: [PersonaId, string | null][];
  readonly logged: string[];
}

/** A database whose commits can be made to fail. */
function watched(db: Database): Rig['db'] {
  return {
    ...db,
    broken: false,
    exec(sql) {
      if (sql === 'COMMIT' && this.broken) {
        throw new Fault('no-space', 'the disk is full', { is: 'machine', key: 'database' });
      }
      db.exec(sql);
    },
    get isTransaction() {
      return db.isTransaction;
    },
  };
}

function rig(more: Partial<OutboxOptions> & { files?: FakeFiles; onDb?: Rig['db'] } = {}): Rig {
  const db = more.onDb ?? watched(openDatabase(':memory:'));
  const files = more.files ?? fakeFiles();
  const clock = fakeClock();
  const behind: Rig['behind'] = [];
  const logged: string[] = [];
  const log = { ...silentLog, warn: (line: string) => logged.push(line), error: (line: string) => logged.push(line) };
  const outbox = openOutbox<CursorState>({
    db,
    disk: { files, log, uid: UID },
    clock,
    clocks: stillClocks,
    directory: '/d/state',
    journal: JOURNAL,
    onBehind: (persona, fault) => behind.push([persona, fault?.code ?? null]),
    ...more,
  });
  return { db, files, clock, outbox, behind, logged };
}

function mail(persona: PersonaId, id: number, content = `mail ${id}`): Event {
  return {
    event: 'new',
    source: 'kijito-inbox',
    ts: 'T',
    id,
    from: 'zoe',
    created: 'C',
    persona,
    content,
    event_id: toMailEventId(persona, id),
    wake_class: 'mail',
  };
}

function armed(persona: PersonaId, n: number): Event {
  const event_id = toOtherEventId(persona, 'armed', '0123456789abcdef', n);
  return { event: 'armed', source: 'kijito-inbox', ts: `T${n}`, persona, cursor: n, event_id, wake_class: 'liveness' };
}

const formatLines = (...events: Event[]): string => events.map(formatTakeLine).join('');
const ids = (rows: readonly OutboxRow[]): string[] => rows.map((row) => row.eventId);

describe('taking', () => {
  test('an acknowledged event is in the outbox and in the file, with what the watch remembers', async () => {
    const { outbox, files } = rig();
    const sink = outbox.sinkFor('ada', 'ada');
    assert.deepEqual([sink.savesState, (await sink.open()).eventIds.size], [true, 0]);
    assert.equal(outbox.readSaved('ada'), null);
    const events = [armed('ada', 1), mail('ada', 7)];
    assert.deepEqual(await sink.take(events, { cursor: 7 }, going), { is: 'all' });
    assert.equal(files.text('/d/state/events.ada.ndjson'), formatLines(...events));
    assert.deepEqual(outbox.readSaved('ada'), { cursor: 7 });
    assert.equal(outbox.lastEventId('ada'), 'ada:new:7');
    assert.equal(outbox.lastEventId('bo'), null);
    outbox[Symbol.dispose]();
  });

  test('1,000 personas at once are one flush', async () => {
    const { outbox, files } = rig();
    files.mishaps(null);
    const names = Array.from({ length: 1000 }, (_, i) => `p${i}`);
    const ack = await Promise.all(
      names.map((p, i) => outbox.sinkFor(p, p).take([mail(p, i + 1)], { cursor: i + 1 }, going)),
    );
    assert.equal(files.calls.filter((call) => /^f(data)?sync$/.test(call.name)).length, 1);
    assert.ok(ack.every((answer) => answer.is === 'all'));
    assert.ok(names.every((p, i) => files.text(`/d/state/events.${p}.ndjson`) === formatLines(mail(p, i + 1))));
    assert.deepEqual(outbox.readAllSaved().get('p999'), { cursor: 1000 });
    assert.equal(outbox.readAllSaved().size, 1000);
    outbox[Symbol.dispose]();
  });

  test('without events only the memory changes', async () => {
    const { outbox, files } = rig();
    const sink = outbox.sinkFor('ada', 'ada');
    assert.deepEqual(await sink.take([], { cursor: 3 }, going), { is: 'all' });
    assert.deepEqual(outbox.readSaved('ada'), { cursor: 3 });
    assert.equal(files.text('/d/state/events.ada.ndjson'), null);
    outbox[Symbol.dispose]();
  });

  test('mail that is in the outbox already is taken, and neither stored nor written nor told again', async () => {
    const { outbox, files } = rig();
    const reported: string[] = [];
    using _ = outbox.onDelivered((rows) => reported.push(...ids(rows)));
    const sink = outbox.sinkFor('ada', 'ada');
    await sink.take([mail('ada', 1)], { cursor: 1 }, going);
    assert.deepEqual(await sink.take([mail('ada', 1), mail('ada', 2)], { cursor: 2 }, going), { is: 'all' });
    assert.equal(files.text('/d/state/events.ada.ndjson'), formatLines(mail('ada', 1), mail('ada', 2)));
    assert.deepEqual(reported, ['ada:new:1', 'ada:new:2']);
    assert.deepEqual(outbox.readSaved('ada'), { cursor: 2 });
    outbox[Symbol.dispose]();
  });

  test('an edge that comes again under an id of before is an event of its own', async () => {
    const { outbox, files } = rig();
    const sink = outbox.sinkFor('ada', 'ada');
    await sink.take([armed('ada', 1)], { cursor: 1 }, going);
    await sink.take([armed('ada', 1)], { cursor: 1 }, going);
    assert.equal(files.text('/d/state/events.ada.ndjson'), formatLines(armed('ada', 1), armed('ada', 1)));
    outbox[Symbol.dispose]();
  });

  test('a failing journal takes nothing: no line, no memory, no follower; the same events are taken later', async () => {
    const { outbox, files } = rig();
    const reported: string[] = [];
    using _ = outbox.onDelivered((rows) => reported.push(...ids(rows)));
    const sinks = ['ada', 'bo'].map((p) => outbox.sinkFor(p, p));
    const batch = () =>
      Promise.all(sinks.map((sink, i) => sink.take([mail(['ada', 'bo'][i] ?? '', 1)], { cursor: 1 }, going)));
    for (const call of ['write', 'fdatasync']) {
      files.mishaps(({ name }) => (name === call ? { is: 'fails', code: 'ENOSPC' } : null), JOURNAL);
      for (const answer of await batch()) {
        assert.ok(answer.is === 'stopped' && answer.count === 0 && answer.fault.code === 'no-space');
      }
      assert.deepEqual([files.text('/d/state/events.ada.ndjson'), outbox.readSaved('ada'), reported], [null, null, []]);
      assert.equal(files.text(JOURNAL), '');
    }
    files.mishaps(null);
    assert.deepEqual(await batch(), [{ is: 'all' }, { is: 'all' }]);
    assert.equal(files.text('/d/state/events.bo.ndjson'), formatLines(mail('bo', 1)));
    outbox[Symbol.dispose]();
  });

  test('a failing database stops nothing: it is said once, and filled in when it works again', async () => {
    const { outbox, db, files, clock, logged } = rig();
    const sink = outbox.sinkFor('ada', 'ada');
    await sink.take([mail('ada', 1)], { cursor: 1 }, going);
    db.broken = true;
    for (let id = 2; id <= 3; id += 1) {
      assert.deepEqual(await sink.take([mail('ada', id)], { cursor: id }, going), { is: 'all' });
      await clock.advance(40_000);
    }
    assert.equal(files.text('/d/state/events.ada.ndjson'), formatLines(mail('ada', 1), mail('ada', 2), mail('ada', 3)));
    assert.throws(() => outbox.newest(), { code: 'no-space' });
    assert.equal(logged.filter((line) => line.includes('the outbox cannot be filled')).length, 1);
    db.broken = false;
    await clock.advance(31_000);
    assert.equal(openOutboxReader(db).newest()?.eventId, 'ada:new:3');
    outbox[Symbol.dispose]();
  });

  test('what waits when the outbox is closed is committed; what comes later is refused', async () => {
    const { outbox, files, clock } = rig();
    const sink = outbox.sinkFor('ada', 'ada');
    const last = sink.take([mail('ada', 1)], { cursor: 1 }, going);
    outbox[Symbol.dispose]();
    assert.deepEqual(await last, { is: 'all' });
    assert.equal(files.text('/d/state/events.ada.ndjson'), formatLines(mail('ada', 1)));
    const late = await sink.take([mail('ada', 2)], { cursor: 2 }, going);
    assert.ok(late.is === 'stopped' && late.fault.code === 'internal');
    assert.equal(clock.waiting, 0);
    assert.equal(files.openDescriptors, 0);
  });

  test('trap 64: what is taken is stamped once, with when it was really taken; file, rows and followers have that text', async () => {
    let reads = 0;
    const clocks: Clocks = {
      read: () => ({ wall: ++reads, monotonic: { seconds: reads, src: 'CLOCK_MONOTONIC' }, boottime: null }),
    };
    const { outbox, files, clock } = rig({ clocks });
    const reported: string[] = [];
    using _ = outbox.onDelivered((rows) => reported.push(...rows.map(({ line }) => line)));
    const sink = outbox.sinkFor('ada', 'ada');
    const batch = [armed('ada', 1), mail('ada', 1)];
    files.mishaps(({ name }) => (name === 'fdatasync' ? { is: 'fails', code: 'ENOSPC' } : null), JOURNAL);
    assert.equal((await sink.take(batch, { cursor: 1 }, going)).is, 'stopped');
    files.mishaps(null);
    assert.deepEqual(await sink.take(batch, { cursor: 1 }, going), { is: 'all' });
    await clock.advance(60_000);
    const lines = outbox.after('ada', 0, 10).map(({ line }) => line);
    assert.deepEqual(lines, reported);
    assert.equal(files.text('/d/state/events.ada.ndjson'), lines.map((line) => `${line}\n`).join(''));
    const events = lines.map((line) => parseEventLine(line));
    assert.deepEqual(
      events.map((event) => [event?.event_id, event?.nonce, event?.emitted?.monotonic]),
      batch.map(({ event_id }) => [event_id, computeNonce(event_id), 2]),
      'the second reading, one for both',
    );
    assert.equal(reads, 2);
    await Promise.all(
      ['bo', 'cy', 'di', 'eve'].map((p) => outbox.sinkFor(p, p).take([mail(p, 1)], { cursor: 1 }, going)),
    );
    assert.equal(reads, 3, 'one for each flush, not for each take');
    outbox[Symbol.dispose]();
  });

  test('an outbox of before the journal is taken over: what it told is not told again', async () => {
    const onDb = watched(openDatabase(':memory:'));
    migrate(onDb, 'outbox', OUTBOX_SCHEMA.slice(0, 1));
    const insert = onDb.prepare(
      "INSERT INTO outbox (persona, event_id, is_mail, line, at) VALUES ('a:b', ?, 1, 'a line', 0)",
    );
    for (const id of [5, 12, 9]) insert.run(toMailEventId('a:b', id));
    onDb.exec(`INSERT INTO watches VALUES ('a:b', '{"cursor":4}', 3), ('bo', '{"cursor":0}', 0)`);
    const { outbox } = rig({ onDb });
    const reported: string[] = [];
    using _ = outbox.onDelivered((rows) => reported.push(...ids(rows)));
    assert.deepEqual(outbox.readSaved('a:b'), { cursor: 4 });
    const batch = [5, 9, 12, 13].map((id) => mail('a:b', id));
    assert.deepEqual(await outbox.sinkFor('a:b', 'ab').take(batch, { cursor: 13 }, going), { is: 'all' });
    assert.deepEqual(reported, ['a:b:new:13']);
    assert.equal(outbox.newest()?.seq, 4);
    outbox[Symbol.dispose]();
  });

  test('mail out of order is told once, whether it is in the tables, in the journal or in the same take', async () => {
    const { outbox, files } = rig();
    const reported: string[] = [];
    using _ = outbox.onDelivered((rows) => reported.push(...ids(rows)));
    const sink = outbox.sinkFor('ada', 'ada');
    const take = (...mails: number[]) =>
      sink.take(
        mails.map((id) => mail('ada', id)),
        { cursor: 9 },
        going,
      );
    await take(5, 3, 5);
    await take(3, 4, 5);
    outbox.newest(); // into the tables
    await Promise.all([take(2, 4), take(2, 6, 1)]);
    const order = [5, 3, 4, 2, 6, 1];
    assert.deepEqual(
      reported,
      order.map((id) => `ada:new:${id}`),
    );
    assert.equal(files.text('/d/state/events.ada.ndjson'), formatLines(...order.map((id) => mail('ada', id))));
    outbox[Symbol.dispose]();
  });

  test('two personas cannot have one file', async () => {
    const { outbox } = rig();
    await outbox.sinkFor('Ada', 'ada').open();
    await assert.rejects(
      outbox.sinkFor('ada', 'ada').open(),
      /events\.ada\.ndjson cannot be the event file of ada, which would share it with Ada/,
    );
    outbox[Symbol.dispose]();
  });
});

describe('followers', () => {
  test('are told after the commit, in order, with what the file has by then', async () => {
    const { outbox, files } = rig();
    const seen: [string, boolean][] = [];
    using _ = outbox.onDelivered((rows) => {
      for (const row of rows) {
        const inFile = files.text(`/d/state/events.${row.persona}.ndjson`)?.includes(row.line) ?? false;
        seen.push([row.eventId, inFile && outbox.lastEventId(row.persona) === row.eventId]);
      }
    });
    await Promise.all(['ada', 'bo'].map((p) => outbox.sinkFor(p, p).take([mail(p, 1)], { cursor: 1 }, going)));
    assert.deepEqual(seen, [
      ['ada:new:1', true],
      ['bo:new:1', true],
    ]);
    outbox[Symbol.dispose]();
  });

  test('one that throws harms neither the take nor the others', async () => {
    const { outbox, logged } = rig();
    const reported: string[] = [];
    using _bad = outbox.onDelivered(() => {
      throw new Error('mistake');
    });
    using _good = outbox.onDelivered((rows) => reported.push(...ids(rows)));
    assert.deepEqual(await outbox.sinkFor('ada', 'ada').take([mail('ada', 1)], { cursor: 1 }, going), { is: 'all' });
    assert.deepEqual([reported, logged], [['ada:new:1'], ['a follower of the outbox failed']]);
    outbox[Symbol.dispose]();
  });

  test('replay from an event id, of one persona or all, in the order they were taken', async () => {
    const { outbox, db } = rig();
    for (let id = 1; id <= 3; id += 1) {
      for (const p of ['ada', 'bo']) await outbox.sinkFor(p, p).take([mail(p, id)], { cursor: id }, going);
    }
    const elsewhere = openOutboxReader(db);
    assert.equal(elsewhere.newest()?.eventId, 'bo:new:1', 'what came since is not in the tables yet');
    assert.equal(outbox.newest()?.eventId, 'bo:new:3');
    assert.equal(elsewhere.newest()?.eventId, 'bo:new:3');
    assert.equal(openOutboxReader(openDatabase(':memory:')).newest(), null);
    const since = (persona: string | null, after: string | null, limit = 100) => {
      const replay = elsewhere.since(persona, after, limit);
      return replay.is === 'rows' ? ids(replay.rows) : replay.is;
    };
    assert.deepEqual(since(null, null, 3), ['ada:new:1', 'bo:new:1', 'ada:new:2']);
    assert.deepEqual(since(null, 'ada:new:2'), ['bo:new:2', 'ada:new:3', 'bo:new:3']);
    assert.deepEqual(since('ada', 'bo:new:1'), ['ada:new:2', 'ada:new:3']);
    assert.deepEqual(since('bo', 'bo:new:3'), []);
    assert.equal(since('ada', 'ada:new:9'), 'unknown-id');
    const [first] = elsewhere.after(null, 0, 1);
    assert.deepEqual(first, {
      seq: 1,
      persona: 'ada',
      eventId: 'ada:new:1',
      line: formatTakeLine(mail('ada', 1)).trimEnd(),
    });
    assert.deepEqual(ids(elsewhere.after('bo', 4, 9)), ['bo:new:3']);
    outbox[Symbol.dispose]();
  });
});

describe('keeping', () => {
  test('what a file that is behind lacks stays, however old and many it is', async () => {
    const { outbox, clock, files } = rig({ retention: { keepMs: 1000, keepRows: 2 } });
    const sink = outbox.sinkFor('ada', 'ada');
    await sink.take([mail('ada', 1)], { cursor: 1 }, going);
    files.mishaps((call) => (call.name === 'write' ? { is: 'fails', code: 'ENOSPC' } : null), '/d/state');
    for (let id = 2; id <= 9; id += 1) await sink.take([mail('ada', id)], { cursor: id }, going);
    await clock.advance(60_000);
    assert.deepEqual(ids(outbox.after('ada', 0, 100)).at(0), 'ada:new:2');
    files.mishaps(null);
    await clock.advance(31_000);
    const all = Array.from({ length: 9 }, (_, i) => mail('ada', i + 1));
    assert.equal(files.text('/d/state/events.ada.ndjson'), formatLines(...all));
    outbox[Symbol.dispose]();
  });

  test('what is published, old and not among the newest is deleted; what is not published never', async () => {
    const { outbox, clock, files } = rig({ retention: { keepMs: 60_000, keepRows: 3 } });
    const sink = outbox.sinkFor('ada', 'ada');
    for (let id = 1; id <= 6; id += 1) await sink.take([mail('ada', id)], { cursor: id }, going);
    await clock.advance(45_000);
    assert.equal(outbox.after('ada', 0, 100).length, 6); // young
    await clock.advance(60_000);
    files.mishaps((call) => (call.name === 'write' ? { is: 'fails', code: 'EIO' } : null), '/d/state');
    for (let id = 7; id <= 300; id += 1) await sink.take([mail('ada', id)], { cursor: id }, going);
    await clock.advance(120_000);
    assert.equal(outbox.after('ada', 0, 1000).length, 300); // not in the file
    files.mishaps(null);
    await clock.advance(120_000);
    await sink.take([mail('ada', 301)], { cursor: 301 }, going);
    for (let id = 302; id <= 600; id += 1) await sink.take([mail('ada', id)], { cursor: id }, going);
    await clock.advance(45_000);
    const saved = outbox.after('ada', 0, 1000);
    assert.equal(saved[0]?.eventId, 'ada:new:301'); // older than a minute is gone
    assert.equal(saved.length, 300);
    outbox[Symbol.dispose]();
  });
});

describe('what the disk changed', () => {
  test('A4 given a changed row of the outbox, it is told as damaged and never as what happened', async () => {
    const { db, outbox } = rig();
    const sink = outbox.sinkFor('ada', 'ada');
    await sink.open();
    const event = (id: number, content: string): Event =>
      ({
        ...{
          event: 'new',
          source: 'kijito-inbox',
          ts: '2026-11-28T01:00:00.000000+00:00',
          id,
          from: 'bo',
          created: null,
        },
        ...{ persona: 'ada', content, event_id: toMailEventId('ada', id), wake_class: 'mail' },
      }) as Event;
    await sink.take([event(1, 'pay 100'), event(2, 'hello')], { cursor: 2 }, going);
    assert.equal(outbox.listNewest('ada', 10).length, 2);
    db.exec("UPDATE outbox SET line = replace(line, '100', '900') WHERE event_id = 'ada:new:1'");
    for (const rows of [outbox.listNewest('ada', 10), outbox.after(null, 0, 10), outbox.after('ada', 0, 10)]) {
      const [damaged, whole] = rows.map(({ line }) => parseEventLine(line) as unknown as Record<string, unknown>);
      assert.deepEqual(
        [damaged?.event, damaged?.event_id, damaged?.wake_class],
        ['damaged', 'ada:new:1', 'diagnostic'],
      );
      assert.deepEqual([whole?.event, whole?.content], ['new', 'hello']);
    }
    assert.deepEqual(
      outbox.lastMail('ada', 10).map(({ event_id: id }) => id),
      ['ada:new:2'],
    );
  });

  test('A4 given a changed checkpoint, it is not believed', async () => {
    const { db, outbox, logged } = rig();
    const sink = outbox.sinkFor('ada', 'ada');
    await sink.open();
    await sink.take([], { cursor: 7 }, going);
    assert.deepEqual(outbox.readSaved('ada'), { cursor: 7 });
    db.exec(`UPDATE watches SET kept = '{"cursor":97}'`);
    assert.equal(outbox.readSaved('ada'), null);
    assert.deepEqual(outbox.readAllSaved(), new Map());
    assert.ok(logged.some((line) => line.includes('the checkpoint of ada is damaged')));
  });
});
