import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { exactly, Fault, type Health, UNKNOWN } from '../model/index.ts';
import { type Clock, type Log, realFiles } from '../ports/index.ts';
import { openDatabase } from '../state/index.ts';
import type { History, HistoryFact } from './history.ts';
import { openHistory } from './open-history.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-history-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

const START = 1_750_000_000_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;

let made = 0;
function freshPath(): string {
  made += 1;
  const directory = join(home, `dir-${made}`);
  fs.mkdirSync(directory, { mode: 0o700 });
  return join(directory, 'history.sqlite');
}

/** A process with a clock of its own: `step` moves its wall clock, `advance` lets time pass. */
interface Run extends Disposable {
  readonly history: History;
  readonly lines: string[];
  now(): number;
  advance(ms: number): Promise<void>;
  step(ms: number): void;
  joined(...personas: string[]): void;
  polled(persona: string, unread: number): void;
  failed(persona: string, is: 'failing' | 'down', key?: string): void;
  hear(fact: HistoryFact): void;
}

function start(path: string, at = START, keepDays = 30): Run {
  const fake = fakeClock(at);
  let stepped = 0;
  const clock: Clock = { ...fake, now: () => fake.now() + stepped };
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const log: Log = { info: say, warn: say, error: say };
  const history = openHistory({ path, files: realFiles, clock, log, keepDays });
  const stop = new AbortController();
  void history.service.run(stop.signal);
  const now = (): number => clock.now();
  return {
    history,
    lines,
    now,
    advance: (ms) => fake.advance(ms),
    step: (ms) => {
      stepped += ms;
    },
    joined: (...personas) => {
      for (const persona of personas) history.hear({ is: 'joined', at: now(), persona });
    },
    polled: (persona, unread) =>
      history.hear({
        is: 'polled',
        at: now(),
        persona,
        health: { is: 'up', since: now() },
        unread: exactly(unread),
        urgent: exactly(0),
      }),
    failed: (persona, is, key = 'hive') => {
      const health: Health =
        is === 'down' ? { is, since: now(), failures: 3, why: 'refused' } : { is, failures: 1, why: 'refused' };
      const fault = new Fault('refused', `connect to ${key} was refused`, { is: 'source', key });
      history.hear({ is: 'failed', at: now(), persona, health, fault });
    },
    hear: (fact) => history.hear(fact),
    [Symbol.dispose]: () => {
      stop.abort();
      history[Symbol.dispose]();
      assert.equal(fake.waiting, 0, 'a timer was left');
    },
  };
}

/** The unread numbers of the last hours, without how long each held. */
function numbers({ history }: Run, persona: string, hours = 1): (number | null)[] {
  return (history.findPersona(persona, hours)?.points ?? []).map(([, unread]) => unread);
}

/** The states of the last hours with their lengths in minutes, rounded. */
function spans({ history }: Run, persona: string, hours = 1): string[] {
  return (history.findPersona(persona, hours)?.states ?? []).map(
    ({ state, from, to }) => `${state} ${Math.round((to - from) / MINUTE)}`,
  );
}

function alerts({ history }: Run): string[] {
  return history
    .alerts(100)
    .map(({ key, personas, since, until }) =>
      [key, personas.join('+'), until === null ? 'open' : `${(until - since) / 1000} s`].join(' '),
    );
}

/** One row a point, as stored. */
function rowsIn(path: string): number {
  using db = openDatabase(path);
  return db.prepare<{ n: number }>('SELECT count(*) AS n FROM points').get()?.n ?? 0;
}

