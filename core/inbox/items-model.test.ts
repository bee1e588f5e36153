import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { InboxReference, type PlainItem } from '../../test/kit/inbox-reference.ts';
import { exactly } from '../model/index.ts';
import { type Clock, silentLog } from '../ports/index.ts';
import { type Database, openDatabase } from '../state/index.ts';
import {
  ITEM_TYPES,
  type Item,
  type Items,
  type Lease,
  type LocalHive,
  type NewItem,
  openItems,
  openLocalHive,
} from './index.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-items-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

const never = new AbortController().signal;
const NAMES = ['ada', 'bo', 'cy'];
const SESSIONS = [null, 's1', 's2'];

type Act =
  | { readonly is: 'push'; readonly items: readonly Draft[]; readonly here: boolean }
  | { readonly is: 'send'; readonly to: string; readonly from: string; readonly urgent: boolean }
  | {
      readonly is: 'lease';
      readonly persona: string;
      readonly session: string | null;
      readonly upTo: NewItem['priority'];
      readonly most: number;
      readonly forMs: number;
      readonly here: boolean;
    }
  | { readonly is: 'settle'; readonly which: number; readonly shown: 'all' | 'none' | 'odd'; readonly here: boolean }
  | { readonly is: 'read'; readonly persona: string; readonly which: 'all' | number }
  | { readonly is: 'fetch'; readonly persona: string; readonly limit: number }
  | { readonly is: 'wait'; readonly ms: number }
  | { readonly is: 'crash' }
  | { readonly is: 'reap'; readonly back: number }
  | { readonly is: 'look'; readonly cursor: number };

/** `created` is so long ago; `expires` in so long, which may be the past. */
type Draft = Omit<NewItem, 'created' | 'expires'> & { readonly ago: number; readonly ttl: number | null };

const isHere = fc.boolean();
const persona = fc.constantFrom(...NAMES);
const priority = fc.constantFrom<NewItem['priority'][]>(0, 1, 2, 3, 4);
const ttl = fc.oneof(
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 3, arbitrary: fc.integer({ min: -2, max: 40 }) },
);
const dedupKey = fc.option(fc.constantFrom('k1', 'k2', 'k3', 'k4'), { freq: 3 });
const draft: fc.Arbitrary<Draft> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      to: persona.map((name) => ({ is: 'persona' as const, name })),
      type: fc.constantFrom(...ITEM_TYPES),
      source: fc.constantFrom('zoe', 'ci', 'ADA'), // some of it is mail to oneself
      content: fc.string({ unit: 'binary', maxLength: 8 }).map((text) => text.toWellFormed()),
      priority,
      session: fc.constantFrom(...SESSIONS),
      ago: fc.nat(5),
      ttl,
      dedupKey,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      to: fc.constant({ is: 'everyone' as const }),
      type: fc.constantFrom(...ITEM_TYPES),
      source: fc.constant('ci'),
      content: fc.constant('to all'),
      priority,
      session: fc.constant(null),
      ago: fc.nat(5),
      ttl,
      dedupKey,
    }),
  },
);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ is: fc.constant('push' as const), items: fc.array(draft, { maxLength: 6 }), here: isHere }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('send' as const),
      to: persona,
      from: fc.constantFrom('zoe', 'Bo'),
      urgent: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constant('lease' as const),
      persona: fc.constantFrom(...NAMES, 'late', 'later'),
      session: fc.constantFrom(...SESSIONS),
      upTo: priority,
      most: fc.nat(6),
      forMs: fc.integer({ min: 1, max: 30 }),
      here: isHere,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constant('settle' as const),
      which: fc.nat(3),
      shown: fc.constantFrom('all' as const, 'none' as const, 'odd' as const),
      here: isHere,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('read' as const),
      persona,
      which: fc.oneof(fc.constant('all' as const), fc.nat(4)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant('fetch' as const), persona, limit: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ is: fc.constant('wait' as const), ms: fc.oneof(fc.nat(20), fc.constant(86_400_000)) }),
  },
  { weight: 1, arbitrary: fc.constant({ is: 'crash' as const }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('reap' as const), back: fc.constantFrom(10, 90_000_000) }) },
  { weight: 4, arbitrary: fc.record({ is: fc.constant('look' as const), cursor: fc.nat(8) }) },
);

