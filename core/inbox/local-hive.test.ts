import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { exactly, Fault } from '../model/index.ts';
import { type Clock, realClock, silentLog } from '../ports/index.ts';
import { type Database, openDatabase } from '../state/index.ts';
import { type LocalHive, MAIL_RETENTION_MS, openLocalHive } from './index.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-inbox-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));
const going = new AbortController().signal;

let made = 0;
function freshPath(): string {
  made += 1;
  return join(home, `${made}`, 'hivebar.sqlite');
}

function hiveOn(
  db: Database,
  more: { clock?: Clock; contentChars?: number | null; log?: typeof silentLog } = {},
): LocalHive {
  return openLocalHive({ db, clock: realClock, log: silentLog, contentChars: 220, ...more });
}

function hive(more: Parameters<typeof hiveOn>[1] = {}): LocalHive {
  return hiveOn(openDatabase(':memory:'), more);
}

function mail(to: string, content = 'hello', from = 'zoe', urgent = false) {
  return { to, from, content, urgent };
}

const ask = { markRead: false, beforeId: null, limit: 200, unreadOnly: false };

/** The database, telling how often it was asked to flush. */
function counting(db: Database): Database & { commits: number } {
  return {
    ...db,
    commits: 0,
    exec(sql) {
      if (sql === 'COMMIT') this.commits += 1;
      db.exec(sql);
    },
    get isTransaction() {
      return db.isTransaction;
    },
  };
}

