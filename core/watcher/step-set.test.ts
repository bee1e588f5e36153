import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  answer,
  given,
  ONCE_MORE,
  REFUSED,
  RULES,
  type Setting,
  T0,
  toSetPollResult,
  withRules,
} from '../../test/kit/transcript.ts';
import type { Event } from '../events/index.ts';
import { EMPTY_TAIL } from '../sinks/index.ts';
import type { SetItem } from '../sources/index.ts';
import { createInitialState } from './initial-state.ts';
import { step } from './step.ts';
import { type SavedState, toSavedState, type WatcherState } from './watcher-state.ts';

const BORN: Setting = { ...ONCE_MORE, start: { is: 'born' } };
/** An inbox of a source that was met before: all of it is new. */
const SEEDED: Setting = { ...ONCE_MORE, start: { is: 'seed', id: 0 } };

describe('the first look at a set', () => {
  test('baseline: what is there is remembered under an id, counted, and not told; what comes later is new', () =>
    given(ONCE_MORE)`
      set a b       -> baseline_skipped(1-2 2) armed(2) | 3[a1 b2] UP 0
      set a b c     -> new(3 c)                         | 4[a1 b2 c3] UP 0
      set a b c                                         | 4[a1 b2 c3] UP 0
    `);

  test('a baseline over nothing unread is silent, and so is one at most once', () => {
    given(ONCE_MORE)`
      set a.delivered none-unread -> armed(1) | 2[a1.delivered] UP 0
    `;
    given()`
      set a b -> armed(2) | 3[a1 b2] UP 0
    `;
    given(ONCE_MORE)`
      set     -> armed(0)   | 1[] UP 0
      set a   -> new(1 a)   | 2[a1] UP 0
    `;
  });

  test('what a baseline passed over tells of its changes', () =>
    given(ONCE_MORE)`
      set a b            -> baseline_skipped(1-2 2) armed(2) | 3[a1 b2] UP 0
      set a.read b       -> read(1 a)                        | 3[a1.read b2] UP 0
      set b              -> gone(1 a)                        | 3[b2] UP 0
    `);

  test('a baseline that nobody was told of is told after a restart', () =>
    given(ONCE_MORE)`
      set a takes 0 -> !baseline_skipped(1-1 1) !armed(1)  | 2[a1] UP 0
      restart                                              | 2[a1] UP 0
      set a b       -> baseline_skipped(1-1 1) armed(1) new(2 b) | 3[a1 b2] UP 0
    `);

  test('born during the run: all is new, however much', () =>
    given(withRules(BORN, { maxReplay: 1 }))`
      set a b c -> persona_added armed(0) new(1 a) new(2 b) new(3 c) | 4[a1 b2 c3] UP 0
    `);

  test('a source that was met before: all is new, up to the cap', () => {
    given(withRules(SEEDED, { maxReplay: 2 }))`
      set a b -> armed(0) new(1 a) new(2 b) | 3[a1 b2] UP 0
    `;
    given(withRules(SEEDED, { maxReplay: 2 }))`
      set a b c -> replay_capped(3 -3) armed(3) | 4[a1 b2 c3] UP 0
      set a b c d.read e -> new(4 e)            | 5[a1 b2 c3 d-.read e4] UP 0
    `;
  });

  test('a position that cannot be read: all is told again', () =>
    given({ ...ONCE_MORE, start: { is: 'corrupt', why: 'garbage' } })`
      set a b -> state_corrupt(0) armed(0) new(1 a) new(2 b) | 3[a1 b2] UP 0
    `);

  test('a failed first look decides nothing', () =>
    given(ONCE_MORE)`
      fail                                        | null UP 1
      set a -> baseline_skipped(1-1 1) armed(1)   | 2[a1] UP 0
    `);
});