/** The hive of the tray process, and the items of another process on the same file; `crash` ends and reopens both. */
class Rig implements Disposable {
  hive!: LocalHive;
  other!: Items;
  readonly path: string;
  readonly clock: Clock;
  #open: Database[] = [];
  constructor(path: string, clock: Clock) {
    this.path = path;
    this.clock = clock;
    this.reopen();
  }
  reopen(): void {
    for (const db of this.#open) db[Symbol.dispose](); // nothing is said to the hive: as a process that is gone
    /** Not on a disk that is asked to flush. */
    const quick = (): Database => {
      const db = openDatabase(this.path);
      db.exec('PRAGMA synchronous = OFF');
      return {
        ...db,
        get isTransaction() {
          return db.isTransaction;
        },
        exec: (sql) => (sql.startsWith('PRAGMA synchronous') ? undefined : db.exec(sql)),
      };
    };
    this.#open = [quick(), quick()];
    const [db, other] = this.#open as [Database, Database];
    this.hive = openLocalHive({ db, clock: this.clock, log: silentLog, contentChars: 20 });
    this.other = openItems({ db: other, clock: this.clock });
  }
  [Symbol.dispose](): void {
    for (const db of this.#open) db[Symbol.dispose]();
  }
}

function withoutKey({ dedupKey: _, ...item }: Item): PlainItem {
  return item;
}

function check(rig: Rig, reference: InboxReference, now: number): void {
  for (const name of [...NAMES, 'late', 'later']) {
    for (const which of ['pending', 'delivered', 'all'] as const) {
      const expected = reference.list(name, now, which);
      assert.deepEqual(rig.other.list(name, which, 1000).map(withoutKey), expected, `${which} of ${name}`);
    }
    for (const session of SESSIONS) {
      assert.deepEqual(rig.other.pending(name, session), reference.pending(name, session, now), `${name} ${session}`);
    }
  }
}

/** What watchers and the board see; it looks first, as the tray process does, and so clears what expired. */
function poll(rig: Rig, reference: InboxReference, now: number, cursor: number): void {
  rig.hive.changedElsewhere();
  reference.sweep(now);
  const levels = reference.levels();
  assert.deepEqual(
    rig.hive.personas().map((entry) => entry.name),
    [...reference.personas.keys()].sort(),
  );
  for (const [name, { last }] of reference.personas) {
    const { unread, urgent } = levels.get(name) ?? { unread: 0, urgent: 0 };
    const all = reference.list(name, now, 'all');
    const window = rig.hive.window(name, Math.max(0, last - cursor), never);
    assert.deepEqual([window.max, window.unread, window.urgent], [last, exactly(unread), exactly(urgent)]);
    assert.deepEqual(
      window.messages.map((row) => [row.id, row.from, row.content, row.read]),
      all
        .filter((item) => item.id > last - cursor)
        .map((item) => [item.id, item.source, item.content, item.read !== null]),
    );
    assert.deepEqual(rig.hive.items.list(name, 'all', 3).map(withoutKey), all.slice(-3));
    const newest = all.slice(-3).reverse();
    assert.deepEqual(
      rig.hive.list(name, 3).map((row) => [row.id, row.read]),
      newest.map((item) => [item.id, item.read !== null]),
    );
    const answer = rig.hive.inbox({ persona: name, markRead: false, beforeId: null, limit: 3, unreadOnly: false });
    assert.deepEqual(
      answer.result.map((row) => [row.id, row.content, row.read]),
      newest.map((item) => [item.id, item.content, item.read !== null]),
    );
    assert.equal(answer.truncated, all.length > 3);
    for (const item of all) {
      const { from, urgent: isUrgent, to } = rig.hive.show(name, item.id) ?? assert.fail(`${item.id} is not there`);
      assert.deepEqual([from, isUrgent, to], [item.source, item.priority <= 1, name]);
    }
  }
}

test('inbox-gates 8.13e: whatever happens, and whoever does it, each persona has what a plain list would give it', async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 40, size: 'max' }), async (acts) => {
      made += 1;
      let now = 1_750_000_000_000;
      using rig = new Rig(join(home, `${made}.sqlite`), { ...fakeClock(), now: () => now });
      const reference = new InboxReference();
      const leases: { readonly lease: Lease; readonly name: string }[] = [];
      for (const action of acts) {
        now += 1;
        const items = 'here' in action && action.here ? rig.hive.items : rig.other;
        switch (action.is) {
          case 'push': {
            const news = action.items.map(({ ago, ttl: left, ...rest }) => ({
              ...rest,
              created: now - ago,
              expires: left === null ? null : now + left,
            }));
            const pushed = items.push(news);
            const expected = reference.push(news, now, (at) => pushed[at]?.id ?? 0);
            assert.deepEqual(
              pushed.map(({ id, isNew }) => ({ id, isNew })),
              expected,
            );
            break;
          }
          case 'send': {
            const { to, from, urgent } = action;
            const { id } = rig.hive.sendNow({ to, from, urgent, content: 'hello' });
            const mail: NewItem = {
              to: { is: 'persona', name: to },
              type: 'mail',
              source: from,
              content: 'hello',
              priority: urgent ? 1 : 2,
              session: null,
              created: now,
              expires: null,
              dedupKey: null,
            };
            reference.push([mail], now, () => id);
            break;
          }
          case 'lease': {
            const lease = items.lease(action);
            const { name, ...expected } = reference.lease(action, now);
            assert.deepEqual({ items: lease.items.map(withoutKey), left: lease.left }, expected);
            leases.push({ lease, name });
            break;
          }
          case 'settle': {
            const at = leases.length - 1 - action.which;
            const [held] = at < 0 ? [] : leases.splice(at, 1);
            if (held === undefined) break;
            const { lease, name } = held;
            const ids = lease.items.map((item) => item.id);
            const shown = action.shown === 'all' ? ids : ids.filter((_, i) => action.shown === 'odd' && i % 2 === 1);
            if (action.shown === 'none') items.release(lease);
            else items.markDelivered(lease, shown);
            reference.acknowledge(lease.persona, name, ids, shown, now);
            break;
          }
          case 'read': {
            const last = reference.personas.get(action.persona)?.last ?? 0;
            const which = action.which === 'all' ? 'all' : [last - action.which];
            rig.hive.markRead(action.persona, which);
            reference.markRead(action.persona, which, now);
            break;
          }
          case 'fetch': {
            const { persona: name, limit } = action;
            const query = { persona: name, limit, markRead: true, beforeId: null, unreadOnly: true };
            const ids = rig.hive.inbox(query).result.map((row) => row.id);
            reference.markRead(name, ids, now);
            break;
          }
          case 'wait':
            now += action.ms;
            break;
          case 'crash':
            rig.reopen();
            reference.sweep(now);
            break;
          case 'reap':
            rig.hive.reap(now - action.back);
            reference.reap(now, now - action.back);
            break;
          case 'look':
            await null; // what was known in this turn is forgotten
            poll(rig, reference, now, action.cursor);
        }
        check(rig, reference, now);
      }
    }),
    { numRuns: 50 },
  );
});
