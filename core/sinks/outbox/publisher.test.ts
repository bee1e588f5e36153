import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { type FakeFiles, fakeFiles, UID } from '../../../test/kit/fake-files.ts';
import { formatTakeLine, stillClocks } from '../../../test/kit/still-clocks.ts';
import { type Event, toMailEventId } from '../../events/index.ts';
import { Fault } from '../../model/index.ts';
import { O, silentLog } from '../../ports/index.ts';
import { type Database, openDatabase } from '../../state/index.ts';
import { type Outbox, openOutbox, type Rotation } from './index.ts';

const going = new AbortController().signal;
/** Here things go wrong; the journal has a disk of its own unless a test says otherwise. */
const FOLDER = '/d/state';
const FILE = `${FOLDER}/events.ada.ndjson`;

function mail(id: number, content = `mail ${id} 😀é`, persona = 'ada'): Event {
  const common = { event: 'new', source: 'kijito-inbox', ts: 'T', id, from: 'zoe', created: 'C', persona } as const;
  return { ...common, content, event_id: toMailEventId(persona, id), wake_class: 'mail' };
}

const line = (id: number): string => formatTakeLine(mail(id));
const linesTo = (last: number, from = 1): string =>
  Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => line(from + i)).join('');

interface Life {
  readonly outbox: Outbox<{ cursor: number }>;
  readonly clock: FakeClock;
  readonly behind: (string | null)[];
  readonly logged: string[];
  /** Takes these mails one after another. */
  mails(from: number, to: number): Promise<void>;
}

const ROOMY: Rotation = { maxBytes: 5_000_000, keep: 5 };

/** One run of the process on a database and a disk that outlive it. */
async function life(db: Database, files: FakeFiles, rotation = ROOMY): Promise<Life> {
  const clock = fakeClock();
  const behind: (string | null)[] = [];
  const logged: string[] = [];
  const log = { ...silentLog, warn: (text: string) => logged.push(text), info: (text: string) => logged.push(text) };
  const outbox = openOutbox<{ cursor: number }>({
    db,
    disk: { files, log, uid: UID },
    clock,
    clocks: stillClocks,
    directory: FOLDER,
    journal: '/d/outbox.journal',
    rotation,
    onBehind: (_, fault) => behind.push(fault === null ? null : fault.code),
  });
  const sink = outbox.sinkFor('ada', 'ada');
  await sink.open();
  const mails = async (from: number, to: number): Promise<void> => {
    for (let id = from; id <= to; id += 1) {
      const ack = await sink.take([mail(id)], { cursor: id }, going);
      if (ack.is === 'stopped') throw ack.fault;
    }
  };
  return { outbox, clock, behind, logged, mails };
}

/** Everything a follower could have read: the archives, oldest first, and the live file. */
function published(files: FakeFiles): string {
  const archives = files.list('/d/state').filter((path) => path.startsWith(`${FILE}.`));
  const oldestFirst = archives.sort((a, b) => Number(b.split('.').at(-1)) - Number(a.split('.').at(-1)));
  return [...oldestFirst, FILE].map((path) => files.text(path) ?? '').join('');
}

