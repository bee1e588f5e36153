import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, given, RULES, resumed, T0, toPollResult, withRules } from '../../test/kit/transcript.ts';
import { EMPTY_TAIL } from '../sinks/index.ts';
import { createInitialState } from './initial-state.ts';
import { step } from './step.ts';
import { toSavedState, type WatcherRules, type WatcherState } from './watcher-state.ts';

const AT_LEAST: WatcherRules = { ...RULES, delivery: 'at-least-once' };

test('F5 unread mail below the cursor is another log: one alert, and what is unread there is told once', () =>
  given(withRules(resumed(5), { delivery: 'at-least-once' }))`
    poll 5                   -> armed(5)                   | 5 UP 0
    poll read                                              | 5 UP 0
    poll 1-3                 -> log-restarted(5>3)         | 0 UP 0
    poll 1-3                 -> new(1) new(2) new(3)       | 3 UP 0
    poll 1-3                                               | 3 UP 0
    poll 1-6                 -> new(4) new(5) new(6)       | 6 UP 0
  `);

test('F5 the same at a start: the alert comes before armed, and no seed_ahead says that all is well', () =>
  given(withRules(resumed(5), { delivery: 'at-least-once' }))`
    poll 1-3 -> log-restarted(5>3) armed(0)  | 0 UP 0
    poll 1-3 -> new(1) new(2) new(3)         | 3 UP 0
    restart                                  | 3 UP 0
    poll 1-3 -> armed(3)                     | 3 UP 0
  `);

test('F5 nothing unread, or a seed of an operator, is no other log', () => {
  given(withRules(resumed(5), { delivery: 'at-least-once' }))`
    poll 3 read -> seed_ahead(5>3) armed(5)  | 5 UP 0
  `;
  given({ start: { is: 'seed', id: 5 }, rules: { delivery: 'at-least-once' } })`
    poll 1-3    -> seed_ahead(5>3) armed(5)  | 5 UP 0
    poll 1-3                                 | 5 UP 0
    restart                                  | 5 UP 0
    poll 1-3    -> seed_ahead(5>3) armed(5)  | 5 UP 0
    poll 1-6    -> new(6)                    | 6 UP 0
    poll 1-2    -> log-restarted(6>2)        | 0 UP 0
  `;
});

test('F5 revision 6 holds its cursor, as its specification says', () =>
  given(resumed(5))`
    poll 1-3 -> seed_ahead(5>3) armed(5) | 5 UP 0
    poll 1-3                             | 5 UP 0
  `);

test('F5 no event_id names two messages, what was read there before is no news, and a restart in between changes neither', () => {
  const delivered: string[] = [];
  let state: WatcherState = createInitialState(
    T0,
    { is: 'resume' },
    { cursor: 0, state: 'UP', consecutive_failures: 0 },
    EMPTY_TAIL,
    AT_LEAST,
  );
  const poll = (...words: string[]): void => {
    const pollOnce = toPollResult(words, T0);
    const { messages: rows } = pollOnce.evidence;
    const evidence = {
      ...pollOnce.evidence,
      messages: rows.map((row) => ({ ...row, read: row.id === 1 && words.includes('1-is-read') })),
    };
    const out = step(state, { at: T0, is: 'polled', pollResult: { ...pollOnce, evidence } }, AT_LEAST);
    for (const event of out.batch) if (event.event === 'new') delivered.push(event.event_id);
    state = out.batch.length === 0 ? out.state : answer(out, out.batch.length, T0, AT_LEAST).state;
  };
  poll('1-5');
  poll('1-2');
  const { name } = state.log;
  assert.match(name, /^[0-9a-f]{16}-\d+$/);
  const saved = JSON.parse(JSON.stringify(toSavedState(state)));
  assert.deepEqual(saved.log, { name, read_to: 2 });
  state = createInitialState(T0, { is: 'resume' }, saved, { eventIds: new Set(['ada:new:2']) }, AT_LEAST);
  poll('1-2', '1-is-read');
  poll('1-3');
  const first = [1, 2, 3, 4, 5].map((id) => `ada:new:${id}`);
  assert.deepEqual(delivered, [...first, `ada:new:2@${name}`, `ada:new:3@${name}`]);
  assert.equal(new Set(delivered).size, delivered.length);
});

