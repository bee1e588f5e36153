import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Event } from '../events/index.ts';
import { exactly, Fault, VITAL_NOT_REPORTED } from '../model/index.ts';
import { EMPTY_TAIL, type Tail } from '../sinks/index.ts';
import type { Look, Row } from '../sources/index.ts';
import { type Rules, type Saved, type Start, savedOf, type WatchState } from './state.ts';
import { type Input, type Output, openWatch, step } from './step.ts';

/*
 * A transcript is a list of what happens, each with what comes of it:
 *
 *   poll 1 2/bo      the inbox holds message 1 from river and message 2 from bo
 *   fail             the inbox could not be read
 *   beat             a tick that looks at nothing
 *   +60s             time passes (-60s: the wall clock is set back)
 *   restart          a new process, with what was saved and the ids the sink holds; `restart seed 5`, `restart unsaved`
 *   ... takes 1      the sink takes one event and refuses the rest
 *
 *   -> told events, !refused events | cursor, state and failures as they would be saved
 */
interface Setting {
  readonly rules?: Partial<Rules>;
  readonly start?: Start;
  readonly saved?: Saved;
  readonly tail?: Tail;
}

const RULES: Rules = {
  persona: 'ada',
  address: 'ada',
  source: 'kijito-inbox',
  run: '00ff00ff00ff00ff',
  pollSeconds: 60,
  alertAfter: 3,
  maxReplay: 50,
  heartbeatMs: null,
  suppressed: new Set(),
  delivery: 'at-most-once',
};
const ONCE_MORE: Setting = { rules: { delivery: 'at-least-once' } };
const T0 = Date.UTC(2026, 5, 20);

function transcript(script: string, setting: Setting = {}): void {
  const rules = { ...RULES, ...setting.rules };
  const sinkHolds = new Set(setting.tail?.eventIds);
  let at = T0;
  let state = openWatch(
    at,
    setting.start ?? { is: 'baseline' },
    setting.saved ?? null,
    setting.tail ?? EMPTY_TAIL,
    rules,
  );
  const saved = (): string => {
    const { cursor, state: told, consecutive_failures } = savedOf(state);
    return `${cursor} ${told} ${consecutive_failures}`;
  };
  const act = (input: Input, takes: number): string => {
    const out = step(state, input, rules);
    const count = Math.min(takes, out.offer.length);
    state = out.offer.length === 0 ? out.state : answer(out, count, at, rules).state;
    const told = out.offer.slice(0, count);
    for (const event of told) if (event.event === 'new') sinkHolds.add(event.event_id);
    return [...told.map(worded), ...out.offer.slice(count).map((event) => `!${worded(event)}`)].join(' ');
  };
  const run = (command: string): string => {
    const [verb = '', ...words] = command.replace(/ takes \d+$/, '').split(' ');
    const takes = Number(/ takes (\d+)$/.exec(command)?.[1] ?? Number.POSITIVE_INFINITY);
    if (verb === 'poll') return act({ at, is: 'looked', look: lookOf(words, at) }, takes);
    if (verb === 'fail') return act({ at, is: 'failed', fault: REFUSED }, takes);
    if (verb === 'beat') return act({ at, is: 'beat' }, takes);
    if (verb === 'restart') {
      const seed = words[0] === 'seed' ? ({ is: 'seed', id: Number(words[1]) } as const) : null;
      const kept = words[0] === 'unsaved' ? null : savedOf(state);
      state = openWatch(at, seed ?? { is: 'resume' }, kept, { eventIds: sinkHolds }, rules);
      return '';
    }
    assert.match(verb, /^[+-]\d+s$/);
    at += Number(verb.slice(0, -1)) * 1000;
    return '';
  };
  const lines = script.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
  const expected = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const actual = expected.map((line) => {
    const command = line.split(/ ?(?:->|\|)/)[0] ?? '';
    const told = run(command);
    return [command, ...(told === '' ? [] : ['->', told]), '|', saved()].join(' ');
  });
  assert.equal(actual.join('\n'), expected.join('\n'));
}

function answer(out: Output, count: number, at: number, rules: Rules): Output {
  const taken =
    count === out.offer.length ? ({ is: 'all' } as const) : ({ is: 'stopped', count, fault: FULL } as const);
  return step(out.state, { at, is: 'taken', taken }, rules);
}