describe('an event file', () => {
  test('is private, and one write call holds all lines of a take', async () => {
    const files = fakeFiles();
    const { outbox } = await life(openDatabase(':memory:'), files);
    await outbox.sinkFor('ada', 'ada').take([mail(1), mail(2), mail(3)], { cursor: 3 }, going);
    assert.equal(files.calls.filter((call) => call.name === 'write' && call.path === FILE).length, 1);
    assert.equal(files.text(FILE), linesTo(3));
    const fd = files.open(FILE, O.RDONLY, 0);
    assert.equal(files.fstat(fd).mode, 0o600);
    outbox[Symbol.dispose]();
  });

  test('that was deleted comes back with the next event, and old events do not', async () => {
    const files = fakeFiles();
    const { outbox, mails } = await life(openDatabase(':memory:'), files);
    await mails(1, 2);
    files.unlink(FILE);
    await mails(3, 3);
    assert.equal(files.text(FILE), line(3));
    outbox[Symbol.dispose]();
  });

  test('that was emptied by its reader goes on, also across a restart', async () => {
    const files = fakeFiles();
    const db = openDatabase(':memory:');
    const first = await life(db, files);
    await first.mails(1, 3);
    first.outbox[Symbol.dispose]();
    files.put(FILE, '');
    const second = await life(db, files);
    await second.mails(4, 4);
    assert.equal(files.text(FILE), line(4));
    second.outbox[Symbol.dispose]();
  });

  test('is rotated when it is full, never inside a batch, and keeps so many archives', async () => {
    const files = fakeFiles();
    const { outbox, mails } = await life(openDatabase(':memory:'), files, { maxBytes: line(1).length * 2, keep: 3 });
    await outbox.sinkFor('ada', 'ada').take([mail(1), mail(2), mail(3), mail(4), mail(5)], { cursor: 5 }, going);
    await mails(6, 12);
    assert.deepEqual(
      files.list('/d/state').map((path) => [path.slice('/d/state/'.length), files.text(path)]),
      [
        ['events.ada.ndjson', line(12)],
        ['events.ada.ndjson.1', linesTo(11, 10)],
        ['events.ada.ndjson.2', linesTo(9, 8)],
        ['events.ada.ndjson.3', linesTo(7, 6)],
      ],
    );
    await mails(13, 13);
    assert.equal(files.text(FILE), '');
    outbox[Symbol.dispose]();
  });

  test('that cannot be rotated grows on, is said once, and is rotated later', async () => {
    const files = fakeFiles();
    const { outbox, mails, logged, behind } = await life(openDatabase(':memory:'), files, { maxBytes: 1, keep: 3 });
    files.mishaps((call) => (call.name === 'rename' ? { is: 'fails', code: 'EACCES' } : null));
    await mails(1, 3);
    assert.equal(files.text(FILE), linesTo(3));
    assert.equal(logged.length, 1);
    files.mishaps(null);
    await mails(4, 4);
    assert.equal(files.text(`${FILE}.1`), linesTo(4));
    assert.deepEqual(behind, []);
    outbox[Symbol.dispose]();
  });

  test('loses no archive to a rotation that stops half-way again and again', async () => {
    const files = fakeFiles();
    const { outbox, mails } = await life(openDatabase(':memory:'), files, { maxBytes: 1, keep: 3 });
    await mails(1, 3);
    files.mishaps((call) => (call.name === 'rename' && call.path === FILE ? { is: 'fails', code: 'EACCES' } : null));
    await mails(4, 8);
    files.mishaps(null);
    await mails(9, 9);
    assert.equal(published(files), linesTo(9, 2));
    outbox[Symbol.dispose]();
  });

  test('whose last line somebody tore while we run is mended before the next line', async () => {
    const files = fakeFiles();
    const { outbox, mails } = await life(openDatabase(':memory:'), files);
    await mails(1, 2);
    files.put(FILE, `${linesTo(2)}{"event": "hal`);
    await mails(3, 3);
    assert.equal(files.text(FILE), linesTo(3));
    outbox[Symbol.dispose]();
  });
});

