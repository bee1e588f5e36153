import { describe, test } from 'node:test';
import { given, ONCE_MORE, resumed, type Setting, withRules } from '../../test/kit/transcript.ts';

const after = (cursor: number): Setting => withRules(resumed(cursor), { delivery: 'at-least-once' });
const words = (sign: string, from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, i) => `${sign}new(${from + i})`).join(' ');
const reported = (from: number, to: number): string => words('', from, to);
const refused = (from: number, to: number): string => words('!', from, to);
const corrupt: Setting = { ...ONCE_MORE, start: { is: 'corrupt', why: 'the file is empty' } };

describe('a hole above the cursor (Kijito contract, bounded windows)', () => {
  test('trap 14: what could be had is told, the cursor stays, and what lay in the hole is told once it can be had', () =>
    given(after(5))`
      poll 8-10 hole -> armed(5) gap(5) new(8) new(9) new(10) | 5 UP 0
      poll 1-10      -> new(6) new(7)                         | 10 UP 0
      poll 1-10                                               | 10 UP 0
    `);

  test('trap 15: rows that were had close no hole; D5: once it is closed the cursor stands behind everything', () =>
    given(after(5))`
      poll 8-10 hole  -> armed(5) gap(5) new(8) new(9) new(10) | 5 UP 0
      poll 7-11 hole  -> new(7) new(11)                        | 5 UP 0
      poll 12-13 hole -> new(12) new(13)                       | 5 UP 0
      poll 1-13       -> new(6)                                | 13 UP 0
    `);

  test('trap 25: a restart neither skips the hole, whatever the cap on replays says, nor tells anything again', () =>
    given(withRules(after(5), { maxReplay: 1 }))`
      poll 8 hole     -> armed(5) gap(5) new(8)  | 5 UP 0
      restart                                    | 5 UP 0
      poll 1-20       -> armed(5) new(6) new(7) new(9) new(10) new(11) new(12) new(13) new(14) new(15) new(16) new(17) new(18) new(19) new(20) | 20 UP 0
    `);

  test('trap 26: what was told above the hole is told once, over polls and restarts', () =>
    given(after(5))`
      poll 8-9 hole -> armed(5) gap(5) new(8) new(9) | 5 UP 0
      poll 8-9 hole                                  | 5 UP 0
      restart                                        | 5 UP 0
      poll 8-9 hole -> armed(5)                      | 5 UP 0
    `);

  test('trap 27: one gap is told once while the window moves on, and a later one again', () =>
    given(after(5))`
      poll 8 hole  -> armed(5) gap(5) new(8)  | 5 UP 0
      poll 9 hole  -> new(9)                  | 5 UP 0
      poll 12 hole -> new(12)                 | 5 UP 0
      poll 1-12    -> new(6) new(7) new(10) new(11) | 12 UP 0
      poll 15 hole -> gap(12) new(15)         | 12 UP 0
    `);

  test('trap 33: a pin ends when what was in the hole is delivered, not when it could be had', () =>
    given(withRules(after(5), { maxReplay: 1 }))`
      poll 8 hole       -> armed(5) gap(5) new(8) | 5 UP 0
      poll 1-9 takes 0  -> !new(6) !new(7) !new(9) | 5 UP 0
      restart                                      | 5 UP 0
      poll 1-9 takes 1  -> armed(5) !new(6) !new(7) !new(9) | 5 UP 0
      poll 1-9 takes 2  -> new(6) new(7) !new(9)   | 8 UP 0
      poll 1-9          -> new(9)                  | 9 UP 0
    `);

  test('trap 10: a gap alert that was refused is no gap alert; mail after it waits', () =>
    given(after(5))`
      poll 8 hole takes 1 -> armed(5) !gap(5) !new(8) | 5 UP 0
      poll 8 hole         -> gap(5) new(8)            | 5 UP 0
    `);

  test('trap 4: the cursor is never at or above a message that is not delivered, hole or none', () =>
    given(after(5))`
      poll 8-10 hole takes 3 -> armed(5) gap(5) new(8) !new(9) !new(10) | 5 UP 0
      poll 1-10 takes 2      -> new(6) new(7) !new(9) !new(10)          | 8 UP 0
      poll 1-10              -> new(9) new(10)                          | 10 UP 0
    `);

  test('trap 49: the gap alert can be switched off by itself, and the cursor is held all the same', () =>
    given(withRules(after(5), { silenced: new Set(['gap']) }))`
      poll 8 hole hidden=2 -> armed(5) new(8) hidden(2 null) | 5 UP 0
    `);

  test('a replay that is capped passes the hole with all else: nothing is pinned, and no gap is told', () =>
    given(withRules(after(5), { maxReplay: 2 }))`
      poll 8-10 hole -> replay_capped(10 -3) armed(10) | 10 UP 0
      poll 8-11      -> new(11)                        | 11 UP 0
    `);

  test('a mailbox without a position has no hole: what is there is old', () =>
    given(ONCE_MORE)`
      poll 8-9 hole -> baseline_skipped(8-9 2) armed(9) | 9 UP 0
    `);
});

