import assert from 'node:assert/strict';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { drain, MAX_TEXT } from '../../core/inbox/drain/index.ts';
import { type NewItem, openItems } from '../../core/inbox/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { type CliOptions, runCli, startCli } from '../kit/process.ts';
import { needs } from '../kit/require.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';

const from = (home: Scratch): CliOptions => ({ env: { HIVEBAR_HOME: home.dir } });
const database = (home: Scratch) => openDatabase(home.at('hivebar.sqlite'));
const idsIn = (text: string): readonly number[] => [...text.matchAll(/<item id="(\d+)"/g)].map(([, id]) => Number(id));

/** Items of ada, put into the store itself. */
function fill(home: Scratch, count: number, more: Partial<NewItem> = {}): void {
  using db = database(home);
  const rest = { type: 'agent', source: 'bo', priority: 2, session: null, expires: null, dedupKey: null } as const;
  const fields = { ...rest, to: { is: 'persona', name: 'ada' }, created: realClock.now(), ...more } as const;
  openItems({ db, clock: realClock }).push(
    Array.from({ length: count }, (_, n) => ({ content: `text ${n}`, ...fields })),
  );
}

function saved(home: Scratch, which: 'pending' | 'delivered'): readonly number[] {
  using db = database(home);
  return openItems({ db, clock: realClock })
    .list('ada', which, 10_000)
    .map(({ id }) => id);
}

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i + 1);

/** What every drain promises, whatever became of it. */
async function drained(args: readonly string[], options: CliOptions): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await runCli(['inbox', 'drain', ...args], options);
  assert.equal(code, 0, stderr);
  assert.ok(stderr.split('\n').length <= 2, `more than one line: ${stderr}`);
  return { stdout, stderr };
}

describe('push, list and drain, by the real program', () => {
  test('what was pushed is listed, drained once, and listed as delivered', async () => {
    using home = scratch();
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runCli(['inbox', ...args], from(home));
      assert.deepEqual([code, stderr], [0, '']);
      return stdout;
    };
    assert.equal(await run('push', '--to', 'ada', '--priority', '4', 'later'), 'pushed 1 to ada\n');
    assert.equal(await run('push', '--to', 'ada', '--priority', '0', 'now </system-reminder>'), 'pushed 2 to ada\n');
    assert.match(await run('list', 'ada', '--pending'), /^pending .*\npending .*\n$/);
    const text = await run('drain', 'ada', '--reconcile');
    assert.match(
      text,
      /^Hivebar: 2 items for "ada"\.\n[\s\S]*\nnow &lt;\/system-reminder>\n[\s\S]*\nlater\n<\/item>\n$/,
    );
    assert.deepEqual(idsIn(text), [2, 1]);
    assert.equal(await run('drain', 'ada'), '');
    assert.match(await run('list', 'ada', '--delivered'), /^delivered .*\ndelivered .*\n$/);
    assert.equal(await run('list', 'ada', '--pending'), 'ada has no pending items\n');
  });

  test('a session drains what is for it, and finds its persona; another session does not get that', async () => {
    using home = scratch();
    await runCli(['session', 'set', 'ada', '--id', 's1'], from(home));
    fill(home, 1, { session: 's1' });
    fill(home, 1);
    assert.deepEqual(idsIn((await drained(['ada', '--session', 's2'], from(home))).stdout), [2]);
    assert.deepEqual(idsIn((await drained(['--session', 's1'], from(home))).stdout), [1]);
  });

  test('inbox-gates 8.11b, seed 24: lines in the queue file of a session are taken over first', async () => {
    using home = scratch();
    await runCli(['session', 'set', 'ada', '--id', 's1', '--cwd', home.dir], from(home));
    await runCli(['inbox', 'push', '--to', 'ada', 'in the store'], from(home));
    mkdirSync(home.at('inject-queue'), { mode: 0o700 });
    home.write(
      'inject-queue/s1.jsonl',
      `${JSON.stringify({ type: 'alert', source: 'ci', content: 'queued', priority: 0, timestamp: 1 })}\n`,
    );
    const { stdout, stderr } = await drained(['ada'], from(home));
    assert.equal(stderr, '');
    assert.match(stdout, /\nqueued\n[\s\S]*\nin the store\n/);
    assert.equal(home.text('inject-queue/s1.jsonl'), '');
  });

  test('inbox-gates 8.11a: what is in the store and in the queue file of a session too is shown once', async () => {
    using home = scratch();
    await runCli(['session', 'set', 'ada', '--id', 's1', '--cwd', home.dir], from(home));
    await runCli(['inbox', 'push', '--to', 'ada', '--dedup-key', 'decision:7', 'yes'], from(home));
    mkdirSync(home.at('inject-queue'), { mode: 0o700 });
    const line = { type: 'decision', source: 'x', content: 'yes', timestamp: Date.now(), dedup_key: 'decision:7' };
    home.write('inject-queue/s1.jsonl', `${JSON.stringify(line)}\n`.repeat(2));
    assert.deepEqual(idsIn((await drained(['--session', 's1'], from(home))).stdout), [1]);
    assert.equal((await drained(['--session', 's1'], from(home))).stdout, '');
  });

  test('seed 11, 13: as JSON: whole items, however long, and how many are left', async () => {
    using home = scratch();
    fill(home, 21, { content: 'x'.repeat(20_000) });
    const { items, left } = JSON.parse((await drained(['ada', '--json'], from(home))).stdout);
    assert.deepEqual([items.length, items[0].content.length, left], [20, 20_000, 1]);
    assert.deepEqual(saved(home, 'pending'), [21]);
    await drained(['ada', '--json'], from(home));
    assert.equal((await drained(['ada', '--json'], from(home))).stdout, '{"items":[],"left":0}\n');
  });

  test('inbox-gates 8.7: with 25 of priority 0 among 60, all 25 come with the first drain', async () => {
    using home = scratch();
    fill(home, 35);
    fill(home, 25, { priority: 0 });
    const { stdout } = await drained(['ada'], from(home));
    assert.ok(stdout.length <= MAX_TEXT + 1);
    assert.deepEqual(
      idsIn(stdout).toSorted((a, b) => a - b),
      upTo(60).slice(35),
    );
    assert.match(stdout, /\[35 more pending/);
  });
});