describe('a file that refuses', () => {
  const refusals: [string, (files: FakeFiles) => void, string, RegExp][] = [
    ['a symbolic link', (files) => files.symlink(FILE, '/d/elsewhere'), 'unwritable', /symlink/],
    ['a pipe', (files) => files.put(FILE, '', { kind: 'other' }), 'unwritable', /not a regular file/],
    ["another user's file", (files) => files.put(FILE, '', { uid: 5 }), 'unwritable', /belongs to user 5/],
    ['a read-only disk', (files) => failing(files, 'open', 'EROFS'), 'unwritable', /read-only/],
    ['a full disk', (files) => failing(files, 'write', 'ENOSPC'), 'no-space', /no space left/],
  ];

  function failing(files: FakeFiles, name: string, code: string): void {
    files.mishaps((call) => (call.name === name ? { is: 'fails', code } : null), FOLDER);
  }

  for (const [label, make, code, message] of refusals) {
    test(`${label}: the takes go on, it is said once, and the file gets all in order once it can`, async () => {
      const files = fakeFiles();
      const { outbox, clock, behind, logged, mails } = await life(openDatabase(':memory:'), files);
      make(files);
      await mails(1, 3);
      await clock.advance(120_000);
      await mails(4, 4);
      assert.deepEqual(behind, [code]);
      assert.equal(logged.length, 1);
      assert.match(logged[0] ?? '', message);
      assert.equal(files.text('/d/elsewhere'), null);
      files.mishaps(null);
      if (files.text(FILE) !== null) files.unlink(FILE);
      await clock.advance(31_000);
      assert.equal(files.text(FILE), linesTo(4));
      assert.deepEqual(behind, [code, null]);
      await mails(5, 5);
      assert.equal(files.text(FILE), linesTo(5));
      outbox[Symbol.dispose]();
      assert.equal(clock.waiting, 0);
      assert.equal(files.openDescriptors, 0);
    });
  }

  test('a new event tries at once and does not wait for the schedule', async () => {
    const files = fakeFiles();
    const { outbox, behind, mails } = await life(openDatabase(':memory:'), files);
    failing(files, 'write', 'ENOSPC');
    await mails(1, 2);
    files.mishaps(null);
    await mails(3, 3);
    assert.equal(files.text(FILE), linesTo(3));
    assert.deepEqual(behind, ['no-space', null]);
    outbox[Symbol.dispose]();
  });

  test('the tries become rarer, to one in 30 s', async () => {
    const files = fakeFiles();
    const { outbox, clock, mails } = await life(openDatabase(':memory:'), files);
    let tries = 0;
    files.mishaps((call) => {
      if (call.name !== 'write') return null;
      tries += 1;
      return { is: 'fails', code: 'ENOSPC' };
    }, FOLDER);
    await mails(1, 1);
    await clock.advance(31_000); // 1 + 2 + 4 + 8 + 16
    assert.equal(tries, 6);
    await clock.advance(300_000);
    assert.equal(tries, 16);
    outbox[Symbol.dispose]();
  });

  test('one full disk is one warning for all personas, and each is said to be behind', async () => {
    const files = fakeFiles();
    const { outbox, clock, behind, logged } = await life(openDatabase(':memory:'), files);
    failing(files, 'write', 'ENOSPC');
    const names = ['bo', 'cy', 'di'];
    await Promise.all(names.map((p) => outbox.sinkFor(p, p).take([mail(1, 'x', p)], { cursor: 1 }, going)));
    assert.deepEqual([behind.length, logged.length], [3, 1]);
    files.mishaps(null);
    await clock.advance(31_000);
    for (const p of names) assert.equal(files.text(`/d/state/events.${p}.ndjson`), formatTakeLine(mail(1, 'x', p)));
    outbox[Symbol.dispose]();
  });

  test('a write that stops half-way leaves only whole lines behind', async () => {
    const files = fakeFiles();
    const { outbox, clock, mails } = await life(openDatabase(':memory:'), files);
    await mails(1, 1);
    let writes = 0;
    files.mishaps((call) => {
      if (call.name !== 'write') return null;
      writes += 1;
      return writes === 1 ? { is: 'writes', bytes: 20 } : { is: 'fails', code: 'ENOSPC' };
    }, FOLDER);
    await mails(2, 2);
    assert.equal(files.text(FILE), line(1));
    files.mishaps(null);
    await clock.advance(2000);
    assert.equal(files.text(FILE), linesTo(2));
    outbox[Symbol.dispose]();
  });

  test('a write that takes less than all is continued, not an error', async () => {
    const files = fakeFiles();
    const { outbox, behind, mails } = await life(openDatabase(':memory:'), files);
    files.mishaps((call) => (call.name === 'write' ? { is: 'writes', bytes: 7 } : null));
    await mails(1, 2);
    assert.equal(files.text(FILE), linesTo(2));
    assert.deepEqual(behind, []);
    outbox[Symbol.dispose]();
  });

  test('one refused file delays nobody else', async () => {
    const files = fakeFiles();
    const { outbox, mails } = await life(openDatabase(':memory:'), files);
    files.symlink('/d/state/events.bo.ndjson', '/d/elsewhere');
    const bo = outbox.sinkFor('bo', 'bo').take([mail(1, 'x', 'bo')], { cursor: 1 }, going);
    await mails(1, 1);
    assert.deepEqual(await bo, { is: 'all' });
    assert.equal(files.text(FILE), line(1));
    outbox[Symbol.dispose]();
  });
});

