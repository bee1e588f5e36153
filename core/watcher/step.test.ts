import { describe, test } from 'node:test';
import { given, ONCE_MORE, resumed, type Setting, withRules } from '../../test/kit/transcript.ts';

describe('the first healthy poll (Kijito spec 7.0)', () => {
  test('baseline: what is there is old; armed carries the largest id; later mail is new', () =>
    given()`
      poll 1 2 3     -> armed(3)   | 3 UP 0
      poll 1 2 3 4 6 -> new(4) new(6) | 6 UP 0
      poll 1 2 3 4 6               | 6 UP 0
    `);

  test('baseline of an empty inbox: the cursor is 0, and its first mail is new', () =>
    given()`
      poll   -> armed(0) | 0 UP 0
      poll 1 -> new(1)   | 1 UP 0
    `);

  test('baseline is exempt from the replay cap', () =>
    given({ rules: { maxReplay: 2 } })`
      poll 1-500 -> armed(500) | 500 UP 0
    `);

  test('a state without a cursor is a baseline', () =>
    given(resumed(null))`
      poll 1 2 -> armed(2) | 2 UP 0
    `);

  test('no state at all, though one was hoped for, is a baseline', () =>
    given({ start: { is: 'resume' } })`
      poll 1 2 -> armed(2) | 2 UP 0
    `);

  test('resume: armed first, with the resumed cursor, then what came meanwhile, ascending', () =>
    given(resumed(2))`
      poll 1 2 3 4 -> armed(2) new(3) new(4) | 4 UP 0
    `);

  test('resume at 0 is a cursor like any other', () =>
    given(resumed(0))`
      poll 1 -> armed(0) new(1) | 1 UP 0
    `);

  test('exactly --max-replay messages are replayed', () =>
    given(withRules(resumed(1), { maxReplay: 5 }))`
      poll 1-6 -> armed(1) new(2) new(3) new(4) new(5) new(6) | 6 UP 0
    `);

  test('one more is capped: the notice comes before armed, no mail, and the cursor is at the end', () =>
    given(withRules(resumed(1), { maxReplay: 5 }))`
      poll 1-7   -> replay_capped(7 -6) armed(7) | 7 UP 0
      poll 1-8   -> new(8)                       | 8 UP 0
    `);

  test('--max-replay 0 replays nothing', () =>
    given(withRules(resumed(1), { maxReplay: 0 }))`
      poll 1 2 -> replay_capped(2 -1) armed(2) | 2 UP 0
    `);

  test('the cap is for the first poll only: a flood after an outage is all new', () =>
    given({ rules: { maxReplay: 2 } })`
      poll 1   -> armed(1)                     | 1 UP 0
      fail                                     | 1 UP 1
      poll 1-5 -> new(2) new(3) new(4) new(5)  | 5 UP 0
    `);

  test('a cursor ahead of reality: said before armed, and ids up to it are skipped on purpose', () =>
    given({ start: { is: 'seed', id: 9 } })`
      poll 1 2     -> seed_ahead(9>2) armed(9) | 9 UP 0
      poll 1 2 9                               | 9 UP 0
      poll 1 2 9 10 -> new(10)                 | 10 UP 0
    `);

  test('a cursor ahead of an empty inbox: the largest id is 0', () =>
    given(resumed(9))`
      poll -> seed_ahead(9>0) armed(9) | 9 UP 0
    `);

  test('a cursor that is exactly the largest id is not ahead', () =>
    given(resumed(9))`
      poll 1 9 -> armed(9) | 9 UP 0
    `);

  test("a seed is the operator's word: it overrides the saved cursor, but not the saved DOWN", () =>
    given({ start: { is: 'seed', id: 1 }, saved: { cursor: 3, state: 'DOWN', consecutive_failures: 7 } })`
      fail                                      | 1 DOWN 8
      poll 1 2 3 -> recovered(1) armed(1) new(2) new(3) | 3 UP 0
    `);

  test('a seed replays even what the sink holds', () =>
    given()`
      poll 1 2 3     -> armed(3)               | 3 UP 0
      poll 1 2 3 4   -> new(4)                 | 4 UP 0
      restart seed 3                           | 3 UP 0
      poll 1 2 3 4   -> armed(3) new(4)        | 4 UP 0
    `);

  test('a failed first poll arms nothing', () =>
    given()`
      fail            | null UP 1
      poll 1 -> armed(1) | 1 UP 0
    `);

  test('born during the run: announced, armed at 0, and its first mail is new, however much', () =>
    given({ start: { is: 'born' }, rules: { maxReplay: 2 } })`
      poll 1-4 -> persona_added armed(0) new(1) new(2) new(3) new(4) | 4 UP 0
      poll 1-5 -> new(5)                                             | 5 UP 0
    `);

  test('one armed a process: a restart says it once again', () =>
    given()`
      poll 1   -> armed(1)        | 1 UP 0
      restart                     | 1 UP 0
      poll 1 2 -> armed(1) new(2) | 2 UP 0
      poll 1 2                    | 2 UP 0
    `);
});

