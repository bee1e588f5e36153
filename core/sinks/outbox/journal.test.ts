import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { type FakeFiles, fakeFiles, UID } from '../../../test/kit/fake-files.ts';
import { silentLog } from '../../ports/index.ts';
import { type Database, migrate, openDatabase } from '../../state/index.ts';
import { type JournalEntry, type OutboxJournal, openJournal } from './journal.ts';
import { OUTBOX_SCHEMA } from './rows.ts';

const PATH = '/d/outbox.journal';
const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-journal-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

interface Life {
  readonly journal: OutboxJournal;
  readonly clock: FakeClock;
  readonly logged: string[];
}

function tables(path = ':memory:'): Database {
  const db = openDatabase(path);
  migrate(db, 'outbox', OUTBOX_SCHEMA);
  return db;
}

function life(db: Database, files: FakeFiles): Life {
  const clock = fakeClock();
  const logged: string[] = [];
  const note = (line: string): void => void logged.push(line);
  const disk = { files, log: { ...silentLog, warn: note, error: note }, uid: UID };
  return { journal: openJournal({ db, disk, clock, path: PATH }), clock, logged };
}

/** The take of one mail, numbered as the outbox numbers them. */
function take(seq: number, text = 'text 😀\u2028'): JournalEntry {
  const events = [{ seq, id: `ada:new:${seq}`, isMail: true, line: `{"id": ${seq}, "content": "${text}"}` }];
  return { persona: 'ada', kept: `{"cursor":${seq}}`, newest: seq, at: 1000 + seq, events };
}