const REFUSED = new Fault('refused', 'refused', { is: 'source', key: 'kijito' });
const FULL = new Fault('no-space', 'full', { is: 'machine', key: 'disk' });

function lookOf(words: readonly string[], at: number): Look {
  const rows = words.flatMap((word): Row[] => {
    const [ids = '', from = 'river'] = word.split('/');
    const [first = 0, last = first] = ids.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => ({
      id: first + i,
      from,
      created: '2026-06-20T00:00:00',
      content: 'hello',
      read: false,
    }));
  });
  const max = rows.at(-1)?.id ?? 0;
  const unread = exactly(rows.length);
  return { at, unread, urgent: exactly(0), vital: VITAL_NOT_REPORTED, evidence: { is: 'log', rows, max } };
}

function worded(event: Event): string {
  switch (event.event) {
    case 'new':
      return `new(${event.id}${event.self ? ' self' : ''})`;
    case 'armed':
    case 'recovered':
    case 'heartbeat':
      return `${event.event}(${event.cursor})`;
    case 'alert':
      return `alert(${event.consecutive_failures} ${event.seconds}s)`;
    case 'seed_ahead':
      return `seed_ahead(${event.seeded}>${event.current_max})`;
    case 'replay_capped':
      return `replay_capped(${event.capped_to} -${event.dropped})`;
    case 'persona_added':
      return 'persona_added';
  }
}

const resumed = (cursor: number | null, state: 'UP' | 'DOWN' = 'UP', failures = 0): Setting => ({
  start: { is: 'resume' },
  saved: { cursor, state, consecutive_failures: failures },
});
const with_ = (setting: Setting, rules: Partial<Rules>): Setting => ({
  ...setting,
  rules: { ...setting.rules, ...rules },
});