describe('repair at the start', () => {
  // The database has three events, of which the file is known to have none, one or all on the disk.
  async function crashed(rotation = ROOMY): Promise<{ db: Database; files: FakeFiles }> {
    const files = fakeFiles();
    const db = openDatabase(':memory:');
    const { outbox, mails } = await life(db, files, rotation);
    await mails(1, 3);
    outbox.newest(); // what was taken is in the tables
    return { db, files };
  }

  test('S11: of a last line torn at any byte: it is completed, and nothing else changes', async () => {
    const whole = Buffer.from(linesTo(3));
    const lastLine = Buffer.from(linesTo(2)).length;
    for (let cut = 0; cut <= whole.length; cut += cut < lastLine ? 13 : 1) {
      const { db, files } = await crashed();
      const fd = files.open(FILE, O.RDWR, 0);
      files.ftruncate(fd, cut);
      files.close(fd);
      files.mishaps(null);
      const { outbox, mails } = await life(db, files);
      assert.equal(files.text(FILE), linesTo(3), `cut at ${cut}`);
      const cuts = files.calls.filter((call) => call.name === 'ftruncate' && call.path === FILE);
      assert.equal(cuts.length, 0, 'readers never see it shrink');
      await mails(4, 4);
      assert.equal(files.text(FILE), linesTo(4));
      outbox[Symbol.dispose]();
    }
  });

  test('also when the watermark said that the line was on the disk', async () => {
    const { db, files } = await crashed();
    (await life(db, files)).outbox[Symbol.dispose]();
    db.exec('UPDATE watches SET published = (SELECT max(seq) FROM outbox)');
    const text = linesTo(3);
    files.put(FILE, text.slice(0, -9));
    const { outbox, mails } = await life(db, files);
    await mails(4, 4);
    assert.equal(files.text(FILE), linesTo(4));
    outbox[Symbol.dispose]();
  });

  test('of an end that is not ours: a torn one is cut off, a whole line stays', async () => {
    for (const [foreign, stays] of [
      ['{"event": "x', ''],
      ['garbage\n', 'garbage\n'],
      ['garbage\n\n{"event": "new"}\ntorn', 'garbage\n\n{"event": "new"}\n'],
      [`${'z'.repeat(200_000)}\n`, `${'z'.repeat(200_000)}\n`],
    ] as const) {
      const { db, files } = await crashed();
      files.put(FILE, `${linesTo(2)}${foreign}`);
      const { outbox } = await life(db, files);
      assert.equal(files.text(FILE), `${linesTo(2)}${stays}${line(3)}`);
      outbox[Symbol.dispose]();
    }
  });

  test('knows mail by its id, and any other event by its whole line', async () => {
    const { db, files } = await crashed();
    const respelt = `${line(3).trimEnd().replace('{', '{ ')}\n`;
    files.put(FILE, `${linesTo(2)}${respelt}`);
    const { outbox } = await life(db, files);
    assert.equal(files.text(FILE), `${linesTo(2)}${respelt}`);
    outbox[Symbol.dispose]();

    const armed = (ts: string): Event => ({
      event: 'armed',
      source: 'kijito-inbox',
      ts,
      persona: 'ada',
      cursor: 3,
      event_id: 'ada:armed:0123456789abcdef-1',
      wake_class: 'liveness',
    });
    const again = await life(db, files);
    await again.outbox.sinkFor('ada', 'ada').take([armed('T1'), armed('T2')], { cursor: 3 }, going);
    files.put(FILE, formatTakeLine(armed('T1')));
    const last = await life(db, files);
    assert.equal(files.text(FILE), formatTakeLine(armed('T1')) + formatTakeLine(armed('T2')));
    again.outbox[Symbol.dispose]();
    last.outbox[Symbol.dispose]();
  });

  test('of a file with nothing of ours in it goes by the watermark', async () => {
    const { db, files } = await crashed();
    db.exec('UPDATE watches SET published = 2');
    files.put(FILE, 'somebody else\n');
    const { outbox } = await life(db, files);
    assert.equal(files.text(FILE), `somebody else\n${line(3)}`);
    outbox[Symbol.dispose]();
  });

  test('of a rotation that was cut off between its renames goes by the archive', async () => {
    const { db, files } = await crashed();
    files.rename(FILE, `${FILE}.1`);
    const { outbox, mails } = await life(db, files);
    await mails(4, 4);
    assert.deepEqual([files.text(`${FILE}.1`), files.text(FILE)], [linesTo(3), line(4)]);
    outbox[Symbol.dispose]();
  });
});