describe('levels and states', () => {
  test('only changes are kept, and a number that is not known is null, never 0', async () => {
    const path = freshPath();
    {
      using run = start(path);
      run.joined('ada');
      run.polled('ada', 3);
      for (let i = 0; i < 20; i += 1) {
        await run.advance(MINUTE);
        run.polled('ada', 3);
      }
      run.hear({ is: 'counted', at: run.now(), counts: [{ persona: 'ada', unread: UNKNOWN, urgent: UNKNOWN }] });
      await run.advance(MINUTE);
      run.polled('ada', 0);
      await run.advance(MINUTE);
      assert.deepEqual(numbers(run, 'ada'), [null, 3, null, 0]);
      assert.deepEqual(spans(run, 'ada'), ['unknown 38', 'up 22']);
    }
    assert.equal(rowsIn(path), 3);
  });

  test('a persona that failed and went down shows both, and no number from its outage on', async () => {
    using run = start(freshPath());
    run.joined('ada');
    run.polled('ada', 3);
    await run.advance(10 * MINUTE);
    run.failed('ada', 'failing');
    await run.advance(2 * MINUTE);
    run.failed('ada', 'down');
    await run.advance(MINUTE);
    run.failed('ada', 'down');
    await run.advance(7 * MINUTE);
    run.polled('ada', 4);
    await run.advance(MINUTE);
    assert.deepEqual(spans(run, 'ada'), ['unknown 39', 'up 10', 'failing 2', 'down 8', 'up 1']);
    assert.deepEqual(numbers(run, 'ada'), [null, 3, null, 4]);
  });

  test('facts of who has not joined, or has left, leave no trace', () => {
    using run = start(freshPath());
    run.polled('bo', 1);
    assert.equal(run.history.findPersona('bo', 1), null);
    run.joined('bo');
    run.polled('bo', 1);
    run.hear({ is: 'left', at: run.now(), persona: 'bo' });
    run.polled('bo', 2);
    assert.deepEqual(numbers(run, 'bo'), [null]);
  });

  test('the borders of slots stand still, the worst state of a slot and its last known number are shown', async () => {
    using run = start(freshPath(), Math.ceil(START / (16 * MINUTE)) * 16 * MINUTE);
    run.joined('ada', 'bo');
    run.polled('ada', 3);
    await run.advance(5 * MINUTE);
    run.failed('ada', 'failing');
    run.polled('ada', 5);
    await run.advance(10 * MINUTE);
    const first = run.history.overview(24);
    await run.advance(MINUTE);
    run.failed('ada', 'down');
    const second = run.history.overview(24);
    assert.equal(first.to - first.from, 24 * HOUR);
    assert.equal(second.from - first.from, 16 * MINUTE);
    assert.deepEqual(first.personas.get('ada')?.unread.slice(-2), [null, 5]);
    assert.deepEqual(second.personas.get('ada')?.unread.slice(-3), [null, 5, null]);
    assert.deepEqual(second.personas.get('ada')?.states.slice(-3), ['unknown', 'up', 'down']);
    assert.ok(second.personas.get('bo')?.states.every((state) => state === 'unknown'));
    assert.equal(second.personas.get('bo')?.states.length, 90);
  });

  test('a number that changed very often is thinned, and ends with the present one', async () => {
    using run = start(freshPath());
    run.joined('ada');
    for (let n = 0; n < 3000; n += 1) {
      run.polled('ada', n);
      await run.advance(1000);
    }
    const { points, states } = run.history.findPersona('ada', 1) ?? { points: [], states: [] };
    assert.ok(points.length > 300 && points.length <= 1001, String(points.length));
    assert.equal(points.at(-1)?.[1], 2999);
    assert.deepEqual(
      states.map(({ state }) => state),
      ['unknown', 'up'],
    );
  });
});