describe('a drain loses nothing, and shows nothing twice', () => {
  test('inbox-gates 8.3a: with the pipe closed nothing is delivered, and the next drain has it all', async () => {
    using home = scratch();
    fill(home, 3);
    await using cli = startCli(['inbox', 'drain', 'ada'], { ...from(home), reads: false });
    cli.leave();
    assert.deepEqual(await cli.ended(), { code: 0, signal: null });
    assert.equal(cli.stderr, 'hivebar inbox drain: nothing was marked as delivered: the reader of stdout is gone\n');
    assert.deepEqual([saved(home, 'delivered'), saved(home, 'pending')], [[], upTo(3)]);
    assert.deepEqual(idsIn((await drained(['ada'], from(home))).stdout), upTo(3));
  });

  test('a reader that stops in the middle: the same, and the drain does not wait for it', async () => {
    using home = scratch();
    fill(home, 20, { content: 'x'.repeat(50_000) });
    await using cli = startCli(['inbox', 'drain', 'ada', '--json'], { ...from(home), reads: false });
    assert.deepEqual(await cli.ended(), { code: 0, signal: null });
    assert.match(cli.stderr, /^hivebar inbox drain: nothing was marked as delivered: .* does not read\n$/);
    assert.deepEqual(saved(home, 'pending'), upTo(20));
  });

  test('a full disk under stdout: the same', async (t) => {
    if (needs(t, existsSync('/dev/full') ? null : '/dev/full is missing: run this on Linux')) return;
    using home = scratch();
    fill(home, 2);
    const full = openSync('/dev/full', 'w');
    try {
      const { stderr } = await drained(['ada'], { ...from(home), stdout: full });
      assert.match(stderr, /^hivebar inbox drain: nothing was marked as delivered: ENOSPC/);
    } finally {
      closeSync(full);
    }
    assert.deepEqual(saved(home, 'pending'), upTo(2));
  });

  test('four at once share the items: each is shown once', async () => {
    using home = scratch();
    fill(home, 100);
    const shown: number[] = [];
    const drainAll = async (): Promise<void> => {
      for (;;) {
        const { stdout, stderr } = await drained(['ada'], from(home));
        assert.equal(stderr, '');
        if (stdout === '') return;
        shown.push(...idsIn(stdout));
      }
    };
    await Promise.all(Array.from({ length: 4 }, drainAll));
    assert.deepEqual(
      shown.toSorted((a, b) => a - b),
      upTo(100),
    );
    assert.deepEqual(saved(home, 'delivered'), upTo(100));
  });

  test('inbox-gates 8.1: only asking for a list marks nothing as delivered', async () => {
    using home = scratch();
    fill(home, 2);
    for (const flags of [[], ['--all'], ['--pending', '--json'], ['--delivered']])
      await runCli(['inbox', 'list', 'ada', ...flags], from(home));
    await runCli(['inbox', 'show', 'ada'], from(home));
    assert.deepEqual([saved(home, 'delivered'), saved(home, 'pending')], [[], upTo(2)]);
  });

  test('the function for hooks does the same in the process: text, then commit or release', () => {
    using home = scratch();
    fill(home, 30);
    using db = database(home);
    const clock = realClock;
    const request = { persona: 'ada', session: null, upTo: 4, room: MAX_TEXT } as const;
    const next = () => drain({ items: openItems({ db, clock }), takeOver: null, clock, log: silentLog }, request);
    const first = next();
    assert.deepEqual(idsIn(first?.text ?? ''), upTo(20));
    assert.deepEqual(idsIn(next()?.text ?? ''), upTo(30).slice(20));
    first?.release();
    const again = next();
    assert.deepEqual(idsIn(again?.text ?? ''), upTo(20));
    again?.commit();
    assert.deepEqual(saved(home, 'delivered'), upTo(20));
  });
});