describe('the first healthy poll (Kijito spec 7.0)', () => {
  test('baseline: what is there is old; armed carries the largest id; later mail is new', () =>
    transcript(`
      poll 1 2 3     -> armed(3)   | 3 UP 0
      poll 1 2 3 4 6 -> new(4) new(6) | 6 UP 0
      poll 1 2 3 4 6               | 6 UP 0
    `));

  test('baseline of an empty inbox: the cursor is 0, and its first mail is new', () =>
    transcript(`
      poll   -> armed(0) | 0 UP 0
      poll 1 -> new(1)   | 1 UP 0
    `));

  test('baseline is exempt from the replay cap', () =>
    transcript(
      `
      poll 1-500 -> armed(500) | 500 UP 0
    `,
      { rules: { maxReplay: 2 } },
    ));

  test('a state without a cursor is a baseline', () =>
    transcript(
      `
      poll 1 2 -> armed(2) | 2 UP 0
    `,
      resumed(null),
    ));

  test('no state at all, though one was hoped for, is a baseline', () =>
    transcript(
      `
      poll 1 2 -> armed(2) | 2 UP 0
    `,
      { start: { is: 'resume' } },
    ));

  test('resume: armed first, with the resumed cursor, then what came meanwhile, ascending', () =>
    transcript(
      `
      poll 1 2 3 4 -> armed(2) new(3) new(4) | 4 UP 0
    `,
      resumed(2),
    ));

  test('resume at 0 is a cursor like any other', () =>
    transcript(
      `
      poll 1 -> armed(0) new(1) | 1 UP 0
    `,
      resumed(0),
    ));

  test('exactly --max-replay messages are replayed', () =>
    transcript(
      `
      poll 1-6 -> armed(1) new(2) new(3) new(4) new(5) new(6) | 6 UP 0
    `,
      with_(resumed(1), { maxReplay: 5 }),
    ));

  test('one more is capped: the notice comes before armed, no mail, and the cursor is at the end', () =>
    transcript(
      `
      poll 1-7   -> replay_capped(7 -6) armed(7) | 7 UP 0
      poll 1-8   -> new(8)                       | 8 UP 0
    `,
      with_(resumed(1), { maxReplay: 5 }),
    ));

  test('--max-replay 0 replays nothing', () =>
    transcript(
      `
      poll 1 2 -> replay_capped(2 -1) armed(2) | 2 UP 0
    `,
      with_(resumed(1), { maxReplay: 0 }),
    ));

  test('the cap is for the first poll only: a flood after an outage is all new', () =>
    transcript(
      `
      poll 1   -> armed(1)                     | 1 UP 0
      fail                                     | 1 UP 1
      poll 1-5 -> new(2) new(3) new(4) new(5)  | 5 UP 0
    `,
      { rules: { maxReplay: 2 } },
    ));

  test('a cursor ahead of reality: said before armed, and ids up to it are skipped on purpose', () =>
    transcript(
      `
      poll 1 2     -> seed_ahead(9>2) armed(9) | 9 UP 0
      poll 1 2 9                               | 9 UP 0
      poll 1 2 9 10 -> new(10)                 | 10 UP 0
    `,
      { start: { is: 'seed', id: 9 } },
    ));

  test('a cursor ahead of an empty inbox: the largest id is 0', () =>
    transcript(
      `
      poll -> seed_ahead(9>0) armed(9) | 9 UP 0
    `,
      resumed(9),
    ));

  test('a cursor that is exactly the largest id is not ahead', () =>
    transcript(
      `
      poll 1 9 -> armed(9) | 9 UP 0
    `,
      resumed(9),
    ));

  test("a seed is the operator's word: it overrides the saved cursor, but not the saved DOWN", () =>
    transcript(
      `
      fail                                      | 1 DOWN 8
      poll 1 2 3 -> recovered(1) armed(1) new(2) new(3) | 3 UP 0
    `,
      { start: { is: 'seed', id: 1 }, saved: { cursor: 3, state: 'DOWN', consecutive_failures: 7 } },
    ));

  test('a seed replays even what the sink holds', () =>
    transcript(`
      poll 1 2 3     -> armed(3)               | 3 UP 0
      poll 1 2 3 4   -> new(4)                 | 4 UP 0
      restart seed 3                           | 3 UP 0
      poll 1 2 3 4   -> armed(3) new(4)        | 4 UP 0
    `));

  test('a failed first poll arms nothing', () =>
    transcript(`
      fail            | null UP 1
      poll 1 -> armed(1) | 1 UP 0
    `));

  test('born during the run: announced, armed at 0, and its first mail is new, however much', () =>
    transcript(
      `
      poll 1-4 -> persona_added armed(0) new(1) new(2) new(3) new(4) | 4 UP 0
      poll 1-5 -> new(5)                                             | 5 UP 0
    `,
      { start: { is: 'born' }, rules: { maxReplay: 2 } },
    ));

  test('one armed a process: a restart says it once again', () =>
    transcript(`
      poll 1   -> armed(1)        | 1 UP 0
      restart                     | 1 UP 0
      poll 1 2 -> armed(1) new(2) | 2 UP 0
      poll 1 2                    | 2 UP 0
    `));
});

describe('liveness (Kijito spec 7.1)', () => {
  test('a blip below the threshold is silent', () =>
    transcript(`
      poll 1 -> armed(1) | 1 UP 0
      fail               | 1 UP 1
      fail               | 1 UP 2
      poll 1             | 1 UP 0
      fail               | 1 UP 1
    `));

  test('one alert an outage, one recovered; seconds are failures times the interval', () =>
    transcript(`
      poll 1 -> armed(1)        | 1 UP 0
      fail                      | 1 UP 1
      fail                      | 1 UP 2
      fail   -> alert(3 180s)   | 1 DOWN 3
      fail                      | 1 DOWN 4
      poll 1 -> recovered(1)    | 1 UP 0
      poll 1                    | 1 UP 0
    `));

  test('a run may alert, recover, and alert again', () =>
    transcript(
      `
      fail   -> alert(1 60s)          | null DOWN 1
      poll 1 -> recovered(1) armed(1) | 1 UP 0
      fail   -> alert(1 60s)          | 1 DOWN 1
      poll 1 -> recovered(1)          | 1 UP 0
    `,
      { rules: { alertAfter: 1 } },
    ));

  test('recovered on the poll that also baselines carries the cursor that it just set', () =>
    transcript(
      `
      fail     -> alert(1 60s)          | null DOWN 1
      poll 1 7 -> recovered(7) armed(7) | 7 UP 0
    `,
      { rules: { alertAfter: 1 } },
    ));

  test('recovered carries the cursor before the mail that follows it', () =>
    transcript(
      `
      poll 1     -> armed(1)              | 1 UP 0
      fail       -> alert(1 60s)          | 1 DOWN 1
      poll 1 2 3 -> recovered(1) new(2) new(3) | 3 UP 0
    `,
      { rules: { alertAfter: 1 } },
    ));

  test('DOWN that was resumed does not alert again, and recovers once', () =>
    transcript(
      `
      fail                            | 4 DOWN 10
      fail                            | 4 DOWN 11
      poll 4 -> recovered(4) armed(4) | 4 UP 0
    `,
      resumed(4, 'DOWN', 9),
    ));

  test('failures that were resumed count on', () =>
    transcript(
      `
      fail -> alert(3 180s) | 4 DOWN 3
    `,
      resumed(4, 'UP', 2),
    ));

  test('a failure never moves the cursor', () =>
    transcript(`
      poll 5 -> armed(5) | 5 UP 0
      fail               | 5 UP 1
      poll 5 6 -> new(6) | 6 UP 0
    `));

  test('an inbox that was emptied is healthy, and moves nothing', () =>
    transcript(`
      poll 5 -> armed(5) | 5 UP 0
      poll               | 5 UP 0
      poll 3             | 5 UP 0
    `));
});