describe('time that nobody watched is unknown', () => {
  test('between a stop and the next start', async () => {
    const path = freshPath();
    {
      using run = start(path);
      run.joined('ada');
      run.polled('ada', 3);
      await run.advance(10 * MINUTE);
    }
    using next = start(path, START + 20 * MINUTE);
    next.joined('ada');
    assert.deepEqual(spans(next, 'ada'), ['unknown 40', 'up 10', 'unknown 10']);
    next.polled('ada', 3);
    await next.advance(5 * MINUTE);
    assert.deepEqual(spans(next, 'ada'), ['unknown 35', 'up 10', 'unknown 10', 'up 5']);
    assert.deepEqual(numbers(next, 'ada'), [null, 3, null, 3]);
  });

  test('after a crash: known to the last beat before it, and no further', async () => {
    const path = freshPath();
    using crashed = start(path);
    crashed.joined('ada');
    crashed.polled('ada', 3);
    await crashed.advance(10 * MINUTE + 30_000); // the beats are each minute
    using next = start(path, START + 40 * MINUTE);
    assert.deepEqual(spans(next, 'ada'), ['unknown 20', 'up 10', 'unknown 30']);
    assert.equal(next.history.findPersona('ada', 1)?.states[1]?.to, START + 10 * MINUTE + 1);
  });

  test('asleep: until the first fact after it, also when that says what was known before', async () => {
    using run = start(freshPath());
    run.joined('ada', 'bo');
    run.polled('ada', 3);
    run.polled('bo', 1);
    await run.advance(10 * MINUTE);
    run.step(20 * MINUTE);
    await run.advance(MINUTE);
    run.polled('ada', 3);
    await run.advance(4 * MINUTE);
    assert.deepEqual(spans(run, 'ada'), ['unknown 25', 'up 10', 'unknown 21', 'up 4']);
    assert.deepEqual(spans(run, 'bo'), ['unknown 25', 'up 10', 'unknown 25']);
    run.hear({ is: 'counted', at: run.now(), counts: [{ persona: 'bo', unread: exactly(1), urgent: exactly(0) }] });
    await run.advance(MINUTE);
    assert.deepEqual(spans(run, 'bo'), ['unknown 24', 'up 10', 'unknown 25', 'up 1']);
  });
});

describe('a clock that was set back', () => {
  test('what is lived through again replaces what stood there, and nothing stands behind now', async () => {
    using run = start(freshPath());
    run.joined('ada');
    run.polled('ada', 1);
    await run.advance(10 * MINUTE);
    run.polled('ada', 2);
    await run.advance(20 * MINUTE);
    run.polled('ada', 3);
    await run.advance(5 * MINUTE);
    run.step(-30 * MINUTE); // now it is 5 minutes after the start again
    await run.advance(MINUTE);
    assert.deepEqual(numbers(run, 'ada'), [null, 1, 3]);
    await run.advance(10 * MINUTE);
    run.polled('ada', 4);
    await run.advance(30 * MINUTE); // past the points of the first time
    assert.deepEqual(numbers(run, 'ada'), [null, 1, 3, 4]);
    assert.deepEqual(spans(run, 'ada'), ['unknown 14', 'up 46']);
  });

  test('between two runs: the time from then on is unknown until it is lived through', async () => {
    const path = freshPath();
    {
      using run = start(path);
      run.joined('ada');
      run.polled('ada', 1);
      await run.advance(30 * MINUTE);
      run.polled('ada', 2);
      await run.advance(10 * MINUTE);
    }
    using next = start(path, START + 10 * MINUTE);
    next.joined('ada');
    assert.deepEqual(numbers(next, 'ada'), [null, 1, null]);
    await next.advance(5 * MINUTE);
    next.polled('ada', 7);
    await next.advance(30 * MINUTE);
    assert.deepEqual(numbers(next, 'ada'), [null, 1, null, 7]);
  });

  test('a clock that is steered back a little changes nothing', async () => {
    const path = freshPath();
    using run = start(path);
    run.joined('ada');
    run.polled('ada', 1);
    run.step(-500);
    run.polled('ada', 2);
    assert.equal(rowsIn(path), 0, 'nothing is written in haste');
    for (let i = 0; i < 100; i += 1) {
      await run.advance(1000);
      run.step(-200);
      run.polled('ada', i % 2);
    }
    const { points = [] } = run.history.findPersona('ada', 1) ?? {};
    assert.equal(points.length, 102);
    assert.deepEqual(
      points,
      points.toSorted(([a], [b]) => a - b),
    );
  });
});

