import type { Fact } from '../board/index.ts';
import type { HiveAlarmEvent } from '../events/index.ts';
import type { Fault, Instant, Reach } from '../model/index.ts';
import type { Taken } from '../sinks/index.ts';
import type { Look } from '../sources/index.ts';
import { type Output, offering, SILENT } from './offer.ts';
import { settle } from './settle.ts';
import { type Rules, savedOf, type WatchState } from './state.ts';
import { lookedAtLevel } from './step-level.ts';
import { lookedAtLog } from './step-log.ts';
import { lookedAtSet } from './step-set.ts';

/** What happens to a watch. Time comes in with it. */
export type Input = { readonly at: Instant } & (
  | { readonly is: 'looked'; readonly look: Look }
  /** `settling`: shortly after a gap. It counts, but it makes no edge yet. */
  | { readonly is: 'failed'; readonly fault: Fault; readonly settling: boolean }
  /** The sink's answer to the last offer. */
  | { readonly is: 'taken'; readonly taken: Taken }
  /** A tick whose look was skipped. */
  | { readonly is: 'beat' }
  /** To be told here although it concerns the whole hive. Only at least once. */
  | { readonly is: 'alarm'; readonly alarm: HiveAlarmEvent }
);

/** One transition. Pure: the same state, input and rules give the same output. */
export function step(state: WatchState, input: Input, rules: Rules): Output {
  switch (input.is) {
    case 'looked':
      return looked(state, input.at, input.look, rules);
    case 'failed':
      return failed(state, input, rules);
    case 'taken':
      return taken(state, input.at, input.taken, rules);
    case 'beat':
      return offering(state, input.at, rules, { ...SILENT, mark: state.mark });
    case 'alarm': {
      const hive = rules.delivery === 'at-most-once' ? null : input.alarm;
      return offering(state, input.at, rules, { ...SILENT, mark: state.mark, hive });
    }
  }
}

function looked(state: WatchState, at: Instant, look: Look, rules: Rules): Output {
  const { evidence } = look;
  switch (evidence.is) {
    case 'log':
      return lookedAtLog(state, at, look, evidence, rules);
    case 'set':
      return lookedAtSet(state, at, look, evidence, rules);
    case 'level':
      return lookedAtLevel(state, at, look, rules);
  }
}

function failed(before: WatchState, input: Extract<Input, { is: 'failed' }>, rules: Rules): Output {
  const { at, fault, settling } = input;
  const failures = before.failures + 1;
  const wasDown = before.reach.is === 'down' || (before.reach.is === 'unseen' && before.told === 'DOWN');
  // The disk refuses: no second try will be answered otherwise, and "up" with the number of before would be false.
  const isSure = fault.code === 'unreadable';
  const isDown = wasDown || ((isSure || failures >= rules.alertAfter) && !settling);
  const reach: Reach = isDown
    ? { is: 'down', since: before.reach.is === 'down' ? before.reach.since : at, failures, why: fault.code }
    : { is: 'failing', failures, why: fault.code };
  const edge = isDown && before.told === 'UP' ? 'DOWN' : null;
  return offering({ ...before, reach, failures }, at, rules, {
    ...SILENT,
    mark: before.mark,
    facts: [{ is: 'failed', at, persona: rules.persona ?? '_', reach, fault }],
    save: true,
    edge,
  });
}

function taken(state: WatchState, at: Instant, answer: Taken, rules: Rules): Output {
  const offer = state.offer;
  if (offer === null) throw new Error('step: an answer of the sink without an offer');
  const persona = rules.persona ?? '_';
  const count = answer.is === 'all' ? offer.events.length : answer.count;
  const settled = settle(state, offer, rules.delivery === 'at-most-once' ? offer.events.length : count);
  const facts: Fact[] = [];
  const { lost } = answer;
  const told = offer.events.filter((_, index) => index < count && lost?.indexes.has(index) !== true);
  if (told.length > 0) facts.push({ is: 'told', at, persona, events: told });
  if (answer.is === 'stopped') facts.push({ is: 'held', at, persona, fault: answer.fault });
  return { state: settled, offer: [], kept: savedOf(settled), facts, save: offer.save, more: false };
}