describe('liveness (Kijito spec 7.1)', () => {
  test('a blip below the threshold is silent', () =>
    given()`
      poll 1 -> armed(1) | 1 UP 0
      fail               | 1 UP 1
      fail               | 1 UP 2
      poll 1             | 1 UP 0
      fail               | 1 UP 1
    `);

  test('trap 62: one alert an outage, one recovered; seconds are failures times the interval, not a time that was measured', () =>
    given()`
      poll 1 -> armed(1)        | 1 UP 0
      fail                      | 1 UP 1
      fail                      | 1 UP 2
      fail   -> alert(3 180s)   | 1 DOWN 3
      fail                      | 1 DOWN 4
      poll 1 -> recovered(1)    | 1 UP 0
      poll 1                    | 1 UP 0
    `);

  test('a run may alert, recover, and alert again', () =>
    given({ rules: { alertAfter: 1 } })`
      fail   -> alert(1 60s)          | null DOWN 1
      poll 1 -> recovered(1) armed(1) | 1 UP 0
      fail   -> alert(1 60s)          | 1 DOWN 1
      poll 1 -> recovered(1)          | 1 UP 0
    `);

  test('recovered on the poll that also baselines carries the cursor that it just set', () =>
    given({ rules: { alertAfter: 1 } })`
      fail     -> alert(1 60s)          | null DOWN 1
      poll 1 7 -> recovered(7) armed(7) | 7 UP 0
    `);

  test('recovered carries the cursor before the mail that follows it', () =>
    given({ rules: { alertAfter: 1 } })`
      poll 1     -> armed(1)              | 1 UP 0
      fail       -> alert(1 60s)          | 1 DOWN 1
      poll 1 2 3 -> recovered(1) new(2) new(3) | 3 UP 0
    `);

  test('DOWN that was resumed does not alert again, and recovers once', () =>
    given(resumed(4, 'DOWN', 9))`
      fail                            | 4 DOWN 10
      fail                            | 4 DOWN 11
      poll 4 -> recovered(4) armed(4) | 4 UP 0
    `);

  test('failures that were resumed count on', () =>
    given(resumed(4, 'UP', 2))`
      fail -> alert(3 180s) | 4 DOWN 3
    `);

  test('a failure never moves the cursor', () =>
    given()`
      poll 5 -> armed(5) | 5 UP 0
      fail               | 5 UP 1
      poll 5 6 -> new(6) | 6 UP 0
    `);

  test('an inbox that was emptied is healthy, and moves nothing', () =>
    given()`
      poll 5 -> armed(5) | 5 UP 0
      poll               | 5 UP 0
      poll 3             | 5 UP 0
    `);
});