describe('outages', () => {
  test('one row a cause, from its first trouble to the end of its last, with everybody it was about', async () => {
    using run = start(freshPath());
    run.joined('ada', 'bo', 'cy');
    run.failed('ada', 'failing');
    assert.deepEqual(alerts(run), []);
    run.failed('ada', 'down');
    await run.advance(10_000);
    run.failed('bo', 'down');
    run.failed('cy', 'down', 'cy alone');
    run.failed('ada', 'down');
    assert.deepEqual(alerts(run), ['cy alone cy open', 'hive ada+bo open']);
    await run.advance(10_000);
    run.polled('ada', 1);
    await run.advance(5000);
    run.polled('bo', 1);
    run.hear({ is: 'left', at: run.now(), persona: 'cy' });
    assert.deepEqual(alerts(run), ['cy alone cy 15 s', 'hive ada+bo 25 s']);
    run.failed('ada', 'down');
    assert.deepEqual(alerts(run), ['hive ada open', 'cy alone cy 15 s', 'hive ada+bo 25 s']);
    assert.equal(run.history.alerts(1).length, 1);
    assert.equal(run.history.alerts(1)[0]?.message.startsWith('connect to hive was refused: '), true);
  });

  test('events that wait, a file that is behind and a source that says nothing are outages as well', async () => {
    using run = start(freshPath());
    const full = new Fault('no-space', 'no space left', { is: 'machine', key: 'disk' });
    const gone = new Fault('refused', 'connect was refused', { is: 'source', key: 'kijito' });
    run.joined('ada');
    run.hear({ is: 'held', at: run.now(), persona: 'ada', fault: full });
    run.hear({ is: 'published', at: run.now(), persona: 'bo', fault: full });
    run.hear({ is: 'source', at: run.now(), source: 'kijito', fault: gone });
    await run.advance(1000);
    run.polled('ada', 1); // it can be read, and its events wait all the same
    run.hear({ is: 'delivered', at: run.now(), persona: 'ada' });
    assert.deepEqual(alerts(run), ['kijito  open', 'disk ada+bo open']);
    await run.advance(1000);
    run.hear({ is: 'published', at: run.now(), persona: 'bo', fault: null });
    run.hear({ is: 'source', at: run.now(), source: 'kijito', fault: null });
    assert.deepEqual(alerts(run), ['kijito  2 s', 'disk ada+bo 2 s']);
  });

  test('a persona that goes from one cause to another leaves the first', async () => {
    using run = start(freshPath());
    run.joined('ada');
    run.failed('ada', 'down', 'hive');
    await run.advance(1000);
    run.failed('ada', 'down', 'token');
    assert.deepEqual(alerts(run), ['token ada open', 'hive ada 1 s']);
  });

  test('left open by a crash: continued by who is down still, ended by who is up', async () => {
    const path = freshPath();
    using crashed = start(path);
    crashed.joined('ada', 'bo');
    crashed.failed('ada', 'down', 'one');
    crashed.failed('bo', 'down', 'two');
    await crashed.advance(2 * MINUTE);
    using next = start(path, START + 10 * MINUTE);
    next.joined('ada', 'bo');
    next.failed('ada', 'failing', 'one');
    assert.deepEqual(alerts(next), ['two bo open', 'one ada open']);
    next.failed('ada', 'down', 'one');
    next.polled('bo', 0);
    assert.deepEqual(alerts(next), ['two bo 600 s', 'one ada open']);
    await next.advance(20 * MINUTE);
    next.polled('ada', 0);
    assert.deepEqual(alerts(next), ['two bo 600 s', 'one ada 1800 s']);
  });

  test('left open by a crash, and nobody speaks of it any more: it ended where it was last seen', async () => {
    const path = freshPath();
    using crashed = start(path);
    crashed.joined('ada', 'bo');
    crashed.failed('ada', 'down', 'one');
    crashed.failed('bo', 'down', 'two');
    await crashed.advance(2 * MINUTE);
    using next = start(path, START + 10 * MINUTE);
    next.joined('bo');
    next.failed('bo', 'failing', 'two');
    await next.advance(9 * MINUTE);
    assert.deepEqual(alerts(next), ['two bo open', 'one ada open']);
    await next.advance(2 * MINUTE);
    assert.deepEqual(alerts(next), ['two bo open', 'one ada 120 s']);
  });

  test('an outage that outlived a set-back clock is never shorter than nothing', async () => {
    using run = start(freshPath());
    run.joined('ada');
    run.failed('ada', 'down');
    await run.advance(MINUTE);
    run.step(-HOUR);
    run.polled('ada', 1);
    assert.deepEqual(alerts(run), ['hive ada 0 s']);
  });
});