function inTables(db: Database): { seqs: number[]; kept: string | null } {
  const seqs = db.prepare<{ seq: number }>('SELECT seq FROM outbox ORDER BY seq').all();
  const kept = db.prepare<{ kept: string }>("SELECT kept FROM watches WHERE persona = 'ada'").get()?.kept ?? null;
  return { seqs: seqs.map(({ seq }) => seq), kept };
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

describe('what is written', () => {
  test('is one write and one flush, in a private file, and comes into the tables by itself', async () => {
    const files = fakeFiles();
    const db = tables();
    const { journal, clock } = life(db, files);
    files.mishaps(null);
    journal.write([take(1), take(2)]);
    assert.deepEqual(
      files.calls.map((call) => call.name),
      ['write', 'fdatasync'],
    );
    assert.equal(files.lstat(PATH)?.mode, 0o600);
    assert.deepEqual(inTables(db), { seqs: [], kept: null });
    await clock.advance(1000);
    assert.deepEqual(inTables(db), { seqs: [1, 2], kept: '{"cursor":2}' });
    const row = db.prepare<object>('SELECT seq, persona, event_id, is_mail, line, at FROM outbox WHERE seq = 2').get();
    const { events, at, persona } = take(2);
    assert.deepEqual({ ...row }, { seq: 2, persona, event_id: events[0]?.id, is_mail: 1, line: events[0]?.line, at });
    journal[Symbol.dispose]();
    assert.equal(clock.waiting, 0);
    assert.equal(files.openDescriptors, 0);
  });

  test('is in the tables as soon as somebody asks', () => {
    const db = tables();
    const { journal } = life(db, fakeFiles());
    journal.write([take(1)]);
    journal.fill();
    assert.deepEqual(inTables(db).seqs, [1]);
    journal[Symbol.dispose]();
  });

  test('of a storm comes in small parts', async () => {
    const db = tables();
    const { journal, clock } = life(db, fakeFiles());
    journal.write(upTo(1000).map((seq) => take(seq, 'x'.repeat(300))));
    await clock.advance(500);
    const first = inTables(db).seqs.length;
    assert.ok(first > 50 && first < 400, `${first} at once`);
    await clock.advance(1000);
    assert.deepEqual(inTables(db).seqs, upTo(1000));
    journal[Symbol.dispose]();
  });

  test('is gone from the file after a clean end, and when the file has grown large', async () => {
    const files = fakeFiles();
    const db = tables();
    const { journal, clock } = life(db, files);
    journal.write([take(1)]);
    await clock.advance(1000);
    assert.notEqual(files.text(PATH), '', 'small: stays for a while');
    for (let seq = 2; seq <= 5; seq += 1) journal.write([take(seq, 'x'.repeat(300_000))]);
    await clock.advance(1000);
    assert.equal(files.text(PATH), '');
    journal.write([take(6)]);
    journal[Symbol.dispose]();
    assert.equal(files.text(PATH), '');
    assert.deepEqual(inTables(db), { seqs: upTo(6), kept: '{"cursor":6}' });
  });
});

describe('after a kill', () => {
  test('at any byte of a write: whole records are taken over, a torn one never was', () => {
    const sample = fakeFiles();
    life(tables(), sample).journal.write([take(1)]);
    const { length } = Buffer.from(sample.text(PATH) ?? '');
    for (let cut = 0; cut <= length; cut += 1) {
      const files = fakeFiles();
      const db = tables();
      const first = life(db, files);
      first.journal.write([take(1)]);
      files.mishaps((_, index) => (index === 0 ? { is: 'writes', bytes: cut } : { is: 'fails', code: 'EIO' }));
      assert.throws(() => first.journal.write([take(2)]), { code: 'unwritable' });
      files.mishaps(null);
      const second = life(db, files);
      // The last byte is the newline; whole with it, though nobody was told so.
      const whole = cut === length ? 2 : 1;
      assert.deepEqual(inTables(db), { seqs: upTo(whole), kept: `{"cursor":${whole}}` }, `cut at ${cut}`);
      assert.equal(files.text(PATH), '', 'it begins empty');
      assert.deepEqual(second.logged, []);
      second.journal.write([take(3)]);
      second.journal.fill();
      assert.deepEqual(inTables(db).seqs, [...upTo(whole), 3]);
    }
  });

  test('what was filled in already is not filled in again, nor its memory set back', () => {
    const files = fakeFiles();
    const db = tables();
    const first = life(db, files);
    first.journal.write([take(1)]);
    first.journal.write([take(2)]);
    first.journal.fill();
    db.exec(`DELETE FROM outbox WHERE seq = 1; UPDATE watches SET kept = 'newer'`);
    life(db, files);
    assert.deepEqual(inTables(db), { seqs: [2], kept: 'newer' });
  });

  test('a database that lost its last commits to a power cut gets them from the file', () => {
    const path = join(home, 'hivebar.sqlite');
    const files = fakeFiles();
    {
      using db = tables(path);
      const { journal } = life(db, files);
      journal.write([take(1)]);
      journal[Symbol.dispose]();
    }
    const before = fs.readFileSync(path);
    {
      using db = tables(path);
      const { journal } = life(db, files);
      journal.write([take(2)]);
      journal.write([take(3)]);
      journal.fill();
      assert.deepEqual(inTables(db).seqs, [1, 2, 3]);
    }
    files.powerCut();
    for (const name of fs.readdirSync(home)) fs.rmSync(join(home, name));
    fs.writeFileSync(path, before, { mode: 0o600 });
    using db = tables(path);
    life(db, files);
    assert.deepEqual(inTables(db), { seqs: [1, 2, 3], kept: '{"cursor":3}' });
  });

  test('A4 given tables that are only in the log of the database yet, the journal stays until they are in its file', () => {
    const path = join(home, 'only-in-the-log.sqlite');
    const files = fakeFiles();
    const db = openDatabase(path, 10);
    migrate(db, 'outbox', OUTBOX_SCHEMA);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const reader = openDatabase(path);
    reader.exec('BEGIN');
    assert.deepEqual(inTables(reader).seqs, []);
    const first = life(db, files);
    first.journal.write([take(1), take(2)]);
    first.journal[Symbol.dispose]();
    assert.deepEqual(inTables(db).seqs, [1, 2]);

    // What a damaged first frame leaves: a database without its log.
    const left = join(home, 'without-log.sqlite');
    fs.copyFileSync(path, left);
    const before = tables(left);
    assert.deepEqual(inTables(before).seqs, []);
    const second = life(before, files);
    assert.deepEqual(inTables(before), { seqs: [1, 2], kept: '{"cursor":2}' });
    assert.equal(second.journal.hasGap, false);
    second.journal[Symbol.dispose]();
    assert.equal(files.text(PATH), '', 'here nobody reads, so it is in the file of the database');

    reader[Symbol.dispose]();
    before[Symbol.dispose]();
    db[Symbol.dispose]();
  });

  test('an emptied file whose old records come back with a power cut repeats nothing', () => {
    const files = fakeFiles();
    const db = tables();
    const { journal } = life(db, files);
    journal.write([take(1)]);
    const old = files.text(PATH) ?? '';
    journal[Symbol.dispose]();
    db.exec('DELETE FROM outbox');
    files.put(PATH, old);
    life(db, files);
    assert.deepEqual(inTables(db).seqs, []);
  });
});

describe('a file that is not as it was left', () => {
  test('a damaged record is passed over and said; the ones around it are taken over', () => {
    const files = fakeFiles();
    const db = tables();
    const { journal } = life(db, files);
    for (let seq = 1; seq <= 3; seq += 1) journal.write([take(seq)]);
    const lines = (files.text(PATH) ?? '').split('\n');
    lines[1] = (lines[1] ?? '').replace('text', 'tExt');
    files.put(PATH, lines.join('\n'));
    const { logged } = life(db, files);
    assert.deepEqual(inTables(db).seqs, [1, 3]);
    assert.deepEqual(logged, [`${PATH}: 1 records are damaged; their events may be lost`]);
  });

  test('a journal of another database is left out: its marks are not ours', () => {
    const files = fakeFiles();
    life(tables(), files).journal.write([take(7)]);
    const db = tables();
    const own = life(db, fakeFiles()).journal;
    own.write([take(1)]);
    own.fill();
    const { journal } = life(db, files);
    assert.deepEqual(inTables(db).seqs, [1]);
    journal.write([take(2)]);
    journal.fill();
    assert.deepEqual(inTables(db).seqs, [1, 2]);
  });

  test('a new database goes on where the lost one ended, whose journal is beside it', () => {
    const files = fakeFiles();
    life(tables(), files).journal.write([take(7)]);
    const db = tables();
    const { journal } = life(db, files);
    assert.deepEqual(inTables(db).seqs, [7]);
    journal.write([take(8)]);
    journal.fill();
    assert.deepEqual(inTables(db).seqs, [7, 8]);
  });

  for (const [label, make] of [
    ['a symbolic link', (files: FakeFiles) => files.symlink(PATH, '/d/elsewhere')],
    ['a pipe', (files: FakeFiles) => files.put(PATH, '', { kind: 'other' })],
    ["another user's file", (files: FakeFiles) => files.put(PATH, 'theirs', { uid: UID + 1 })],
  ] as const) {
    test(`${label} in its place is refused by its path`, () => {
      const files = fakeFiles();
      make(files);
      assert.throws(() => life(tables(), files), { code: 'unwritable', message: /outbox\.journal/ });
      assert.equal(files.openDescriptors, 0);
    });
  }
});

describe('a disk that refuses', () => {
  for (const call of ['write', 'fdatasync'] as const) {
    test(`${call}: nothing is taken, the file is as before, and the next write goes on`, () => {
      const files = fakeFiles();
      const db = tables();
      const { journal } = life(db, files);
      journal.write([take(1)]);
      const before = files.text(PATH);
      files.mishaps((c) => (c.name === call ? { is: 'fails', code: 'ENOSPC' } : null));
      assert.throws(() => journal.write([take(2)]), { code: 'no-space', message: /outbox\.journal/ });
      assert.equal(files.text(PATH), before);
      // Not even cut back now: what may be torn is cut before the next write.
      files.mishaps((c) => (c.name === 'ftruncate' || c.name === call ? { is: 'fails', code: 'EIO' } : null));
      assert.throws(() => journal.write([take(2)]), { code: 'unwritable' });
      files.mishaps(null);
      journal.write([take(2)]);
      journal.fill();
      assert.deepEqual(inTables(db).seqs, [1, 2]);
      files.powerCut();
      const later = life(tables(), files);
      assert.deepEqual(later.logged, []);
    });
  }

  test('a write that takes less than all is continued', () => {
    const files = fakeFiles();
    const db = tables();
    const { journal } = life(db, files);
    files.mishaps((call) => (call.name === 'write' ? { is: 'writes', bytes: 7 } : null));
    journal.write([take(1)]);
    files.mishaps(null);
    life(db, files);
    assert.deepEqual(inTables(db).seqs, [1]);
  });
});