describe('more mail than one offer carries', () => {
  test('is offered in parts; what comes after mail waits for the last, and the cursor never runs ahead', () =>
    given(withRules(after(0), { maxReplay: 1000, heartbeatMs: 1000 }))`
      +2s                                 | 0 UP 0
      poll 1-52 hidden=1 takes 1 -> armed(0) ${refused(1, 50)} | 0 UP 0
      poll 1-52 hidden=1 takes 3 -> new(1) new(2) new(3) ${refused(4, 50)} | 3 UP 0
      poll 1-54 hidden=1         -> ${reported(4, 53)} | 53 UP 0
      poll 1-54 hidden=1         -> new(54) hidden(1 false) heartbeat(54) | 54 UP 0
    `);

  test('a pin ends with the last part', () =>
    given(withRules(after(0), { maxReplay: 1000 }))`
      poll 99 hole -> armed(0) gap(0) new(99) | 0 UP 0
      poll 1-99    -> ${reported(1, 50)}          | 50 UP 0
      poll 1-99    -> ${reported(51, 98)}        | 99 UP 0
    `);
});

describe('unread mail that the newest page does not show (Kijito contract, traps 28, 29, 47)', () => {
  test('is told once, with what is known of where it lies, and again when it went and came', () =>
    given(after(5))`
      poll 4-5 hidden=3 -> armed(5) hidden(3 false) | 5 UP 0
      poll 4-5 hidden=4                             | 5 UP 0
      restart                                       | 5 UP 0
      poll 4-5 hidden=4 -> armed(5)                 | 5 UP 0
      poll 4-5                                      | 5 UP 0
      poll 4-5 hidden=0                             | 5 UP 0
      poll 4-6 hidden=1 -> new(6) hidden(1 false)   | 6 UP 0
    `);

  test('comes after the mail of its poll, and is raised only once it was taken', () =>
    given(after(5))`
      poll 6 hidden=1 takes 2 -> armed(5) new(6) !hidden(1 false) | 6 UP 0
      poll 6 hidden=1         -> hidden(1 false)                  | 6 UP 0
    `);

  test('where the window begins above a hole nobody can tell where it lies', () =>
    given(after(5))`
      poll 8 hole hidden=2 -> armed(5) gap(5) new(8) hidden(2 null) | 5 UP 0
    `);
});

describe('a position that cannot be read (Kijito contract b, traps 30, 32, 36)', () => {
  test('trap 30: what is in sight is told again, and that it is', () =>
    given(corrupt)`
      poll 7-8  -> state_corrupt(6) armed(6) new(7) new(8) | 8 UP 0
      poll 7-9  -> new(9)                                  | 9 UP 0
    `);

  test('D23: over an empty inbox the cursor is 0', () =>
    given(corrupt)`
      poll   -> state_corrupt(0) armed(0) | 0 UP 0
      poll 1 -> new(1)                    | 1 UP 0
    `);

  test('trap 32: it can be delivered in parts and over restarts, uncapped, and then the cap holds again', () =>
    given(withRules(corrupt, { maxReplay: 1 }))`
      poll 7-9 takes 3 -> state_corrupt(6) armed(6) new(7) !new(8) !new(9) | 7 UP 0
      restart                                             | 7 UP 0
      poll 7-9         -> armed(7) new(8) new(9)          | 9 UP 0
      restart                                             | 9 UP 0
      poll 7-12        -> replay_capped(12 -3) armed(12)  | 12 UP 0
    `);

  test('that it was corrupt is said, also when the process ends before anybody took it', () =>
    given(corrupt)`
      poll 7 takes 0 -> !state_corrupt(6) !armed(6) !new(7)      | 6 UP 0
      restart                                                   | 6 UP 0
      poll 7         -> state_corrupt(6) armed(6) new(7)         | 7 UP 0
      restart                                                   | 7 UP 0
      poll 7         -> armed(7)                                 | 7 UP 0
    `);

  test('D3: a baseline over mail that is read skips nothing that anybody waits for, and says nothing', () =>
    given(ONCE_MORE)`
      poll 3-5 read -> armed(5) | 5 UP 0
    `);

  test('what a baseline skips is said, also when the process ends before anybody took it', () =>
    given(ONCE_MORE)`
      poll 3-5 takes 0 -> !baseline_skipped(3-5 3) !armed(5)     | 5 UP 0
      restart                                                   | 5 UP 0
      poll 3-6         -> baseline_skipped(3-5 3) armed(5) new(6) | 6 UP 0
      restart                                                   | 6 UP 0
      poll 3-6         -> armed(6)                               | 6 UP 0
    `);

  test('so is that a persona was added', () =>
    given({ ...ONCE_MORE, start: { is: 'born' } })`
      poll 1 takes 0 -> !persona_added !armed(0) !new(1) | 0 UP 0
      restart                                            | 0 UP 0
      poll 1-2       -> persona_added armed(0) new(1) new(2) | 2 UP 0
      restart                                            | 2 UP 0
      poll 1-2       -> armed(2)                         | 2 UP 0
    `);

  test('trap 36: a baseline over unread mail says what it skips; at most once, and over an empty inbox, it is silent', () => {
    given(ONCE_MORE)`
      poll 3-5 -> baseline_skipped(3-5 3) armed(5) | 5 UP 0
    `;
    given(ONCE_MORE)`
      poll     -> armed(0)                         | 0 UP 0
    `;
    given()`
      poll 3-5 -> armed(5)                         | 5 UP 0
    `;
  });
});
