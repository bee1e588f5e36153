import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createLocalLog } from '../../app/local/mail-search.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { type LocalHive, openLocalHive, openStoredMailLog } from '../inbox/index.ts';
import { realFiles, silentLog } from '../ports/index.ts';
import { type Database, openDatabase } from '../state/index.ts';
import { type LoggedMail, type MailSearch, openMailSearch, SEARCHED_CHARS, type SearchLog } from './index.ts';

const home = mkdtempSync(join(tmpdir(), 'hivebar-search-'));
after(() => rmSync(home, { recursive: true, force: true }));
let made = 0;

interface Rig extends Disposable {
  readonly path: string;
  readonly db: Database;
  readonly hive: LocalHive;
  readonly log: SearchLog<LoggedMail>;
  send(to: string, content: string, from?: string): number;
  open(...logs: SearchLog<LoggedMail>[]): MailSearch<LoggedMail>;
  warned: string[];
}

/** A real store with a local hive. Each message is a second later than the one before. */
function createRig(): Rig {
  made += 1;
  const directory = join(home, `${made}`);
  const db = openDatabase(join(directory, 'hivebar.sqlite'));
  const clock = fakeClock();
  const hive = openLocalHive({ db, clock, log: silentLog, contentChars: 220 });
  const path = join(directory, 'search.sqlite');
  const log: SearchLog<LoggedMail> = createLocalLog(openStoredMailLog(db, SEARCHED_CHARS), (name) => name);
  const warned: string[] = [];
  const searches: MailSearch<LoggedMail>[] = [];
  return {
    ...{ path, db, hive, log, warned },
    send(to, content, from = 'bo') {
      clock.setBy(1000);
      return hive.sendNow({ to, from, content, urgent: false }).id;
    },
    open(...logs) {
      const search = openMailSearch({
        ...{ path, logs: logs.length === 0 ? [log] : logs, files: realFiles, clock },
        log: { ...silentLog, warn: (words) => void warned.push(words), info: (words) => void warned.push(words) },
      });
      searches.push(search);
      return search;
    },
    [Symbol.dispose]() {
      for (const search of searches) search[Symbol.dispose]();
      hive[Symbol.dispose]();
      db[Symbol.dispose]();
    },
  };
}

const texts = (search: MailSearch<LoggedMail>, words: string | null): readonly string[] =>
  search.list(words, null, 50).hits.map(({ mail }) => mail.text);