describe('heartbeat', () => {
  const beating: Setting = { rules: { heartbeatMs: 60_000 } };

  test('after its time, also on failed polls and on ticks without a look; null before the baseline', () =>
    given(beating)`
      fail                                | null UP 1
      +59s                                | null UP 1
      fail                                | null UP 2
      +1s                                 | null UP 2
      fail  -> alert(3 180s) heartbeat(null) | null DOWN 3
      beat                                | null DOWN 3
      +60s                                | null DOWN 3
      beat -> heartbeat(null)             | null DOWN 3
    `);

  test('last in its poll, with the cursor after the mail', () =>
    given(withRules(resumed(1), { heartbeatMs: 60_000 }))`
      +60s                                      | 1 UP 0
      poll 1 2 -> armed(1) new(2) heartbeat(2)  | 2 UP 0
      +60s                                      | 2 UP 0
      beat     -> heartbeat(2)                  | 2 UP 0
    `);

  test('none was asked for, none comes', () =>
    given()`
      +9999s             | null UP 0
      beat               | null UP 0
      poll 1 -> armed(1) | 1 UP 0
    `);

  test('at least once: one that was refused is due at once', () =>
    given(withRules(ONCE_MORE, { heartbeatMs: 60_000 }))`
      +60s                                 | null UP 0
      beat takes 0 -> !heartbeat(null)     | null UP 0
      +1s                                  | null UP 0
      poll -> armed(0) heartbeat(0)        | 0 UP 0
      beat                                 | 0 UP 0
    `);

  test('a wall clock that is set back by hours does not silence the proof of life', () =>
    given(beating)`
      poll -> armed(0)     | 0 UP 0
      -7200s               | 0 UP 0
      beat -> heartbeat(0) | 0 UP 0
      beat                 | 0 UP 0
    `);
});

describe('whose mail', () => {
  test('a suppressed author, in any case, makes no event, but the cursor moves over it', () =>
    given({ rules: { suppressed: new Set(['bo']) } })`
      poll             -> armed(0) | 0 UP 0
      poll 1/Bo                    | 1 UP 0
      poll 1/Bo 2 3/bo -> new(2)   | 3 UP 0
    `);

  test('suppressed mail counts for the cap: n is every id above the cursor', () =>
    given(withRules(resumed(0), { suppressed: new Set(['bo']), maxReplay: 2 }))`
      poll 1/bo 2 3 -> replay_capped(3 -3) armed(3) | 3 UP 0
    `);

  test('edges and heartbeats are not suppressed', () =>
    given({ rules: { suppressed: new Set(['ada', 'river']), alertAfter: 1 } })`
      fail -> alert(1 60s)         | null DOWN 1
      poll -> recovered(0) armed(0) | 0 UP 0
    `);

  test("S16: the persona's own mail is told, and marked as its own", () =>
    given()`
      poll             -> armed(0)                    | 0 UP 0
      poll 1/ada 2/ADA 3 -> new(1 self) new(2 self) new(3) | 3 UP 0
    `);

  test('the same name in another Unicode form is one name', () =>
    given({ rules: { address: 'Zo\u00eb' } })`
      poll               -> armed(0)      | 0 UP 0
      poll 1/ZOE\u0308 -> new(1 self) | 1 UP 0
    `);

  test('a target without a persona has no self', () =>
    given({ rules: { persona: null, address: '' } })`
      poll   -> armed(0)  | 0 UP 0
      poll 1/ -> new(1)   | 1 UP 0
    `);
});

describe('at most once (rev 6)', () => {
  test('the cursor moves over whatever was offered; nothing is offered again', () =>
    given({ rules: { alertAfter: 1 } })`
      poll takes 0                    -> !armed(0)                       | 0 UP 0
      poll 1 2 3 takes 1              -> new(1) !new(2) !new(3)          | 3 UP 0
      poll 1 2 3                                                         | 3 UP 0
      fail takes 0                    -> !alert(1 60s)                   | 3 DOWN 1
      fail                                                               | 3 DOWN 2
    `);
});