describe('a set later on', () => {
  test('A9 a thing that was told and is away for a while comes back without a word, under the id it had', () =>
    given(BORN)`
      set a b          -> persona_added armed(0) new(1 a) new(2 b) | 3[a1 b2] UP 0
      set b            -> gone(1 a)       | 3[b2] UP 0
      set a b          | 3[b2 a1] UP 0
      set a.read b     -> read(1 a)       | 3[b2 a1.read] UP 0
      set b            -> gone(1 a)       | 3[b2] UP 0
      restart                             | 3[b2] UP 0
      set a.read b c   -> armed(2) new(3 c) | 4[b2 a1.read c3] UP 0
    `);

  test('a thing appears, changes and goes, under one id', () =>
    given(BORN)`
      set             -> persona_added armed(0) | 1[] UP 0
      set a           -> new(1 a)         | 2[a1] UP 0
      set a.delivered -> delivered(1 a)   | 2[a1.delivered] UP 0
      set a.read      -> read(1 a)        | 2[a1.read] UP 0
      set             -> gone(1 a)        | 2[] UP 0
      set a b         -> new(2 b)         | 3[a1 b2] UP 0
    `);

  test('what appears under another name is mail all the same: it has the ids, the changes and the end of any other', () =>
    given(BORN)`
      set                  -> persona_added armed(0)                | 1[] UP 0
      set a handoff        -> new(1 a) handoff(2 handoff)           | 3[a1 handoff2] UP 0
      set a handoff action assigned takes 1 -> action(3 action) !assigned(4 assigned) | 4[a1 handoff2 action3] UP 0
      set a assigned       -> assigned(4 assigned) gone(2 handoff) gone(3 action) | 5[a1 assigned4] UP 0
    `);

  test('what was offered under another name is offered again under it, whatever it is by then', () =>
    given(BORN)`
      set                    -> persona_added armed(0)  | 1[] UP 0
      set handoff takes 0    -> !handoff(1 handoff)     | 1[] UP 0
      set b handoff.read     -> handoff(1 handoff) new(2 b) | 3[handoff1.read b2] UP 0
    `);

  test('new ones first in the order of the look, then changes, then what is gone', () =>
    given(BORN)`
      set a b c         -> persona_added armed(0) new(1 a) new(2 b) new(3 c) | 4[a1 b2 c3] UP 0
      set d b.read e c.delivered -> new(4 d) new(5 e) read(2 b) delivered(3 c) gone(1 a) | 6[b2.read c3.delivered d4 e5] UP 0
    `);

  test('steps between two looks are one: it is told as it is now', () =>
    given(BORN)`
      set              -> persona_added armed(0) | 1[] UP 0
      set a.delivered  -> new(1 a)               | 2[a1.delivered] UP 0
      set a.read       -> read(1 a)              | 2[a1.read] UP 0
    `);

  test('a change without an event, and what is seen read for the first time, are remembered and not told, now and later', () =>
    given(BORN)`
      set a.delivered b.read -> persona_added armed(0) new(1 a) | 2[b-.read a1.delivered] UP 0
      set a b.delivered                                         | 2[b-.delivered a1] UP 0
      set a.delivered        -> delivered(1 a)                  | 2[a1.delivered] UP 0
    `);

  test('another epoch is adopted without a word; what has the same key keeps its id, and no id comes again', () =>
    given(BORN)`
      set a b            -> persona_added armed(0) new(1 a) new(2 b) | 3[a1 b2] UP 0
      set c b.read epoch=2                                           | 4[c3 b2.read] UP 0
      set c.read b.read d epoch=2 -> new(4 d) read(3 c)              | 5[c3.read b2.read d4] UP 0
    `);

  test('after a restart: what came and went meanwhile is told, and a cap counts what is new only', () => {
    given(withRules(BORN, { maxReplay: 1 }))`
      set a b c            -> persona_added armed(0) new(1 a) new(2 b) new(3 c) | 4[a1 b2 c3] UP 0
      restart                                                                   | 4[a1 b2 c3] UP 0
      set a.read c.delivered d e.read -> armed(3) new(4 d) read(1 a) delivered(3 c) gone(2 b) | 5[a1.read c3.delivered e-.read d4] UP 0
    `;
    given(withRules(BORN, { maxReplay: 1 }))`
      set a b              -> persona_added armed(0) new(1 a) new(2 b) | 3[a1 b2] UP 0
      restart                                                          | 3[a1 b2] UP 0
      set a.read c d       -> replay_capped(4 -2) armed(4) read(1 a) gone(2 b) | 5[a1.read c3 d4] UP 0
      set c.read d         -> read(3 c) gone(1 a)                      | 5[c3.read d4] UP 0
    `;
  });

  test('what is capped is remembered only once somebody was told so', () =>
    given(withRules(BORN, { maxReplay: 0 }))`
      set a             -> persona_added armed(0) new(1 a)        | 2[a1] UP 0
      restart                                                     | 2[a1] UP 0
      set a b takes 0   -> !replay_capped(2 -1) !armed(2)         | 2[a1] UP 0
      restart                                                     | 2[a1] UP 0
      set a b           -> replay_capped(2 -1) armed(2)           | 3[a1 b2] UP 0
    `);

  test('mail of suppressed authors makes no event, and its changes make none', () =>
    given(withRules(BORN, { suppressed: new Set(['bo']) }))`
      set a/Bo b/river -> persona_added armed(0) new(1 b) | 2[a- b1] UP 0
      set b.read       -> read(1 b)                       | 2[b1.read] UP 0
    `);

  test('own mail says so', () =>
    given(BORN)`
      set a/ADA -> persona_added armed(0) new(1 a self) | 2[a1] UP 0
    `);

  test('an outage and its end, and signs of life, as for a log', () =>
    given(withRules(BORN, { heartbeatMs: 60_000 }))`
      set a        -> persona_added armed(0) new(1 a)   | 2[a1] UP 0
      fail                                              | 2[a1] UP 1
      fail                                              | 2[a1] UP 2
      fail         -> alert(3 180s)                     | 2[a1] DOWN 3
      restart                                           | 2[a1] DOWN 3
      fail                                              | 2[a1] DOWN 4
      set a b      -> recovered(1) armed(1) new(2 b)    | 3[a1 b2] UP 0
      +60s                                              | 3[a1 b2] UP 0
      beat         -> heartbeat(2)                      | 3[a1 b2] UP 0
      +60s                                              | 3[a1 b2] UP 0
      set b.read c -> new(3 c) read(2 b) gone(1 a) heartbeat(3) | 4[b2.read c3] UP 0
    `);
});