describe('heartbeat', () => {
  const beating: Setting = { rules: { heartbeatMs: 60_000 } };

  test('after its time, also on failed polls and on ticks without a look; null before the baseline', () =>
    transcript(
      `
      fail                                | null UP 1
      +59s                                | null UP 1
      fail                                | null UP 2
      +1s                                 | null UP 2
      fail  -> alert(3 180s) heartbeat(null) | null DOWN 3
      beat                                | null DOWN 3
      +60s                                | null DOWN 3
      beat -> heartbeat(null)             | null DOWN 3
    `,
      beating,
    ));

  test('last in its poll, with the cursor after the mail', () =>
    transcript(
      `
      +60s                                      | 1 UP 0
      poll 1 2 -> armed(1) new(2) heartbeat(2)  | 2 UP 0
      +60s                                      | 2 UP 0
      beat     -> heartbeat(2)                  | 2 UP 0
    `,
      with_(resumed(1), { heartbeatMs: 60_000 }),
    ));

  test('none was asked for, none comes', () =>
    transcript(`
      +9999s             | null UP 0
      beat               | null UP 0
      poll 1 -> armed(1) | 1 UP 0
    `));

  test('at least once: one that was refused is due at once', () =>
    transcript(
      `
      +60s                                 | null UP 0
      beat takes 0 -> !heartbeat(null)     | null UP 0
      +1s                                  | null UP 0
      poll 1 -> armed(1) heartbeat(1)      | 1 UP 0
      beat                                 | 1 UP 0
    `,
      with_(ONCE_MORE, { heartbeatMs: 60_000 }),
    ));

  test('a wall clock that is set back by hours does not silence the proof of life', () =>
    transcript(
      `
      poll -> armed(0)     | 0 UP 0
      -7200s               | 0 UP 0
      beat -> heartbeat(0) | 0 UP 0
      beat                 | 0 UP 0
    `,
      beating,
    ));
});

describe('whose mail', () => {
  test('a suppressed author, in any case, makes no event, but the cursor moves over it', () =>
    transcript(
      `
      poll             -> armed(0) | 0 UP 0
      poll 1/Bo                    | 1 UP 0
      poll 1/Bo 2 3/bo -> new(2)   | 3 UP 0
    `,
      { rules: { suppressed: new Set(['bo']) } },
    ));

  test('suppressed mail counts for the cap: n is every id above the cursor', () =>
    transcript(
      `
      poll 1/bo 2 3 -> replay_capped(3 -3) armed(3) | 3 UP 0
    `,
      with_(resumed(0), { suppressed: new Set(['bo']), maxReplay: 2 }),
    ));

  test('edges and heartbeats are not suppressed', () =>
    transcript(
      `
      fail -> alert(1 60s)         | null DOWN 1
      poll -> recovered(0) armed(0) | 0 UP 0
    `,
      { rules: { suppressed: new Set(['ada', 'river']), alertAfter: 1 } },
    ));

  test("the persona's own mail is told, and marked as its own", () =>
    transcript(`
      poll             -> armed(0)                    | 0 UP 0
      poll 1/ada 2/ADA 3 -> new(1 self) new(2 self) new(3) | 3 UP 0
    `));

  test('a target without a persona has no self', () =>
    transcript(
      `
      poll   -> armed(0)  | 0 UP 0
      poll 1/ -> new(1)   | 1 UP 0
    `,
      { rules: { persona: null, address: '' } },
    ));
});