describe('the database', () => {
  test('a storm of 1,000 facts is one transaction some seconds later', async () => {
    const path = freshPath();
    using run = start(path);
    const many = Array.from({ length: 1000 }, (_, i) => `p${i}`);
    run.joined(...many);
    const before = rowsIn(path);
    for (const persona of many) run.polled(persona, 1);
    for (const persona of many) run.failed(persona, 'down');
    await run.advance(2999);
    assert.equal(rowsIn(path), before);
    await run.advance(1);
    assert.equal(rowsIn(path), 1000); // of one moment, the last
    assert.equal(run.history.alerts(1)[0]?.personas.length, 1000);
  });

  const bad: readonly (readonly [string, (path: string) => void])[] = [
    ['no database', (path) => fs.writeFileSync(path, 'not a database, though it is long enough to be one '.repeat(99))],
    [
      'a database of something else',
      (path) => {
        using db = openDatabase(path);
        db.exec('CREATE TABLE mail (text TEXT)');
      },
    ],
    [
      'a database of a newer Hivebar',
      (path) => {
        start(path)[Symbol.dispose]();
        using db = openDatabase(path);
        db.exec('UPDATE schema_versions SET version = 99');
      },
    ],
    [
      'tables that are not ours',
      (path) => {
        start(path)[Symbol.dispose]();
        using db = openDatabase(path);
        db.exec('DROP TABLE points; CREATE TABLE points (x TEXT)');
      },
    ],
    ['a symbolic link', (path) => fs.symlinkSync(join(home, 'nowhere'), path)],
    ['a directory', (path) => fs.mkdirSync(path)],
    [
      'a damaged file',
      (path) => {
        start(path)[Symbol.dispose]();
        const bytes = fs.readFileSync(path);
        bytes.fill(0xff, 4096);
        fs.writeFileSync(path, bytes);
      },
    ],
  ];
  for (const [label, make] of bad) {
    test(`${label} in its place is set aside with one line, and history begins anew`, () => {
      const path = freshPath();
      make(path);
      using run = start(path);
      run.joined('ada');
      run.polled('ada', 3);
      assert.deepEqual(numbers(run, 'ada'), [null, 3]);
      assert.equal(run.lines.length, 1, run.lines.join('\n'));
      assert.match(run.lines[0] ?? '', /new history was started, and the old one is now .*\.set-aside: /);
      assert.ok(fs.lstatSync(`${path}.set-aside`));
      assert.equal(fs.existsSync(join(home, 'nowhere')), false);
    });
  }

  test('damage that is met while it runs: set aside, and what is open is in the new one', async () => {
    const path = freshPath();
    {
      using run = start(path);
      run.joined('ada');
      for (let n = 0; n < 2000; n += 1) {
        run.polled('ada', n);
        await run.advance(500);
      }
    }
    const bytes = fs.readFileSync(path);
    bytes.fill(0xff, 4096 * 10);
    fs.writeFileSync(path, bytes);
    using run = start(path, START + HOUR);
    run.joined('ada');
    run.failed('ada', 'down');
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        run.history.overview(24);
      } catch (error) {
        assert.ok(error instanceof Fault);
      }
    }
    assert.deepEqual(alerts(run), ['hive ada open']);
    assert.deepEqual(spans(run, 'ada'), ['unknown 60', 'down 0']);
    assert.equal(run.lines.length, 1, run.lines.join('\n'));
  });

  test('deleted while it runs: it begins anew with what is so now', async () => {
    const path = freshPath();
    using run = start(path);
    run.joined('ada');
    run.failed('ada', 'down');
    await run.advance(5 * MINUTE);
    for (const name of fs.readdirSync(join(path, '..'))) fs.unlinkSync(join(path, '..', name));
    await run.advance(2 * MINUTE);
    assert.ok(fs.existsSync(path));
    assert.deepEqual(alerts(run), ['hive ada open']);
    assert.deepEqual(spans(run, 'ada'), ['unknown 59', 'down 1']);
  });

  test('a file that cannot be written is said once; when it can again, the time between is unknown, outages are whole', async () => {
    const path = freshPath();
    using run = start(path);
    run.joined('ada');
    run.polled('ada', 1);
    await run.advance(10 * MINUTE);
    const other = openDatabase(path);
    other.exec('BEGIN IMMEDIATE');
    await run.advance(MINUTE);
    run.failed('ada', 'down');
    await run.advance(MINUTE);
    run.polled('ada', 2);
    await run.advance(8 * MINUTE);
    assert.throws(() => run.history.overview(24), Fault);
    other.exec('ROLLBACK');
    other[Symbol.dispose]();
    await run.advance(5 * MINUTE);
    assert.deepEqual(spans(run, 'ada'), ['unknown 35', 'up 10', 'unknown 11', 'up 4']);
    assert.deepEqual(numbers(run, 'ada'), [null, 1, null, 2]);
    assert.deepEqual(alerts(run), ['hive ada 60 s']);
    assert.deepEqual(
      run.lines.map((line) => line.replace(/:.*/, '')),
      ['history is not recorded', 'history is recorded again'],
    );
  });

  test('a directory that refuses keeps nobody from running', async () => {
    const path = freshPath();
    fs.writeFileSync(join(path, '..', 'file'), '');
    using run = start(join(path, '..', 'file', 'history.sqlite'));
    run.joined('ada');
    run.polled('ada', 1);
    await run.advance(10 * MINUTE);
    assert.throws(() => run.history.alerts(1), Fault);
    assert.equal(run.lines.length, 1, run.lines.join('\n'));
  });

  test('what is older than is kept goes piece by piece; what holds beyond it stays', async () => {
    const path = freshPath();
    {
      using run = start(path);
      run.joined('ada', 'bo', 'gone');
      run.polled('bo', 7);
      run.polled('gone', 1);
      run.failed('gone', 'down');
      run.hear({ is: 'left', at: run.now(), persona: 'gone' });
      for (let n = 0; n < 1200; n += 1) {
        run.polled('ada', n);
        await run.advance(1000);
      }
      assert.ok(rowsIn(path) >= 1200);
    }
    const twoDays = START + 48 * HOUR;
    using run = start(path, twoDays, 1);
    assert.equal(run.history.alerts(10).length, 1);
    await run.advance(MINUTE);
    assert.ok(rowsIn(path) > 500, 'not all at once');
    await run.advance(5 * MINUTE);
    assert.equal(rowsIn(path), 0, 'nothing is left of personas that are not there any more');
    assert.deepEqual(alerts(run), []);
    assert.equal(run.history.findPersona('gone', 1), null);
  });

  test('a number that has stood longer than history is kept is still known', async () => {
    const path = freshPath();
    using run = start(path, START, 1);
    run.joined('ada');
    run.polled('ada', 5);
    for (let i = 0; i < 48; i += 1) await run.advance(HOUR);
    assert.deepEqual(numbers(run, 'ada', 24), [5]);
    assert.deepEqual(spans(run, 'ada', 24), ['up 1440']);
    assert.deepEqual(spans(run, 'ada', 24 * 365), ['up 1440'], 'no further back than is kept');
  });
});

describe('the state before a restart', () => {
  test('given an inbox that was up before and after a stop, it is up since before', async () => {
    const path = freshPath();
    let upSince = 0;
    {
      using run = start(path);
      run.joined('ada', 'bo', 'cy');
      run.failed('ada', 'down');
      run.polled('bo', 1);
      await run.advance(HOUR);
      upSince = run.now();
      run.polled('ada', 1);
      run.failed('bo', 'down');
      await run.advance(HOUR);
      run.failed('ada', 'failing');
      run.polled('ada', 2);
      await run.advance(HOUR);
    }
    using run = start(path, START + 10 * HOUR);
    assert.deepEqual(run.history.findLastState('ada'), { state: 'up', since: upSince });
    assert.deepEqual(run.history.findLastState('bo'), { state: 'down', since: upSince });
    assert.equal(run.history.findLastState('cy'), null, 'nothing was ever known of it');
    assert.equal(run.history.findLastState('nobody'), null);
    run.joined('ada');
    run.polled('ada', 2);
    await run.advance(HOUR);
    assert.deepEqual(run.history.findLastState('ada'), { state: 'up', since: upSince }, 'also after the next stop');
  });
});