describe('a sink that refuses a set', () => {
  test('what it took is known, and the rest is offered again, each under the id it had', () =>
    given(BORN)`
      set               -> persona_added armed(0)                        | 1[] UP 0
      set a b c takes 1 -> new(1 a) !new(2 b) !new(3 c)                  | 2[a1] UP 0
      set z a b c takes 2 -> new(2 b) new(3 c) !new(4 z)                 | 4[a1 b2 c3] UP 0
      set z a b c       -> new(4 z)                                      | 5[a1 b2 c3 z4] UP 0
    `);

  test('what is gone before it was taken is not told, and its id goes to nobody else', () =>
    given(BORN)`
      set             -> persona_added armed(0)  | 1[] UP 0
      set a b takes 0 -> !new(1 a) !new(2 b)     | 1[] UP 0
      set c b         -> new(2 b) new(3 c)       | 4[b2 c3] UP 0
    `);

  test('what was offered as new is told as new, though it was read meanwhile', () =>
    given(BORN)`
      set             -> persona_added armed(0)  | 1[] UP 0
      set a takes 0   -> !new(1 a)               | 1[] UP 0
      set a.read      -> new(1 a)                | 2[a1.read] UP 0
    `);

  test('changes wait, and are told as they are when they are taken', () =>
    given(BORN)`
      set a b           -> persona_added armed(0) new(1 a) new(2 b) | 3[a1 b2] UP 0
      set a.delivered takes 1 -> delivered(1 a) !gone(2 b)          | 3[a1.delivered b2] UP 0
      set a.read takes 0      -> !read(1 a) !gone(2 b)              | 3[a1.delivered b2] UP 0
      set a.delivered b                                             | 3[a1.delivered b2] UP 0
    `);

  test('at most once: what was offered is done with', () =>
    given({ start: { is: 'born' } })`
      set a takes 0 -> !persona_added !armed(0) !new(1 a) | 2[a1] UP 0
      set a                                               | 2[a1] UP 0
    `);
});