describe('sending', () => {
  test('answers with the id and the name, and the first mail makes the persona', async () => {
    using inbox = hive();
    assert.deepEqual(inbox.personas(), []);
    assert.deepEqual(await inbox.send(mail('ada')), { id: 1, to: 'ada' });
    assert.deepEqual(await inbox.send(mail('bo')), { id: 2, to: 'bo' });
    assert.deepEqual(inbox.sendNow(mail('ada')), { id: 3, to: 'ada' });
    assert.deepEqual(
      inbox.personas().map((persona) => persona.name),
      ['ada', 'bo'],
    );
  });

  test('100 at once are two flushes, the first by itself, and their ids are in the order of sending', async () => {
    using disk = openDatabase(freshPath());
    const db = counting(disk);
    using inbox = hiveOn(db);
    db.commits = 0;
    const sent = await Promise.all(Array.from({ length: 100 }, (_, i) => inbox.send(mail(`p${i % 7}`, `mail ${i}`))));
    assert.equal(db.commits, 2);
    assert.deepEqual(
      sent.map((message) => message.id),
      Array.from({ length: 100 }, (_, i) => i + 1),
    );
  });

  test('an answered mail survives kill -9', async () => {
    const path = freshPath();
    const at = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
    const script = `
      const { openDatabase } = await import(${at('../state/database.node.ts')});
      const { openLocalHive } = await import(${at('./index.ts')});
      const { realClock, silentLog } = await import(${at('../ports/index.ts')});
      const inbox = openLocalHive({ db: openDatabase(${JSON.stringify(path)}), clock: realClock, log: silentLog, contentChars: 220 });
      for (;;) {
        const sent = await Promise.all(['a', 'b', 'c'].map((to) => inbox.send({ to, from: 'x', content: 'y', urgent: false })));
        process.stdout.write(sent.map((one) => one.id + '\\n').join(''));
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.length > 500) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const answered = printed.split('\n').slice(0, -1).map(Number);
    using db = openDatabase(path);
    using inbox = hiveOn(db);
    const stored = new Set(['a', 'b', 'c'].flatMap((p) => inbox.list(p, 1e6).map((row) => row.id)));
    assert.ok(answered.length > 50);
    assert.deepEqual(
      answered.filter((id) => !stored.has(id)),
      [],
    );
  });

  const refused: [string, unknown, RegExp][] = [
    ['no receiver', { from: 'a', content: '' }, /"to" must be a name, not nothing/],
    ['a blank name', mail('  '), /"to" must be a name, not " {2}"/],
    ['a name that is no text', { ...mail('a'), from: 7 }, /"from" must be a name, not 7/],
    ['a control character in a name', mail('a\u0007b'), /"to" must not contain control characters, not "a\\u0007b"/],
    ['a line separator in a name', mail('ada', '', 'a\u2028b'), /"from" must not contain control characters/],
    ['half a surrogate pair in a name', mail('a\ud800'), /"to" must not contain/],
    ['a name of 201 characters', mail('é'.repeat(201)), /"to" may have 200 characters at most, not "é/],
    ['text that is no text', { ...mail('a'), content: { a: 1 } }, /"content" must be text, not \{"a":1\}/],
    [
      'text of more than 1 MiB',
      mail('a', 'é'.repeat(600_000)),
      /"content" may have 1048576 bytes at most, not 1200000/,
    ],
    ['an urgency that is no boolean', { ...mail('a'), urgent: 'yes' }, /"urgent" must be true or false, not "yes"/],
  ];
  for (const [label, body, message] of refused) {
    test(`refuses ${label}, naming it, and stores nothing`, async () => {
      using inbox = hive();
      const isUsage = (error: unknown): boolean => {
        assert.ok(error instanceof Fault);
        assert.equal(error.code, 'usage');
        assert.match(error.message, message);
        return true;
      };
      await assert.rejects(inbox.send(body as never), isUsage);
      assert.throws(() => inbox.sendNow(body as never), isUsage);
      assert.deepEqual(inbox.personas(), []);
    });
  }

  test('takes a name of 200 characters and 1 MiB of text', () => {
    using inbox = hive();
    const text = 'x'.repeat(1024 * 1024);
    const { id } = inbox.sendNow(mail('😀'.repeat(200), text));
    assert.equal(inbox.show('😀'.repeat(200), id)?.content, text);
  });

  test('what waits when the hive is closed is sent', async () => {
    using db = openDatabase(':memory:');
    const inbox = hiveOn(db);
    const waiting = inbox.send(mail('ada'));
    inbox[Symbol.dispose]();
    assert.equal(inbox.list('ada', 9).length, 1);
    assert.equal((await waiting).id, 1);
  });

  test('a failed commit fails every mail of its group, and the next group is served', async () => {
    using disk = openDatabase(':memory:');
    let broken = false;
    const db: Database = {
      ...disk,
      get isTransaction() {
        return disk.isTransaction;
      },
      exec(sql) {
        if (broken && sql === 'COMMIT') throw new Fault('no-space', 'full', { is: 'machine', key: 'database' });
        disk.exec(sql);
      },
    };
    using inbox = hiveOn(db);
    const woken: string[] = [];
    using _ = inbox.hints((address) => woken.push(address));
    broken = true;
    const failed = await Promise.allSettled([inbox.send(mail('ada')), inbox.send(mail('bo'))]);
    assert.deepEqual(
      failed.map((result) => result.status),
      ['rejected', 'rejected'],
    );
    assert.deepEqual([inbox.personas(), woken], [[], []]);
    broken = false;
    await inbox.send(mail('ada'));
    assert.deepEqual(woken, ['ada']);
  });
});

describe('the bounded window (GET /api/inbox)', () => {
  test('rows have the keys of the contract in their order, newest first', async () => {
    using inbox = hive();
    await inbox.send(mail('ada', 'one'));
    await inbox.send(mail('ada', 'two', 'bo'));
    const answer = inbox.inbox({ ...ask, persona: 'ada' });
    assert.deepEqual(Object.keys(answer.result[0] ?? {}), ['id', 'from', 'content', 'created', 'read']);
    assert.deepEqual(
      answer.result.map(({ id, from, content, read }) => [id, from, content, read]),
      [
        [2, 'bo', 'two', false],
        [1, 'zoe', 'one', false],
      ],
    );
    assert.match(answer.result[0]?.created ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
    const { result: _, ...fields } = answer;
    assert.deepEqual(fields, {
      truncated: false,
      size_dropped: 0,
      size_truncated: false,
      next_before_id: null,
      unread_not_shown: 0,
    });
  });

  test('an unknown persona has an empty inbox, and asking for it creates nothing', () => {
    using inbox = hive();
    assert.deepEqual(inbox.inbox({ ...ask, persona: 'nobody', markRead: true }).result, []);
    assert.deepEqual(inbox.personas(), []);
  });

  test('names are case-sensitive, and a composed é is not a decomposed one', async () => {
    using inbox = hive();
    for (const name of ['Ada', 'ada', '\u00e9', 'e\u0301']) await inbox.send(mail(name));
    assert.equal(inbox.personas().length, 4);
    assert.equal(inbox.inbox({ ...ask, persona: 'ada' }).result.length, 1);
  });

  test('a peek changes nothing; a read marks what it shows and shows what was unread', async () => {
    using inbox = hive();
    for (let i = 0; i < 3; i += 1) await inbox.send(mail('ada'));
    const peek = { ...ask, persona: 'ada' };
    assert.deepEqual(inbox.inbox(peek), inbox.inbox(peek));
    const read = inbox.inbox({ ...peek, markRead: true, limit: 2 });
    assert.deepEqual(
      read.result.map((row) => row.read),
      [false, false],
    );
    assert.deepEqual(
      inbox.inbox(peek).result.map((row) => [row.id, row.read]),
      [
        [3, true],
        [2, true],
        [1, false],
      ],
    );
    assert.deepEqual(
      inbox.inbox({ ...peek, unreadOnly: true }).result.map((row) => row.id),
      [1],
    );
  });

  test('the count limit withholds older rows: truncated, and where to go on', async () => {
    using inbox = hive();
    for (let i = 0; i < 10; i += 1) await inbox.send(mail('ada'));
    await inbox.send(mail('bo'));
    const first = inbox.inbox({ ...ask, persona: 'ada', limit: 4 });
    assert.deepEqual(
      first.result.map((row) => row.id),
      [10, 9, 8, 7],
    );
    assert.deepEqual(
      [first.truncated, first.size_dropped, first.next_before_id, first.unread_not_shown],
      [true, 0, 7, 6],
    );
    const last = inbox.inbox({ ...ask, persona: 'ada', limit: 6, beforeId: 7 });
    assert.deepEqual(
      last.result.map((row) => row.id),
      [6, 5, 4, 3, 2, 1],
    );
    assert.deepEqual([last.truncated, last.next_before_id, last.unread_not_shown], [false, null, 0]);
  });

  test('before_id 0 is a cursor with nothing before it', async () => {
    using inbox = hive();
    await inbox.send(mail('ada'));
    assert.deepEqual(inbox.inbox({ ...ask, persona: 'ada', beforeId: 0 }).result, []);
  });

  test('the size budget withholds an exact number of rows, and the answer stays under 120 KiB', async () => {
    using inbox = hive();
    await Promise.all(Array.from({ length: 150 }, (_, i) => inbox.send(mail('ada', `"${'ü'.repeat(500)}" ${i}`))));
    let beforeId: number | null = null;
    const seen: number[] = [];
    do {
      const answer = inbox.inbox({ ...ask, persona: 'ada', beforeId });
      assert.ok(Buffer.byteLength(JSON.stringify(answer)) < 120 * 1024);
      seen.push(...answer.result.map((row) => row.id));
      assert.equal(answer.truncated, false);
      assert.equal(answer.size_dropped, 150 - seen.length);
      assert.equal(answer.size_dropped === 0, answer.next_before_id === null);
      beforeId = answer.next_before_id;
    } while (beforeId !== null);
    assert.deepEqual(
      seen,
      Array.from({ length: 150 }, (_, i) => 150 - i),
    );
  });

  test('both limits at once: rows beyond the count limit are not counted as dropped by size', async () => {
    using inbox = hive();
    for (let i = 0; i < 10; i += 1) inbox.sendNow(mail('ada', 'x'.repeat(50_000)));
    const answer = inbox.inbox({ ...ask, persona: 'ada', limit: 5 });
    assert.deepEqual(
      answer.result.map((row) => row.id),
      [10, 9],
    );
    assert.deepEqual(
      [answer.truncated, answer.size_dropped, answer.next_before_id, answer.unread_not_shown],
      [true, 3, 9, 8],
    );
  });

  test('a lone oversize message is cut in a window and whole when asked for by itself', () => {
    using inbox = hive();
    for (let i = 0; i < 12; i += 1) {
      inbox.sendNow(mail('bo', 'x'.repeat(i) + '😀'.repeat(40_000)));
      assert.ok(inbox.inbox({ ...ask, persona: 'bo' }).result[0]?.content.isWellFormed());
    }
    const text = '😀"\u0000é'.repeat(40_000);
    const { id } = inbox.sendNow(mail('ada', text));
    const window = inbox.inbox({ ...ask, persona: 'ada' });
    const shown = window.result[0]?.content ?? '';
    assert.ok(text.startsWith(shown) && shown.isWellFormed() && shown.length > 20_000, `${shown.length}`);
    assert.ok(Buffer.byteLength(JSON.stringify(window)) < 120 * 1024);
    assert.deepEqual(
      [window.size_truncated, window.size_dropped, window.truncated, window.next_before_id],
      [true, 0, false, null],
    );
    inbox.sendNow(mail('ada', 'later'));
    const whole = inbox.inbox({ ...ask, persona: 'ada', beforeId: id + 1, limit: 1 });
    assert.equal(whole.result[0]?.content, text);
    assert.equal(whole.size_truncated, false);
  });

  test('text keeps every character; a lone surrogate becomes U+FFFD', () => {
    using inbox = hive();
    const { id } = inbox.sendNow(mail('ada', 'a\u0000b\u2028c\ud800d😀'));
    assert.equal(inbox.show('ada', id)?.content, 'a\u0000b\u2028c\ufffdd😀');
  });
});

describe('the window of the watcher', () => {
  test('says the largest id of an inbox that changed since the counts were first read, also when nothing is above the cursor', async () => {
    using inbox = hive();
    await inbox.send(mail('ada'));
    inbox.window('ada', 0, going);
    await inbox.send(mail('ada'));
    await inbox.send(mail('bo'));
    assert.equal(inbox.window('ada', 2, going).max, 2);
    assert.equal(inbox.window('ada', null, going).max, 2);
    assert.equal(inbox.window('bo', 3, going).max, 3);
  });

  test('holds every row above the cursor, ascending, without a bound, text cut by code points', async () => {
    using inbox = hive({ contentChars: 3 });
    await Promise.all(Array.from({ length: 1200 }, () => inbox.send(mail('ada', '😀é\u0000日本語'))));
    const window = await inbox.window('ada', 100, going);
    assert.deepEqual(
      window.messages.map((row) => row.id),
      Array.from({ length: 1100 }, (_, i) => 101 + i),
    );
    assert.deepEqual(new Set(window.messages.map((row) => row.content)), new Set(['😀é\u0000']));
    assert.deepEqual([window.max, window.unread, window.urgent], [1200, exactly(1200), exactly(0)]);
  });

  test('cuts at every length as the code points of the whole text would be cut', async () => {
    const text = 'aé日😀b\u0000😀😀z';
    for (let n = 0; n <= 10; n += 1) {
      using inbox = hive({ contentChars: n });
      inbox.sendNow(mail('ada', text));
      assert.equal((await inbox.window('ada', 0, going)).messages[0]?.content, [...text].slice(0, n).join(''));
    }
  });

  test('gives no text when none is wanted', async () => {
    using inbox = hive({ contentChars: null });
    inbox.sendNow(mail('ada'));
    assert.equal((await inbox.window('ada', 0, going)).messages[0]?.content, null);
    assert.equal(inbox.list('ada', 1)[0]?.content, null);
  });

  test('without a cursor it says where the inbox stands, and no more', async () => {
    using inbox = hive();
    inbox.sendNow(mail('ada'));
    inbox.sendNow(mail('ada', 'now', 'zoe', true));
    assert.deepEqual(await inbox.window('ada', null, going), {
      messages: [],
      max: 2,
      unread: exactly(2),
      urgent: exactly(1),
    });
    assert.deepEqual(await inbox.window('nobody', null, going), {
      messages: [],
      max: 0,
      unread: exactly(0),
      urgent: exactly(0),
    });
    assert.equal(inbox.personas().length, 1);
  });

  test('an inbox whose mail has aged away does not start over', async () => {
    let now = 1_000_000;
    using inbox = hive({ clock: { ...realClock, now: () => now } });
    for (let i = 0; i < 1500; i += 1) inbox.sendNow(mail('ada'));
    now += MAIL_RETENTION_MS + 1;
    inbox.sendNow(mail('bo'));
    const woken: string[] = [];
    using _ = inbox.hints((address) => woken.push(address));
    assert.equal(inbox.reap(now - MAIL_RETENTION_MS), 1500);
    assert.deepEqual(woken, ['ada']);
    assert.deepEqual(await inbox.window('ada', 0, going), {
      messages: [],
      max: 1500,
      unread: exactly(0),
      urgent: exactly(0),
    });
    assert.equal(inbox.sendNow(mail('ada')).id, 1502);
    assert.equal(inbox.reap(now - MAIL_RETENTION_MS), 0);
  });
});

describe('levels (GET /api/notify/pending)', () => {
  test('name only who has unread mail, and follow it up and down', async () => {
    using inbox = hive();
    const now = async () =>
      [...(await inbox.pending(null, going)).byAddress].map(([persona, { unread, urgent }]) => [
        persona,
        unread,
        urgent,
      ]);
    assert.deepEqual(await now(), []);
    inbox.sendNow(mail('ada'));
    inbox.sendNow(mail('ada', 'now', 'zoe', true));
    inbox.sendNow(mail('bo'));
    assert.deepEqual(await now(), [
      ['ada', exactly(2), exactly(1)],
      ['bo', exactly(1), exactly(0)],
    ]);
    assert.equal(inbox.markRead('ada', [2, 2, 99]), 1);
    assert.deepEqual(await now(), [
      ['ada', exactly(1), exactly(0)],
      ['bo', exactly(1), exactly(0)],
    ]);
    assert.equal(inbox.markRead('ada', { upTo: 0 }), 0);
    assert.equal(inbox.markRead('bo', { upTo: 2 }), 0, 'its message is 3');
    assert.equal(inbox.markRead('bo', { upTo: 3 }), 1);
    inbox.sendNow(mail('bo'));
    assert.equal(inbox.markRead('ada', 'all'), 1);
    assert.equal(inbox.markRead('ada', 'all'), 0);
    assert.deepEqual(await now(), [['bo', exactly(1), exactly(0)]]);
  });

  test('ids of another persona are not marked', async () => {
    using inbox = hive();
    inbox.sendNow(mail('ada'));
    assert.equal(inbox.markRead('bo', [1]), 0);
    assert.equal(inbox.show('bo', 1), null);
    assert.equal(inbox.show('ada', 1)?.read, false);
  });

  test("mail to oneself, in any spelling, is nobody's unread, in every count alike", async () => {
    using inbox = hive();
    inbox.sendNow(mail('Ada', 'note', 'ada'));
    inbox.sendNow(mail('\u00c9va', 'note', 'e\u0301VA'));
    assert.equal((await inbox.pending(null, going)).byAddress.size, 0);
    const window = await inbox.window('Ada', 0, going);
    assert.deepEqual([window.messages[0]?.read, window.unread], [true, exactly(0)]);
    const answer = inbox.inbox({ ...ask, persona: 'Ada', limit: 1 });
    assert.deepEqual([answer.result[0]?.read, answer.unread_not_shown], [true, 0]);
  });

  test('a hold ends when mail arrives, is read, or the cursor is an old one', async () => {
    using inbox = hive();
    const { cursor } = await inbox.pending(null, going);
    const held = inbox.pending({ cursor, ms: 60_000 }, going);
    await inbox.send(mail('ada'));
    const levels = await held;
    assert.deepEqual(levels.byAddress.get('ada'), { unread: exactly(1), urgent: exactly(0) });
    assert.notEqual(levels.cursor, cursor);
    assert.equal((await inbox.pending({ cursor, ms: 60_000 }, going)).cursor, levels.cursor);
    assert.equal((await inbox.pending({ cursor: 'from another life', ms: 60_000 }, going)).cursor, levels.cursor);
    const again = inbox.pending({ cursor: levels.cursor, ms: 60_000 }, going);
    inbox.markRead('ada', 'all');
    assert.equal((await again).byAddress.size, 0);
  });

  test('a hold ends when its time is up, on abort, and when the hive is closed, leaving nothing behind', async () => {
    const inbox = hive();
    const { cursor } = await inbox.pending(null, going);
    assert.equal((await inbox.pending({ cursor, ms: 10 }, going)).cursor, cursor);
    const abort = new AbortController();
    const aborted = inbox.pending({ cursor, ms: 600_000 }, abort.signal);
    const closed = inbox.pending({ cursor, ms: 600_000 }, going);
    abort.abort();
    assert.equal((await aborted).cursor, cursor);
    assert.equal((await inbox.pending({ cursor, ms: 600_000 }, abort.signal)).cursor, cursor);
    inbox[Symbol.dispose]();
    await closed;
  });
});

describe('hints', () => {
  test('of lone mail come after the commit and before the sender hears of it', async () => {
    using inbox = hive();
    const seen: [string, number][] = [];
    using _ = inbox.hints((address) => seen.push([address, inbox.list(address, 9).length]));
    await inbox.send(mail('cy')).then(() => seen.push(['answered', 0]));
    assert.deepEqual(seen, [
      ['cy', 1],
      ['answered', 0],
    ]);
  });

  test('of a larger crowd are put together longer, up to 50 ms', async () => {
    for (const [size, ms] of [
      [2, 10],
      [9, 45],
      [30, 50],
    ] as const) {
      const clock = fakeClock();
      using inbox = hive({ clock });
      let heard = 0;
      using _ = inbox.hints(() => {
        heard += 1;
      });
      await Promise.all(Array.from({ length: size + 1 }, (_, i) => inbox.send(mail(`p${i}`)))); // the first by itself
      await clock.advance(ms - 1);
      assert.equal(heard, 1, `${size} before ${ms} ms`);
      await clock.advance(1);
      assert.equal(heard, size + 1, `${size} after ${ms} ms`);
    }
  });

  test('of a crowd come once a persona for all groups of a few milliseconds, or with whatever else tells', async () => {
    const clock = fakeClock();
    using inbox = hive({ clock });
    const seen: [string, number][] = [];
    using _ = inbox.hints((address) => seen.push([address, inbox.list(address, 9).length]));
    const crowd = () => Promise.all(['cy', 'ada', 'bo', 'ada'].map((name) => inbox.send(mail(name)))); // the first by itself
    await crowd();
    await crowd();
    assert.deepEqual(seen.splice(0), [['cy', 1]]);
    assert.equal(inbox.window('ada', 0, going).messages.length, 4, 'who looks by himself sees it');
    await clock.advance(20);
    assert.deepEqual(seen.splice(0).sort(), [
      ['ada', 4],
      ['bo', 2],
      ['cy', 2],
    ]);
    await crowd();
    inbox.sendNow(mail('dee'));
    assert.deepEqual(
      seen
        .splice(0)
        .map(([persona]) => persona)
        .sort(),
      ['ada', 'bo', 'cy', 'dee'],
    );
    await clock.advance(20);
    assert.deepEqual([seen, clock.waiting], [[], 0]);
  });

  test('end when disposed; a listener that throws harms neither the sender nor other listeners', async () => {
    const errors: string[] = [];
    using inbox = hive({ log: { ...silentLog, error: (line) => errors.push(line) } });
    const woken: string[] = [];
    using _bad = inbox.hints(() => {
      throw new Error('mistake');
    });
    const gone = inbox.hints(() => woken.push('gone'));
    using _good = inbox.hints((address) => woken.push(address));
    gone[Symbol.dispose]();
    await inbox.send(mail('ada'));
    assert.deepEqual(woken, ['ada']);
    assert.equal(errors.length, 1);
  });

  test('what another process wrote is found when asked, once, and ends a hold', async () => {
    const path = freshPath();
    using ownDb = openDatabase(path);
    using otherDb = openDatabase(path);
    using inbox = hiveOn(ownDb);
    using other = hiveOn(otherDb);
    inbox.sendNow(mail('ada'));
    const woken: string[] = [];
    using _ = inbox.hints((address) => woken.push(address));
    const { cursor } = await inbox.pending(null, going);
    const held = inbox.pending({ cursor, ms: 60_000 }, going);
    other.sendNow(mail('bo'));
    other.sendNow(mail('bo'));
    other.markRead('ada', 'all');
    assert.deepEqual([...inbox.changedElsewhere()].sort(), ['ada', 'bo']);
    assert.deepEqual(woken.sort(), ['ada', 'bo']);
    assert.deepEqual([...(await held).byAddress.keys()], ['bo']);
    assert.deepEqual(inbox.changedElsewhere(), []);
    assert.deepEqual(other.changedElsewhere(), []);
  });

  test('A2 given mail that is too old, what is deleted is said: how much, how much of it unread, oldest and newest', () => {
    let now = Date.UTC(2026, 0, 1);
    const output: string[] = [];
    const say = (level: string) => (line: string) => output.push(`${level}: ${line}`);
    const log = { info: say('info'), warn: say('warn'), error: say('error') };
    using inbox = hive({ clock: { ...realClock, now: () => now }, log });
    inbox.sendNow(mail('ada'));
    now += 86_400_000;
    inbox.sendNow(mail('ada'));
    inbox.sendNow(mail('bo'));
    inbox.markRead('bo', 'all');
    now += MAIL_RETENTION_MS + 1;
    inbox.sendNow(mail('ada'));
    assert.equal(inbox.reap(now - MAIL_RETENTION_MS), 3);
    assert.deepEqual(output, [
      'warn: retention deletes 3 expired messages, 2 of them unread; ' +
        'the oldest was created 2026-01-01T00:00:00.000000+00:00, the newest 2026-01-02T00:00:00.000000+00:00',
    ]);
    assert.equal(inbox.reap(now - MAIL_RETENTION_MS), 0);
    assert.equal(output.length, 1);
  });
});