describe('the search over mail', () => {
  test('finds words in text, sender and recipient, newest first, and says where they stand', () => {
    using rig = createRig();
    rig.send('ada', 'the build is red', 'bo');
    rig.send('cy', 'lunch?', 'ada');
    rig.send('cy', 'builder, again', 'bo');
    const search = rig.open();
    assert.deepEqual(texts(search, 'build'), ['builder, again', 'the build is red']);
    assert.deepEqual(texts(search, 'ada'), ['lunch?', 'the build is red'], 'from and to');
    assert.deepEqual(texts(search, 'bo builder'), ['builder, again'], 'words of different parts');
    assert.deepEqual(texts(search, null), ['builder, again', 'lunch?', 'the build is red']);
    assert.deepEqual(texts(search, '!?'), [], 'no word is no search');
    const [hit] = search.list('build is', null, 1).hits;
    assert.deepEqual(hit?.marks, {
      from: [],
      subject: [],
      text: [
        [4, 9],
        [10, 12],
      ],
    });
  });

  test('pages by place: each message once, also when new ones come meanwhile', () => {
    using rig = createRig();
    for (let i = 1; i <= 7; i += 1) rig.send('ada', `mail ${i}`);
    const search = rig.open();
    const seen: string[] = [];
    let before: number | null = null;
    for (let page = 0; page < 4; page += 1) {
      const { hits, hasMore } = search.list('mail', before, 3);
      seen.push(...hits.map(({ mail }) => mail.text.replace('mail ', '')));
      assert.equal(hasMore, page < 2);
      before = hits.at(-1)?.id ?? before;
      rig.send('ada', `late mail ${page}`);
    }
    assert.deepEqual(seen.join(''), '7654321');
  });

  test('an old store is indexed in slices, from the newest on; the newest are found at once', () => {
    using rig = createRig();
    for (let i = 1; i <= 1000; i += 1) rig.send('ada', `mail ${i}`);
    const search = rig.open();
    const first = search.list('mail', null, 3);
    assert.deepEqual([first.hits[0]?.mail.text, first.isComplete], ['mail 1000', false]);
    assert.deepEqual(texts(search, '"mail 1"'), [], 'not yet');
    let slices = 0;
    while (search.advance(100)) slices += 1;
    assert.ok(slices >= 3, `${slices} slices`);
    assert.deepEqual([texts(search, '"mail 1"').at(-1), search.list('mail', null, 1).isComplete], ['mail 1', true]);
    assert.equal(search.advance(100), false);
  });

  test('deleted mail is found no more, and leaves the index', () => {
    using rig = createRig();
    const id = rig.send('ada', 'forget me');
    rig.send('ada', 'forget not');
    const search = rig.open();
    assert.equal(texts(search, 'forget').length, 2);
    rig.hive.remove('ada', [id]);
    assert.deepEqual(texts(search, 'forget'), ['forget not'], 'at once');
    for (const other of ['me too', 'and me']) rig.hive.remove('ada', [rig.send('ada', other)]);
    while (search.advance(10));
    while (search.sweep(1));
    using index = openDatabase(rig.path);
    assert.deepEqual(
      index
        .prepare<{ ref: number }>('SELECT ref FROM mail')
        .all()
        .map(({ ref }) => ref),
      [2],
    );
    const count = index.prepare<{ n: number }>("SELECT count(*) AS n FROM words WHERE words MATCH 'me'");
    assert.equal(count.get()?.n, 0, 'its words too');
  });

  test('a damaged message is not shown as what somebody sent', () => {
    using rig = createRig();
    rig.send('ada', 'pay 10');
    const search = rig.open();
    assert.equal(texts(search, 'pay').length, 1);
    rig.db.exec("UPDATE inbox SET content = 'pay 99'");
    assert.match(texts(search, 'pay').join(), /^\[Message 1 is damaged/);
  });

  for (const [damage, spoil] of [
    ['is no database', (path: string) => writeFileSync(path, 'not a database, and longer than a header '.repeat(100))],
    [
      'was made by a newer version',
      (path: string) => {
        using db = openDatabase(path);
        db.exec("UPDATE schema_versions SET version = 99 WHERE owner = 'search'");
      },
    ],
    [
      'lost a table',
      (path: string) => {
        using db = openDatabase(path);
        db.exec('DROP TABLE words');
      },
    ],
    ['was deleted', (path: string) => rmSync(path)],
  ] as const) {
    test(`an index that ${damage} is made again, and costs no mail`, () => {
      using rig = createRig();
      rig.send('ada', 'still here');
      const before = rig.open();
      before.advance(10);
      before[Symbol.dispose]();
      for (const suffix of ['-wal', '-shm']) rmSync(rig.path + suffix, { force: true });
      spoil(rig.path);
      const search = rig.open();
      assert.deepEqual(texts(search, 'here'), ['still here']);
      assert.ok(existsSync(rig.path));
    });
  }

  test('an index that is deleted or damaged while it is open is made again', () => {
    using rig = createRig();
    rig.send('ada', 'still here');
    const search = rig.open();
    assert.equal(texts(search, 'here').length, 1);
    rmSync(rig.path);
    assert.deepEqual(texts(search, 'here'), ['still here']);
    {
      using db = openDatabase(rig.path);
      db.exec('DROP TABLE mail');
    }
    assert.deepEqual(texts(search, 'here'), ['still here']);
    assert.match(rig.warned.join('\n'), /the search index is made again: .*no such table/);
  });

  test('a store that went back in time is indexed anew, and its old mail is not found under the ids of other mail', () => {
    using rig = createRig();
    const mails: LoggedMail[] = [1, 2, 3].map((ref) => ({
      ref,
      at: ref,
      from: 'bo',
      to: 'ada',
      subject: '',
      text: `old ${ref}`,
    }));
    let stored = mails;
    const log: SearchLog<LoggedMail> = {
      name: 'stored',
      newest: () => stored.at(-1)?.ref ?? 0,
      read: (from, way, limit) => {
        const found =
          way === 'newer'
            ? stored.filter(({ ref }) => ref > from)
            : stored.filter(({ ref }) => ref < from).toReversed();
        return { mails: found.slice(0, limit), last: found.slice(0, limit).at(-1)?.ref ?? null };
      },
      find: (ref) => stored.find((mail) => mail.ref === ref) ?? null,
    };
    const search = rig.open(log);
    while (search.advance(1));
    assert.equal(texts(search, 'old').length, 3);
    stored = mails.slice(0, 1);
    search.advance(10);
    stored = [...stored, { ref: 2, at: 9, from: 'bo', to: 'ada', subject: '', text: 'other' }];
    while (search.advance(10));
    assert.deepEqual([texts(search, 'old'), texts(search, 'other')], [['old 1'], ['other']]);
  });

  test('a clock that is ahead puts no message in front for ever, and many of one millisecond all have a place', () => {
    using rig = createRig();
    const now = fakeClock().now();
    const stored: LoggedMail[] = Array.from({ length: 3000 }, (_, i) => ({
      ...{ ref: i + 1, from: 'bo', to: 'ada', subject: '', text: `mail ${i + 1}` },
      at: i === 0 ? now + 1e12 : now,
    }));
    const log: SearchLog<LoggedMail> = {
      name: 'stored',
      newest: () => stored.length,
      read: (from, way, limit) => {
        const found =
          way === 'newer'
            ? stored.slice(from, from + limit)
            : stored.slice(Math.max(0, from - 1 - limit), from - 1).toReversed();
        return { mails: found, last: found.at(-1)?.ref ?? null };
      },
      find: (ref) => stored[ref - 1] ?? null,
    };
    const search = rig.open(log);
    while (search.advance(500));
    const { hits } = search.list(null, null, 4000);
    assert.equal(hits.length, 3000);
    assert.equal(new Set(hits.map(({ id }) => id)).size, 3000);
    assert.ok(hits.every(({ id }) => id < (now + 10) * 2048));
  });
});