describe('at most once (rev 6)', () => {
  test('the cursor moves over whatever was offered; nothing is offered again', () =>
    transcript(
      `
      poll takes 0                    -> !armed(0)                       | 0 UP 0
      poll 1 2 3 takes 1              -> new(1) !new(2) !new(3)          | 3 UP 0
      poll 1 2 3                                                         | 3 UP 0
      fail takes 0                    -> !alert(1 60s)                   | 3 DOWN 1
      fail                                                               | 3 DOWN 2
    `,
      { rules: { alertAfter: 1 } },
    ));
});

describe('at least once', () => {
  test('the sink stops at the k-th: the cursor is at the last one taken, and the rest is offered again in order', () =>
    transcript(
      `
      poll -> armed(0)                                     | 0 UP 0
      poll 1 2 3 takes 1     -> new(1) !new(2) !new(3)     | 1 UP 0
      poll 1 2 3 4 takes 0   -> !new(2) !new(3) !new(4)    | 1 UP 0
      poll 1 2 3 4           -> new(2) new(3) new(4)       | 4 UP 0
    `,
      ONCE_MORE,
    ));

  test('cursor <= first blocked id - 1, also across gaps and suppressed mail', () =>
    transcript(
      `
      poll -> armed(0)                                        | 0 UP 0
      poll 10/bo 20 30/bo 40 takes 0   -> !new(20) !new(40)   | 19 UP 0
      poll 10/bo 20 30/bo 40 takes 1   -> new(20) !new(40)    | 39 UP 0
      poll 10/bo 20 30/bo 40 50/bo     -> new(40)             | 50 UP 0
    `,
      with_(ONCE_MORE, { suppressed: new Set(['bo']) }),
    ));

  test('suppressed mail alone is never held', () =>
    transcript(
      `
      poll takes 0 -> !armed(0) | 0 UP 0
      poll 1/bo takes 0 -> !armed(0) | 1 UP 0
      poll 1/bo -> armed(1)     | 1 UP 0
    `,
      with_(ONCE_MORE, { suppressed: new Set(['bo']) }),
    ));

  test('armed that was refused is said once, before any mail', () =>
    transcript(
      `
      poll 1 takes 0   -> !armed(1)         | 1 UP 0
      poll 1 2 takes 0 -> !armed(1) !new(2) | 1 UP 0
      poll 1 2 takes 1 -> armed(1) !new(2)  | 1 UP 0
      poll 1 2         -> new(2)            | 2 UP 0
    `,
      ONCE_MORE,
    ));

  test('an alert that was refused is said later, with the failures of then', () =>
    transcript(
      `
      fail takes 0 -> !alert(1 60s)  | null UP 1
      fail         -> alert(2 120s)  | null DOWN 2
      fail                           | null DOWN 3
    `,
      with_(ONCE_MORE, { alertAfter: 1 }),
    ));

  test('an alert that was never told needs no recovered', () =>
    transcript(
      `
      fail takes 0 -> !alert(1 60s)  | null UP 1
      poll         -> armed(0)       | 0 UP 0
    `,
      with_(ONCE_MORE, { alertAfter: 1 }),
    ));

  test('recovered that was refused is said later; a second outage meanwhile is no second alert', () =>
    transcript(
      `
      fail                   -> alert(1 60s)               | null DOWN 1
      poll 1 takes 0         -> !recovered(1) !armed(1)    | 1 DOWN 0
      fail                                                 | 1 DOWN 1
      poll 1 2 takes 1       -> recovered(1) !armed(1) !new(2) | 1 UP 0
      poll 1 2               -> armed(1) new(2)            | 2 UP 0
    `,
      with_(ONCE_MORE, { alertAfter: 1 }),
    ));

  test('a capped replay that nobody was told of stays above the saved cursor: a restart counts it again', () =>
    transcript(
      `
      poll 1-7 takes 0 -> !replay_capped(7 -6) !armed(7)   | 1 UP 0
      restart                                              | 1 UP 0
      poll 1-8 takes 1 -> replay_capped(8 -7) !armed(8)    | 8 UP 0
      poll 1-8         -> armed(8)                         | 8 UP 0
    `,
      with_(with_(resumed(1), { maxReplay: 5 }), { delivery: 'at-least-once' }),
    ));
});