describe('what the events of a set carry', () => {
  const rules = { ...RULES, delivery: 'at-least-once', run: 'r' } as const;
  const [plain] = toSetPollResult(['a'], T0).evidence.items;
  const item = (more: Partial<SetItem>): SetItem => ({ ...(plain as SetItem), ...more });
  const poll = (state: WatcherState, ...items: readonly SetItem[]) =>
    step(
      state,
      { at: T0, is: 'polled', pollResult: { ...toSetPollResult([], T0), evidence: { is: 'set', epoch: '1', items } } },
      rules,
    );
  const after = (
    state: WatcherState,
    ...items: readonly SetItem[]
  ): { state: WatcherState; events: readonly Event[] } => {
    const out = poll(state, ...items);
    return out.batch.length === 0
      ? { state: out.state, events: [] }
      : { state: answer(out, out.batch.length, T0, rules).state, events: out.batch };
  };
  const opened = after(createInitialState(T0, { is: 'born' }, null, EMPTY_TAIL, rules)).state;

  test('a new thing: the keys of mail, and what only its source knows', () => {
    const [event] = after(opened, item({ extra: { stem: 'a', wants_reply: true } })).events;
    assert.deepEqual(event, {
      event: 'new',
      source: 'kijito-inbox',
      ts: '2026-06-20T00:00:00.000000+00:00',
      persona: 'ada',
      event_id: 'ada:new:1',
      wake_class: 'mail',
      id: 1,
      from: 'river',
      created: '2026-06-20T00:00:00',
      content: 'hello',
      stem: 'a',
      wants_reply: true,
    });
  });

  test('a sender and a time that are not known are null; content that is not there is absent', () => {
    const [event] = after(opened, item({ from: null, created: null, content: null })).events;
    assert.ok(event?.event === 'new');
    assert.deepEqual([event.from, event.created, 'content' in event], [null, null, false]);
  });

  test('a change: its id, what only its source knows as it is now; of what is gone as it was', () => {
    let { state } = after(opened, item({ extra: { stem: 'a', n: 1 } }));
    const changed = after(
      state,
      item({ fingerprint: 'read', changed: 'read', vanished: 'cleared', extra: { stem: 'a', n: 2 } }),
    );
    assert.deepEqual(changed.events, [
      {
        event: 'read',
        source: 'kijito-inbox',
        ts: '2026-06-20T00:00:00.000000+00:00',
        persona: 'ada',
        event_id: 'ada:read:1-1',
        wake_class: 'liveness',
        id: 1,
        stem: 'a',
        n: 2,
      },
    ]);
    state = JSON.parse(JSON.stringify(changed.state)) as WatcherState;
    const [gone] = after(state).events;
    assert.deepEqual({ ...gone }, { ...changed.events[0], event: 'cleared', event_id: 'ada:cleared:1-2' });
  });

  test('a change that is offered again has the same id; one that comes to the same mark again another', () => {
    let { state } = after(opened, item({}));
    const read = item({ fingerprint: 'read', changed: 'acked' });
    const once = poll(state, read);
    const again = poll(answer(once, 0, T0, rules).state, read);
    assert.deepEqual(again.batch, once.batch);
    state = answer(again, 1, T0, rules).state;
    state = after(state, item({})).state;
    assert.deepEqual(
      [...once.batch, ...after(state, read).events].map((event) => event.event_id),
      ['ada:acked:1-1', 'ada:acked:1-2'],
    );
  });

  test('a key may be any text', () => {
    const keys = ['__proto__', 'constructor', '', '\ud800', 'a\0b'];
    const first = after(opened, ...keys.map((key) => item({ key, extra: {} })));
    assert.deepEqual(
      first.events.map((event) => 'id' in event && event.id),
      [1, 2, 3, 4, 5],
    );
    const saved = JSON.parse(JSON.stringify(toSavedState(first.state))) as SavedState;
    const state = createInitialState(T0, { is: 'resume' }, saved, EMPTY_TAIL, rules);
    const gone = after(state, ...keys.slice(1).map((key) => item({ key, extra: {} }))).events;
    assert.deepEqual(
      gone.map((event) => event.event_id),
      ['ada:armed:r-1', 'ada:gone:1-1'],
    );
  });

  test('a key that comes twice in one look is one thing', () => {
    const { state, events } = after(opened, item({}), item({ fingerprint: 'read' }), item({}));
    assert.equal(events.length, 1);
    assert.deepEqual(after(state, item({}), item({})).events, []);
  });

  test('a set is told in parts, and mail before what only changed', () => {
    const all = Array.from({ length: 120 }, (_, i) => item({ key: `k${i}` }));
    let { state } = after(opened, ...all.slice(0, 70).map((entry) => ({ ...entry, fingerprint: 'x' })));
    const parts: string[] = [];
    for (let more = true; more; ) {
      const out = poll(state, ...all.slice(10).map((entry) => ({ ...entry, changed: 'delivered' as const })));
      more = out.more;
      state = answer(out, out.batch.length, T0, rules).state;
      parts.push(`${out.batch.length} ${out.batch[0]?.event}-${out.batch.at(-1)?.event}`);
    }
    assert.deepEqual(parts, ['50 new-new', '50 new-delivered', '20 delivered-gone']);
  });

  test('ids go on above what the sink ever took, though the position is lost', () => {
    const lost = createInitialState(T0, { is: 'baseline' }, null, { ...EMPTY_TAIL, newest: 7 }, rules);
    const { state } = after(lost, item({}));
    const [event] = after(state, item({}), item({ key: 'b' })).events;
    assert.equal(event?.event_id, 'ada:new:9');
  });

  test('a failure between is none of the set', () => {
    const { state } = after(opened, item({}));
    const out = step(state, { at: T0, is: 'failed', fault: REFUSED, settling: false }, rules);
    assert.deepEqual(toSavedState(out.state).known, toSavedState(state).known);
  });
});
