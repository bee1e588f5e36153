import type { Fact } from '../board/index.ts';
import type { HiveAlarmEvent } from '../events/index.ts';
import type { Fault, Health, Instant } from '../model/index.ts';
import type { Ack } from '../sinks/index.ts';
import type { PollResult } from '../sources/index.ts';
import { applyAck, buildBatch, EMPTY_DRAFT, type StepOutput } from './batch.ts';
import { stepLog } from './step-log.ts';
import { stepSet } from './step-set.ts';
import { type Notice, toSavedState, type WatcherRules, type WatcherState } from './watcher-state.ts';

/** The inputs of a watcher. Each carries its time. */
export type StepInput = { readonly at: Instant } & (
  | { readonly is: 'polled'; readonly pollResult: PollResult }
  /** `settling`: shortly after an interruption. The failure counts, but makes no edge yet. */
  | { readonly is: 'failed'; readonly fault: Fault; readonly settling: boolean }
  /** The ack of the sink for the last batch. */
  | { readonly is: 'taken'; readonly ack: Ack }
  /** A tick that skipped the poll. */
  | { readonly is: 'beat' }
  /** An alarm about the whole hive that this watcher delivers. Only in at-least-once mode. */
  | { readonly is: 'alarm'; readonly alarm: HiveAlarmEvent }
);

/** One transition. Pure: the same state, input and rules give the same output. */
export function step(state: WatcherState, input: StepInput, rules: WatcherRules): StepOutput {
  switch (input.is) {
    case 'polled':
      return stepPollResult(state, input.at, input.pollResult, rules);
    case 'failed':
      return stepFailure(state, input, rules);
    case 'taken':
      return stepAck(state, input.at, input.ack, rules);
    case 'beat':
      return buildBatch(state, input.at, rules, { ...EMPTY_DRAFT, checkpoint: state.checkpoint });
    case 'alarm': {
      const hive = rules.delivery === 'at-most-once' ? null : input.alarm;
      return buildBatch(state, input.at, rules, { ...EMPTY_DRAFT, checkpoint: state.checkpoint, hive });
    }
  }
}

function stepPollResult(state: WatcherState, at: Instant, pollResult: PollResult, rules: WatcherRules): StepOutput {
  const { evidence } = pollResult;
  switch (evidence.is) {
    case 'log':
      return stepLog(state, at, pollResult, evidence, rules);
    case 'set':
      return stepSet(state, at, pollResult, evidence, rules);
    case 'level':
      return stepLevel(state, at, pollResult, rules);
  }
}

function stepFailure(
  before: WatcherState,
  input: Extract<StepInput, { is: 'failed' }>,
  rules: WatcherRules,
): StepOutput {
  const { at, fault, settling } = input;
  const failures = before.failures + 1;
  const wasDown = before.health.is === 'down' || (before.health.is === 'unseen' && before.deliveredEdge === 'DOWN');
  // The disk refuses to read, so a second try gives the same answer. Keeping "up" with the old number would be false.
  const isSure = fault.code === 'unreadable';
  const isDown = wasDown || ((isSure || failures >= rules.alertAfter) && !settling);
  const health: Health = isDown
    ? { is: 'down', since: before.health.is === 'down' ? before.health.since : at, failures, why: fault.code }
    : { is: 'failing', failures, why: fault.code };
  const edge = isDown && before.deliveredEdge === 'UP' ? 'DOWN' : null;
  return buildBatch({ ...before, health, failures }, at, rules, {
    ...EMPTY_DRAFT,
    checkpoint: before.checkpoint,
    facts: [{ is: 'failed', at, persona: rules.persona ?? '_', health, fault }],
    save: true,
    edge,
  });
}

function stepAck(state: WatcherState, at: Instant, ack: Ack, rules: WatcherRules): StepOutput {
  const batch = state.batch;
  if (batch === null) throw new Error('step: an answer of the sink without an offer');
  const persona = rules.persona ?? '_';
  const count = ack.is === 'all' ? batch.events.length : ack.count;
  const nextState = applyAck(state, batch, rules.delivery === 'at-most-once' ? batch.events.length : count);
  const facts: Fact[] = [];
  const { lost } = ack;
  const deliveredEvents = batch.events.filter((_, index) => index < count && lost?.indexes.has(index) !== true);
  if (deliveredEvents.length > 0) facts.push({ is: 'delivered', at, persona, events: deliveredEvents });
  if (ack.is === 'stopped') facts.push({ is: 'held', at, persona, fault: ack.fault });
  return { state: nextState, batch: [], saved: toSavedState(nextState), facts, save: batch.save, more: false };
}

/**
 * Steps a poll result that has only counts. It delivers edges of health and `armed`. There is no mail, so no checkpoint
 * either.
 */
function stepLevel(before: WatcherState, at: Instant, pollResult: PollResult, rules: WatcherRules): StepOutput {
  const health: Health = before.health.is === 'up' ? before.health : { is: 'up', since: at };
  const armed: readonly Notice[] = before.arming === 'armed' ? [] : [{ is: 'armed' }];
  const notices = [...before.notices, ...armed];
  const state: WatcherState = { ...before, arming: 'armed', checkpoint: { is: 'unset' }, notices, health, failures: 0 };
  const edge = state.deliveredEdge === 'DOWN' ? 'UP' : null;
  const out = buildBatch(state, at, rules, {
    ...EMPTY_DRAFT,
    checkpoint: state.checkpoint,
    save: true,
    edge,
    notices,
  });
  const { unread, urgent, agentState } = pollResult;
  const persona = rules.persona ?? '_';
  return { ...out, facts: [{ is: 'polled', at, persona, health, unread, urgent, agentState, cursor: null }] };
}