describe('at least once', () => {
  test('the sink stops at the k-th: the cursor is at the last one taken, and the rest is offered again in order', () =>
    given(ONCE_MORE)`
      poll -> armed(0)                                     | 0 UP 0
      poll 1 2 3 takes 1     -> new(1) !new(2) !new(3)     | 1 UP 0
      poll 1 2 3 4 takes 0   -> !new(2) !new(3) !new(4)    | 1 UP 0
      poll 1 2 3 4           -> new(2) new(3) new(4)       | 4 UP 0
    `);

  test('cursor <= first blocked id - 1, also across gaps and suppressed mail', () =>
    given(withRules(ONCE_MORE, { suppressed: new Set(['bo']) }))`
      poll -> armed(0)                                        | 0 UP 0
      poll 10/bo 20 30/bo 40 takes 0   -> !new(20) !new(40)   | 19 UP 0
      poll 10/bo 20 30/bo 40 takes 1   -> new(20) !new(40)    | 39 UP 0
      poll 10/bo 20 30/bo 40 50/bo     -> new(40)             | 50 UP 0
    `);

  test('suppressed mail alone is never held', () =>
    given(withRules(ONCE_MORE, { suppressed: new Set(['bo']) }))`
      poll takes 0 -> !armed(0) | 0 UP 0
      poll 1/bo takes 0 -> !armed(0) | 1 UP 0
      poll 1/bo -> armed(1)     | 1 UP 0
    `);

  test('armed that was refused is said once, before any mail', () =>
    given(ONCE_MORE)`
      poll takes 0   -> !armed(0)         | 0 UP 0
      poll 1 takes 0 -> !armed(0) !new(1) | 0 UP 0
      poll 1 takes 1 -> armed(0) !new(1)  | 0 UP 0
      poll 1         -> new(1)            | 1 UP 0
    `);

  test('an alert that was refused is said later, with the failures of then', () =>
    given(withRules(ONCE_MORE, { alertAfter: 1 }))`
      fail takes 0 -> !alert(1 60s)  | null UP 1
      fail         -> alert(2 120s)  | null DOWN 2
      fail                           | null DOWN 3
    `);

  test('an alert that was never told needs no recovered', () =>
    given(withRules(ONCE_MORE, { alertAfter: 1 }))`
      fail takes 0 -> !alert(1 60s)  | null UP 1
      poll         -> armed(0)       | 0 UP 0
    `);

  test('recovered that was refused is said later; a second outage meanwhile is no second alert', () =>
    given(withRules(ONCE_MORE, { alertAfter: 1 }))`
      fail                   -> alert(1 60s)               | null DOWN 1
      poll takes 0           -> !recovered(0) !armed(0)    | 0 DOWN 0
      fail                                                 | 0 DOWN 1
      poll 1 takes 1         -> recovered(0) !armed(0) !new(1) | 0 UP 0
      poll 1                 -> armed(0) new(1)            | 1 UP 0
    `);

  test('a capped replay that nobody was told of stays above the saved cursor: a restart counts it again', () =>
    given(withRules(withRules(resumed(1), { maxReplay: 5 }), { delivery: 'at-least-once' }))`
      poll 1-7 takes 0 -> !replay_capped(7 -6) !armed(7)   | 1 UP 0
      restart                                              | 1 UP 0
      poll 1-8 takes 1 -> replay_capped(8 -7) !armed(8)    | 8 UP 0
      poll 1-8         -> armed(8)                         | 8 UP 0
    `);
});

describe('a kill between sink and mark', () => {
  test('what the sink holds is not told again; what is above it is', () =>
    given({ ...resumed(1), tail: { eventIds: new Set(['ada:new:2', 'ada:new:3', 'bo:new:4', 'ada:new:x']) } })`
      poll 1 2 3 4 -> armed(1) new(4) | 4 UP 0
    `);

  test('what the sink holds does not count for the cap, and one lower message stays told by itself', () =>
    given({
      ...withRules(resumed(1), { maxReplay: 1, delivery: 'at-least-once' }),
      tail: { eventIds: new Set([3, 4, 5, 6].map((id) => `ada:new:${id}`)) },
    })`
      poll 1-6 takes 1 -> armed(1) !new(2)  | 1 UP 0
      poll 1-6         -> new(2)            | 6 UP 0
      poll 1-7         -> new(7)            | 7 UP 0
    `);

  test('a state that was lost is a baseline, whatever the sink holds', () =>
    given()`
      poll 1         -> armed(1) | 1 UP 0
      poll 1 2       -> new(2)   | 2 UP 0
      restart unsaved            | null UP 0
      poll 1 2 3     -> armed(3) | 3 UP 0
    `);
});