describe('a kill between sink and mark', () => {
  test('what the sink holds is not told again; what is above it is', () =>
    transcript(
      `
      poll 1 2 3 4 -> armed(1) new(4) | 4 UP 0
    `,
      { ...resumed(1), tail: { eventIds: new Set(['ada:new:2', 'ada:new:3', 'bo:new:4', 'ada:new:x']) } },
    ));

  test('what the sink holds does not count for the cap, and one lower message stays told by itself', () =>
    transcript(
      `
      poll 1-6 takes 1 -> armed(1) !new(2)  | 1 UP 0
      poll 1-6         -> new(2)            | 6 UP 0
      poll 1-7         -> new(7)            | 7 UP 0
    `,
      {
        ...with_(resumed(1), { maxReplay: 1, delivery: 'at-least-once' }),
        tail: { eventIds: new Set([3, 4, 5, 6].map((id) => `ada:new:${id}`)) },
      },
    ));

  test('a state that was lost is a baseline, whatever the sink holds', () =>
    transcript(`
      poll 1         -> armed(1) | 1 UP 0
      poll 1 2       -> new(2)   | 2 UP 0
      restart unsaved            | null UP 0
      poll 1 2 3     -> armed(3) | 3 UP 0
    `));
});

describe('what is asked to be saved', () => {
  const open = (start: Start, rules: Rules = RULES): WatchState => openWatch(T0, start, null, EMPTY_TAIL, rules);
  const polled = (state: WatchState, words: string[], rules: Rules = RULES): Output =>
    step(state, { at: T0, is: 'looked', look: lookOf(words, T0) }, rules);

  test('a cursor that was just set is saved before armed is told: a kill between them makes no second baseline', () => {
    const out = polled(open({ is: 'baseline' }), ['1', '2']);
    assert.equal(out.save, true);
    assert.equal(savedOf(out.state).cursor, 2);
  });

  test('mail is told before the cursor is saved', () => {
    const armed = answer(polled(open({ is: 'baseline' }), []), 1, T0, RULES);
    const out = polled(armed.state, ['1']);
    assert.equal(out.save, false);
    assert.equal(savedOf(out.state).cursor, 0);
    assert.equal(out.kept.cursor, 1);
    assert.equal(answer(out, 1, T0, RULES).save, true);
  });

  test('every full poll saves, also a failed one; a tick without a look never does, even when its heartbeat is told', () => {
    const rules = { ...RULES, heartbeatMs: 1000 };
    const armed = answer(polled(open({ is: 'baseline' }, rules), [], rules), 1, T0, rules);
    assert.equal(armed.save, true);
    assert.equal(polled(armed.state, [], rules).save, true);
    assert.equal(step(armed.state, { at: T0, is: 'failed', fault: REFUSED }, rules).save, true);
    assert.equal(step(armed.state, { at: T0, is: 'beat' }, rules).save, false);
    const beat = step(armed.state, { at: T0 + 1000, is: 'beat' }, rules);
    assert.equal(beat.offer.length, 1);
    assert.equal(answer(beat, 1, T0 + 1000, rules).save, false);
  });
});

