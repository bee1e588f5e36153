import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { exactly, formatIso } from '../model/index.ts';
import { type Clock, silentLog } from '../ports/index.ts';
import { type Database, openDatabase } from '../state/index.ts';
import type { TrimmedMessage } from './item.ts';
import { openLocalHive } from './local-hive.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-window-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

const never = new AbortController().signal;
const NAMES = ['ada', 'bo', 'cy'];
const CHARS = 8;
/** So many rows are held in memory, see recent.ts. */
const HELD = 2000;

/** What `window` is to answer, by the plainest queries there are and without anything that is kept. */
function plainly(db: Database, name: string, cursor: number | null) {
  const all = db
    .prepare<{ seq: number; from_: string; content: string; urgent: number; created: number; read_at: number | null }>(
      'SELECT * FROM inbox WHERE persona = ? ORDER BY seq',
    )
    .all(name);
  const rows: readonly TrimmedMessage[] = all
    .filter((row) => cursor !== null && row.seq > cursor)
    .map((row) => ({
      id: row.seq,
      from: row.from_,
      created: formatIso(row.created),
      content: [...row.content].slice(0, CHARS).join(''),
      read: row.read_at !== null,
    }));
  const unread = all.filter((row) => row.read_at === null);
  return {
    messages: rows,
    unread: exactly(unread.length),
    urgent: exactly(unread.filter((row) => row.urgent === 1).length),
  };
}

type Act =
  | {
      readonly is: 'send';
      readonly to: string;
      readonly from: string;
      readonly content: string;
      readonly urgent: boolean;
      readonly here: boolean;
    }
  | { readonly is: 'storm'; readonly to: readonly string[]; readonly count: number; readonly here: boolean }
  | { readonly is: 'read'; readonly name: string; readonly which: 'all' | number; readonly here: boolean }
  | { readonly is: 'fetch'; readonly name: string; readonly limit: number; readonly here: boolean }
  | { readonly is: 'reap'; readonly back: number }
  | { readonly is: 'turn' }
  | { readonly is: 'look'; readonly name: string; readonly cursor: Cursor };

/** Where a look goes on: nowhere, from the first row, or so many ids below (or above) the newest. */
type Cursor = null | 'first' | number;

function toItemId(cursor: Cursor, last: number): number | null {
  if (cursor === null) return null;
  return cursor === 'first' ? 0 : Math.max(0, last - cursor);
}

const name = fc.constantFrom(...NAMES);
const isHere = fc.boolean();
/** Characters of 1 to 4 bytes and NUL, so that a cut by bytes falls between and into them; and whatever else there is. */
const content = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '\0', 'é', '漢', '😀'), maxLength: 3 * CHARS }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', 'x'.repeat(5000), '😀'.repeat(CHARS), `\0${'😀'.repeat(CHARS)}`, '漢'.repeat(2000)),
);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      is: fc.constant('send' as const),
      to: name,
      from: fc.constantFrom('zoe', 'ada', 'BO'), // some of it is mail to oneself
      content,
      urgent: fc.boolean(),
      here: isHere,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant('storm' as const),
      to: fc.subarray(NAMES, { minLength: 1 }),
      count: fc.constantFrom(900, HELD - 1, HELD, HELD + 1),
      here: isHere,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant('read' as const),
      name,
      which: fc.oneof(fc.constant('all' as const), fc.nat(4)),
      here: isHere,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('fetch' as const),
      name,
      limit: fc.integer({ min: 1, max: 4 }),
      here: isHere,
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('reap' as const), back: fc.nat(6) }) },
  { weight: 4, arbitrary: fc.constant({ is: 'turn' as const }) },
  {
    weight: 16,
    arbitrary: fc.record({
      is: fc.constant('look' as const),
      name: fc.oneof({ weight: 6, arbitrary: name }, { weight: 1, arbitrary: fc.constant('nobody') }),
      cursor: fc.oneof(fc.constantFrom(null, 'first' as const), fc.integer({ min: -3, max: 10 })),
    }),
  },
);

test('a window is what the table holds, whoever wrote it and whatever was read or deleted in between', async () => {
  let made = 0;
  /** Not on a disk that is asked to flush: what is tested is who sees what, and when. */
  const quick = (path: string): Database => {
    const db = openDatabase(path);
    db.exec('PRAGMA synchronous = OFF');
    return db;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 40, size: 'max' }), async (acts) => {
      made += 1;
      const path = join(home, `${made}.sqlite`);
      let now = 1_750_000_000_000;
      const clock: Clock = { ...fakeClock(), now: () => now };
      using db = quick(path);
      using other = quick(path);
      using plain = quick(path);
      using ownHive = openLocalHive({ db, clock, log: silentLog, contentChars: CHARS });
      using otherHive = openLocalHive({ db: other, clock, log: silentLog, contentChars: CHARS });
      /** The largest id each inbox ever had. */
      const largest = new Map<string, number>();
      let last = 0;
      const sent = (to: string, id: number): void => {
        last = Math.max(last, id);
        largest.set(to, id);
      };
      for (const action of acts) {
        now += 1;
        const hive = 'here' in action && !action.here ? otherHive : ownHive;
        switch (action.is) {
          case 'send': {
            const { to, from, urgent } = action;
            sent(to, hive.sendNow({ to, from, urgent, content: action.content }).id);
            break;
          }
          case 'storm': {
            const mails = Array.from({ length: action.count }, (_, n) => action.to[n % action.to.length] ?? '').map(
              (to) => hive.send({ to, from: 'zoe', content: 'storm', urgent: false }),
            );
            for (const mail of await Promise.all(mails)) sent(mail.to, mail.id);
            break;
          }
          case 'read':
            hive.markRead(action.name, action.which === 'all' ? 'all' : [last - action.which, last - action.which - 1]);
            break;
          case 'fetch': {
            const { name: persona, limit } = action;
            hive.inbox({ persona, limit, markRead: true, beforeId: null, unreadOnly: false });
            break;
          }
          case 'reap':
            ownHive.reap(now - action.back);
            break;
          case 'turn':
            await null; // what was known in this turn is forgotten
            break;
          case 'look': {
            const cursor = toItemId(action.cursor, last);
            const window = ownHive.window(action.name, cursor, never);
            assert.deepEqual(window, { ...plainly(plain, action.name, cursor), max: largest.get(action.name) ?? 0 });
          }
        }
        if (hive === otherHive) ownHive.changedElsewhere();
      }
    }),
    { numRuns: 150 },
  );
});