describe('nothing lost, nothing twice, wherever it stops', () => {
  const small: Rotation = { maxBytes: Buffer.byteLength(line(1)) * 3, keep: 99 };

  /** Takes mails 1 to 8, with flushes in between: of an archive alone, and of lines in the live file. Ends where it cannot go on. */
  async function run(db: Database, files: FakeFiles): Promise<void> {
    const { outbox, clock, mails } = await life(db, files, small);
    await mails(1, 2);
    const both = await outbox.sinkFor('ada', 'ada').take([mail(3), mail(4)], { cursor: 4 }, going);
    if (both.is === 'stopped') throw both.fault;
    await clock.advance(6000);
    await mails(5, 5);
    await clock.advance(6000);
    await mails(6, 8);
    await clock.advance(6000);
  }

  const undisturbed = fakeFiles();
  const calls = run(openDatabase(':memory:'), undisturbed).then(() => undisturbed.calls.length);

  /** From call `k` on every call fails, as if the process were gone; then a new one goes on where the mark stands. */
  async function stopAt(k: number, bytes: number | null, after: (files: FakeFiles) => void): Promise<void> {
    const files = fakeFiles();
    const db = openDatabase(':memory:');
    files.mishaps((call, index) => {
      if (index < k) return null;
      if (index === k && call.name === 'write' && bytes !== null) return { is: 'writes', bytes };
      return { is: 'fails', code: 'EIO' };
    });
    await run(db, files).catch((error: unknown) => assert.ok(error instanceof Fault, String(error)));
    files.mishaps(null);
    after(files);
    const { outbox, clock, mails } = await life(db, files, small);
    await mails((outbox.readSaved('ada')?.cursor ?? 0) + 1, 8);
    assert.equal(published(files), linesTo(8), `after call ${k}`);
    await mails(9, 12);
    assert.equal(published(files), linesTo(12), `after call ${k}`);
    outbox[Symbol.dispose]();
    assert.equal(clock.waiting, 0);
    db[Symbol.dispose]();
  }

  test('killed at any call, writes torn at some byte', async () => {
    assert.ok((await calls) > 50);
    for (let k = 0; k < (await calls); k += 1) {
      for (const bytes of [null, 1, 37]) await stopAt(k, bytes, () => {});
    }
  });

  test('power lost at any call: what was not flushed is gone from the files and comes back', async () => {
    for (let k = 0; k < (await calls); k += 1) {
      for (const bytes of [null, 1]) await stopAt(k, bytes, (files) => files.powerCut());
    }
  });

  test('each call fails once: it mends by itself, without a restart', async () => {
    for (let k = 0; k < (await calls); k += 1) {
      for (const code of ['EIO', 'ENOSPC']) {
        const files = fakeFiles();
        const { outbox, clock } = await life(openDatabase(':memory:'), files, small);
        const sink = outbox.sinkFor('ada', 'ada');
        let refused = 0;
        const mails = async (from: number, to: number): Promise<void> => {
          for (let id = from; id <= to; id += 1) {
            const ack = await sink.take([mail(id)], { cursor: id }, going);
            if (ack.is === 'all') continue;
            refused += 1;
            id -= 1; // offered again, as a watcher does
          }
        };
        files.mishaps((_, index) => (index === k ? { is: 'fails', code } : null));
        await mails(1, 4);
        await clock.advance(6000);
        await mails(5, 8);
        await clock.advance(40_000);
        assert.equal(published(files), linesTo(8), `${code} at call ${k}`);
        assert.ok(refused <= 1);
        outbox[Symbol.dispose]();
      }
    }
  });
});