test('F5 an alert that nobody was told of is told after a restart, and mail waits behind it', () => {
  const begun = createInitialState(
    T0,
    { is: 'resume' },
    { cursor: 5, state: 'UP', consecutive_failures: 0 },
    EMPTY_TAIL,
    AT_LEAST,
  );
  const out = step(begun, { at: T0, is: 'polled', pollResult: toPollResult(['1-3'], T0) }, AT_LEAST);
  assert.equal(out.save, true, 'saved before it is told');
  const saved = JSON.parse(JSON.stringify(toSavedState(out.state)));
  const again = createInitialState(T0, { is: 'resume' }, saved, EMPTY_TAIL, AT_LEAST);
  const next = step(again, { at: T0, is: 'polled', pollResult: toPollResult(['1-3'], T0) }, AT_LEAST);
  assert.deepEqual(
    next.batch.map(({ event }) => event),
    ['alert', 'armed', 'new', 'new', 'new'],
  );
});

test('F5 given a replay cap that nobody took before the log began again, a restart does not take its position for one of the new log', () => {
  const rules: WatcherRules = { ...AT_LEAST, maxReplay: 0 };
  const saved = { cursor: 3, state: 'UP', consecutive_failures: 0 } as const;
  const state = createInitialState(T0, { is: 'resume' }, saved, EMPTY_TAIL, rules);
  const capped = step(state, { at: T0, is: 'polled', pollResult: toPollResult(['4-5'], T0) }, rules);
  assert.equal(toSavedState(capped.state).cursor, 3, 'nobody heard of the cap yet');
  const refused = answer(capped, 0, T0, rules).state;
  const another = step(refused, { at: T0, is: 'polled', pollResult: toPollResult(['1-2'], T0) }, rules);
  assert.equal(toSavedState(another.state).cursor, 0);
});

test('ids below the cursor in a store that renumbers are a seed_ahead: nothing that is there is delivered, and later mail is, once', () => {
  const delivered: string[] = [];
  const saved = { cursor: 5, state: 'UP', consecutive_failures: 0 } as const;
  let state = createInitialState(T0, { is: 'resume' }, saved, EMPTY_TAIL, AT_LEAST);
  const poll = (words: string, tail = EMPTY_TAIL): void => {
    const result = toPollResult([words], T0);
    const extra = { subject: 'plan', id: 9 };
    const messages = result.evidence.messages.map((message) => ({ ...message, extra, isOwn: message.id === 4 }));
    const evidence = { ...result.evidence, messages, isRenumbered: true } as const;
    const out = step(state, { at: T0, is: 'polled', pollResult: { ...result, evidence } }, AT_LEAST);
    for (const event of out.batch) {
      if (event.event === 'seed_ahead') delivered.push(`seed_ahead(${event.seeded}>${event.current_max})`);
      else delivered.push(event.event === 'new' ? `${event.event_id.split('@')[0]} self=${event.self}` : event.event);
      if (event.event === 'new') assert.equal('subject' in event && event.subject, 'plan');
    }
    state = out.batch.length === 0 ? out.state : answer(out, out.batch.length, T0, AT_LEAST).state;
    const again = JSON.parse(JSON.stringify(toSavedState(state)));
    state = createInitialState(T0, { is: 'resume' }, again, tail, AT_LEAST);
  };
  poll('1-3');
  poll('1-3');
  poll('1-4');
  poll('1-4');
  assert.deepEqual(delivered, ['seed_ahead(5>3)', 'armed', 'armed', 'armed', 'ada:new:4 self=true', 'armed']);
});