describe('what the board is told', () => {
  const at = T0;
  const looks = (state: WatchState, ...words: string[]): Output =>
    step(state, { at, is: 'looked', look: lookOf(words, at) }, RULES);

  test('levels at once, events only when the sink took them, a refusal as held', () => {
    const out = looks(
      openWatch(at, { is: 'resume' }, { cursor: 0, state: 'UP', consecutive_failures: 0 }, EMPTY_TAIL, RULES),
      '1',
      '2',
    );
    assert.deepEqual(
      out.facts.map((fact) => fact.is),
      ['looked'],
    );
    const after = answer(out, 2, at, RULES);
    assert.deepEqual(
      after.facts.map((fact) => fact.is),
      ['told', 'held'],
    );
    const [told] = after.facts;
    assert.deepEqual(told?.is === 'told' && told.events.map(worded), ['armed(0)', 'new(1)']);
  });

  test('reach: unseen, up, failing, down at the threshold, up again', () => {
    let state = openWatch(at, { is: 'baseline' }, null, EMPTY_TAIL, { ...RULES, alertAfter: 2 });
    const seen = [state.reach.is as string];
    for (const word of ['up', 'failing', 'down', 'down', 'up']) {
      const input: Input =
        word === 'up' ? { at, is: 'looked', look: lookOf([], at) } : { at, is: 'failed', fault: REFUSED };
      const out = step(state, input, { ...RULES, alertAfter: 2 });
      state = out.offer.length === 0 ? out.state : answer(out, out.offer.length, at, RULES).state;
      seen.push(state.reach.is);
    }
    assert.deepEqual(seen, ['unseen', 'up', 'failing', 'down', 'down', 'up']);
  });

  test('a DOWN that was resumed is shown down on its first failure, since then', () => {
    const state = openWatch(
      at,
      { is: 'resume' },
      { cursor: 1, state: 'DOWN', consecutive_failures: 5 },
      EMPTY_TAIL,
      RULES,
    );
    const { reach } = step(state, { at, is: 'failed', fault: REFUSED }, RULES).state;
    assert.deepEqual(reach, { is: 'down', since: at, failures: 6, why: 'refused' });
  });

  test('what the agent was told is not what is true: a blip after an untold recovery is failing, not down', () => {
    const rules: Rules = { ...RULES, delivery: 'at-least-once' };
    const down = openWatch(
      at,
      { is: 'resume' },
      { cursor: 1, state: 'DOWN', consecutive_failures: 5 },
      EMPTY_TAIL,
      rules,
    );
    const healthy = step(down, { at, is: 'looked', look: lookOf(['1'], at) }, rules);
    const untold = answer(healthy, 0, at, rules);
    assert.equal(step(untold.state, { at, is: 'failed', fault: REFUSED }, rules).state.reach.is, 'failing');
  });
});

describe('what an event carries', () => {
  const armedAt0 = openWatch(
    T0,
    { is: 'resume' },
    { cursor: 0, state: 'UP', consecutive_failures: 0 },
    EMPTY_TAIL,
    RULES,
  );
  const mailOf = (row: Partial<Row>, rules: Rules = RULES): Event | undefined => {
    const look = lookOf(['1'], T0);
    const rows = look.evidence.rows.map((each) => ({ ...each, ...row }));
    return step(armedAt0, { at: T0, is: 'looked', look: { ...look, evidence: { is: 'log', rows, max: 1 } } }, rules)
      .offer[1];
  };

  test('source, time, persona, an id that is the same for ever, and a wake class', () => {
    assert.deepEqual(mailOf({}), {
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
    });
  });

  test('without content there is no content key; without a persona no persona key', () => {
    const event = mailOf({ content: null }, { ...RULES, persona: null });
    assert.ok(event !== undefined && !('content' in event) && !('persona' in event));
    assert.equal(event.event_id, '_:new:1');
    assert.equal((mailOf({ content: '' }) as { content?: string }).content, '');
  });

  test('every other event counts on within the run, also those that are said again', () => {
    const rules: Rules = { ...RULES, delivery: 'at-least-once', alertAfter: 1 };
    const ids: string[] = [];
    let state = openWatch(T0, { is: 'baseline' }, null, EMPTY_TAIL, rules);
    for (const takes of [0, 1]) {
      const out = step(state, { at: T0, is: 'failed', fault: REFUSED }, rules);
      ids.push(...out.offer.map((event) => event.event_id));
      state = answer(out, takes, T0, rules).state;
    }
    assert.deepEqual(ids, ['ada:alert:00ff00ff00ff00ff-1', 'ada:alert:00ff00ff00ff00ff-2']);
  });

  test('an answer of the sink without an offer is a mistake of the caller, and said so', () => {
    assert.throws(() => step(armedAt0, { at: T0, is: 'taken', taken: { is: 'all' } }, RULES), /without an offer/);
  });
});