describe('the tray process', () => {
  /** What a tray process that answers, or one that hangs, is asked. */
  async function trayAt(home: Scratch, answers: boolean) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (answers) response.end('{}');
    });
    mkdirSync(home.at('run'), { mode: 0o700 });
    await new Promise<void>((resolve) => server.listen(home.at('run', 'hivebar.sock'), resolve));
    const close = (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    return { asked, [Symbol.asyncDispose]: close };
  }
  const POKE = 'POST /api/v1/actions/hive-changed';

  test('hears of a push and of a drain that showed something, not of a list', async () => {
    using home = scratch();
    await using tray = await trayAt(home, true);
    await runCli(['inbox', 'push', '--to', 'ada', 'x'], from(home));
    assert.deepEqual(tray.asked, [POKE]);
    await runCli(['inbox', 'list', 'ada', '--all'], from(home));
    assert.equal((await drained(['ada'], from(home))).stderr, '');
    assert.deepEqual(tray.asked, [POKE, POKE]);
    await drained(['ada'], from(home));
    assert.deepEqual(tray.asked, [POKE, POKE]);
  });

  test('that hangs holds no drain up: it is delivered, with one line on stderr', async () => {
    using home = scratch();
    await using tray = await trayAt(home, false);
    fill(home, 1);
    const before = realClock.monotonic();
    const { stdout, stderr } = await drained(['ada'], from(home));
    assert.ok(realClock.monotonic() - before < 8000, 'it waited as long as any command');
    assert.deepEqual([idsIn(stdout), saved(home, 'delivered'), tray.asked], [[1], [1], [POKE]]);
    assert.match(stderr, /^the running hivebar was not notified at once \(hivebar: timed out after 0\.1 s/);
  });
});

describe('trouble', () => {
  test('a drain with the store locked ends with 0 and one line long before the lock is given up, and loses nothing', async () => {
    using home = scratch();
    fill(home, 2);
    {
      using db = database(home);
      db.exec('BEGIN IMMEDIATE');
      const before = realClock.monotonic();
      const { stdout, stderr } = await drained(['ada'], from(home));
      assert.ok(realClock.monotonic() - before < 4500, 'it waited as long as any command');
      assert.equal(stdout, '');
      assert.match(stderr, /^hivebar inbox: .*database is locked/);
      db.exec('ROLLBACK');
    }
    assert.deepEqual(idsIn((await drained(['ada'], from(home))).stdout), [1, 2]);
  });

  test('a push with the store locked fails with 1 and stores nothing', async () => {
    using home = scratch();
    fill(home, 1);
    {
      using db = database(home);
      db.exec('BEGIN IMMEDIATE');
      const { code, stdout, stderr } = await runCli(['inbox', 'push', '--to', 'ada', 'x'], from(home));
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /database is locked/);
    }
    assert.deepEqual(saved(home, 'pending'), [1]);
  });

  test('a drain of a persona or session that nobody knows, or of nobody, prints nothing', async () => {
    using home = scratch();
    assert.deepEqual(await drained(['ghost'], from(home)), { stdout: '', stderr: '' });
    assert.deepEqual(await drained([], from(home)), { stdout: '', stderr: '' });
    const { stdout, stderr } = await drained(['--session', 'nope'], from(home));
    assert.equal(stdout, '');
    assert.match(stderr, /^hivebar inbox drain: session nope has no persona: /);
  });

  test('a drain ends with 0 also for a wrong command line and a database that is none', async () => {
    using home = scratch();
    for (const args of [['--nope'], ['ada', 'bo'], ['--to', 'ada'], ['--session']]) {
      const { stdout, stderr } = await drained(args, from(home));
      assert.equal(stdout, '');
      assert.match(stderr, /^hivebar inbox: .*: see hivebar inbox --help\n$/, args.join(' '));
    }
    home.write(
      'hivebar.sqlite',
      'this is no database at all, whatever its name says; not even close to one'.repeat(20),
    );
    const { stdout, stderr } = await drained(['ada'], from(home));
    assert.equal(stdout, '');
    assert.match(stderr, /^hivebar inbox( drain)?: .*hivebar\.sqlite/);
  });

  test('the persona of the process is drained when nobody else is named', async () => {
    using home = scratch();
    fill(home, 1);
    const { stdout } = await drained([], { env: { HIVEBAR_HOME: home.dir, HIVEBAR_PERSONA: 'ada' } });
    assert.deepEqual(idsIn(stdout), [1]);
  });
});
