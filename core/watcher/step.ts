import type { Fact } from '../board/index.ts';
import type { HiveAlarmEvent } from '../events/index.ts';
import {
  type AgentState,
  type Fault,
  type FaultCode,
  findSpan,
  type Health,
  type Instant,
  type Span,
} from '../model/index.ts';
import type { Ack } from '../sinks/index.ts';
import type { LogEvidence, Message, PollResult } from '../sources/index.ts';
import { applyAck, buildBatch, EMPTY_DRAFT, type StepOutput, toCheckpointBelow, toMailEvent } from './batch.ts';
import { clearHiddenAlarm, decideCursor, findAlarms } from './inbox-alarms.ts';
import { stepSet } from './step-set.ts';
import {
  BATCH_MESSAGES,
  FIRST_LOG,
  getCursor,
  isSuppressed,
  type Notice,
  toCheckpoint,
  toSavedState,
  type WatcherRules,
  type WatcherState,
} from './watcher-state.ts';

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
  /**
   * What the agent does, as the board chose it of all reports. `isHeld`: the sink refuses events now, so what is due comes with
   * the next poll. It makes events only in at-least-once mode.
   */
  | { readonly is: 'agent'; readonly state: AgentState; readonly isHeld: boolean }
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
    case 'agent':
      return stepAgent(state, input, rules);
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

function stepAgent(
  before: WatcherState,
  { at, state, isHeld }: Extract<StepInput, { is: 'agent' }>,
  rules: WatcherRules,
): StepOutput {
  const heard: WatcherState = { ...before, agent: { state, at } };
  if (!isHeld) return buildBatch(heard, at, rules, { ...EMPTY_DRAFT, checkpoint: heard.checkpoint });
  return { state: heard, batch: [], saved: toSavedState(heard), facts: [], save: false, more: false };
}
/** Faults that a second try cannot change. */
const SURE: ReadonlySet<FaultCode> = new Set<FaultCode>(['unreadable', 'source-config', 'source-limit']);

function stepFailure(
  before: WatcherState,
  input: Extract<StepInput, { is: 'failed' }>,
  rules: WatcherRules,
): StepOutput {
  const { at, fault, settling } = input;
  const failures = before.failures + 1;
  const wasDown = before.health.is === 'down' || (before.health.is === 'unseen' && before.deliveredEdge === 'DOWN');
  // The disk refuses to read, so a second try gives the same answer. Keeping "up" with the old number would be false.
  const isSure = SURE.has(fault.code);
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
  const deliveredEvents = batch.events
    .filter((_, index) => index < count && lost?.indexes.has(index) !== true)
    .map(({ event }) => event);
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

/** Steps a poll result of a log. It delivers the messages above the cursor that the poll result contains. */
function stepLog(
  before: WatcherState,
  at: Instant,
  pollResult: PollResult,
  evidence: LogEvidence,
  rules: WatcherRules,
): StepOutput {
  const health: Health = before.health.is === 'up' ? before.health : { is: 'up', since: at };
  const restarted = restartLog(before, pollResult, evidence, rules);
  const armed =
    restarted ??
    passAhead(before.arming === 'armed' ? before : decideCursor(before, pollResult, evidence, rules), evidence);
  // A checkpoint that was decided just now has no gap above it: it was unset, or the messages above it were counted and
  // skipped.
  const isSameCheckpoint =
    before.checkpoint.is === 'at' && armed.checkpoint.is === 'at' && before.checkpoint.id === armed.checkpoint.id;
  const gap = isSameCheckpoint ? evidence.gap : undefined;
  const isSameHealth = armed.health === health && armed.failures === 0;
  const state = clearHiddenAlarm(isSameHealth ? armed : { ...armed, health, failures: 0 }, evidence);
  const { checkpoint } = state;
  const cursor = checkpoint.is === 'at' ? checkpoint.id : 0;
  const done = checkpoint.is === 'at' ? (checkpoint.done ?? NOTHING_DONE) : NOTHING_DONE;
  // After a restart the request began at the cursor of the old log, so its result does not show what the new log
  // contains.
  const above = restarted === null ? findMessagesAbove(evidence.messages, cursor) : [];
  const held = state.held.length === 0 ? NOTHING_HELD : new Set(state.held);
  const isDone = ({ id }: Message): boolean => held.has(id) || (done.length > 0 && findSpan(done, id) !== null);
  const messages: Message[] = [];
  let next: Message | null = null;
  for (const message of above) {
    if (isDone(message) || isSuppressed(message.from, rules) || isOldNews(state, message)) continue;
    if (messages.length === BATCH_MESSAGES) {
      next = message;
      break;
    }
    messages.push(message);
  }
  const last = Math.max(above.at(-1)?.id ?? cursor, done.at(-1)?.to ?? cursor);
  const to =
    next !== null
      ? { checkpoint: toCheckpointBelow(checkpoint, next.id, gap?.spans ?? null), forgot: 0 }
      : gap === undefined
        ? { checkpoint: { is: 'at', id: last } as const, forgot: 0 }
        : toCheckpoint(cursor, [...done, ...gap.spans]);
  const edge = state.deliveredEdge === 'DOWN' ? 'UP' : null;
  const out = buildBatch(to.forgot === 0 ? state : { ...state, forgot: state.forgot + to.forgot }, at, rules, {
    mail: messages.map((message) => ({
      event: toMailEvent(message, rules, at, 'new', state.log.name),
      id: message.id,
      move: null,
      alarm: null,
    })),
    checkpoint: to.checkpoint,
    spans: gap?.spans ?? null,
    closes: gap === undefined && next === null,
    more: next !== null,
    alarms: findAlarms(state, evidence, gap, rules, cursor, above),
    hive: null,
    facts: [],
    save: true,
    saveFirst:
      restarted !== null || before.arming === 'baseline' || before.arming === 'born' || before.arming === 'corrupt',
    edge,
    notices: state.notices,
  });
  const { unread, urgent, agentState } = pollResult;
  // The board gets the delivered cursor. Events that are only offered are not delivered yet.
  const deliveredCursor = getCursor(out.state.checkpoint);
  const persona = rules.persona ?? '_';
  const isBelow = evidence.max < cursor && unread.is !== 'unknown' && unread.n > 0;
  const ends = isBelow ? { endsBelow: evidence.max } : {};
  return {
    ...out,
    facts: [{ is: 'polled', at, persona, health, unread, urgent, agentState, cursor: deliveredCursor, ...ends }],
  };
}

/**
 * Finds the messages above the cursor by binary search, so that each further batch does not scan delivered messages
 * again.
 */
function findMessagesAbove(messages: readonly Message[], cursor: number): readonly Message[] {
  let low = 0;
  let high = messages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((messages[middle]?.id ?? 0) > cursor) high = middle;
    else low = middle + 1;
  }
  return low === 0 ? messages : messages.slice(low);
}

const NOTHING_HELD: ReadonlySet<number> = new Set();
const NOTHING_DONE: readonly Span[] = [];

/** Where another log begins. A position of the log before means nothing in it, and would hide its first messages. */
const BEGINNING = { is: 'at', id: 0 } as const;

/**
 * Ids always rise, so an inbox with unread mail whose newest id is below the cursor holds another log: the hive was
 * emptied or restored, and its ids begin again. The checkpoint is set to the beginning, and the next poll delivers what
 * is unread. Where the same messages may have other ids, nothing of the new log is delivered that is there already.
 * Revision 6 keeps its cursor in any case (Kijito spec 7.0), and so does a seed that an operator gave. Null: the log is
 * still the same.
 */
function restartLog(
  state: WatcherState,
  { unread }: PollResult,
  evidence: LogEvidence,
  rules: WatcherRules,
): WatcherState | null {
  const { checkpoint, arming } = state;
  if (rules.delivery === 'at-most-once' || checkpoint.is !== 'at' || state.isAhead) return null;
  if (arming !== 'armed' && arming !== 'rearm') return null;
  const { max, gap, isRenumbered = false } = evidence;
  if (gap !== undefined || max >= checkpoint.id) return null;
  if (!isRenumbered && (unread.is === 'unknown' || unread.n === 0)) return null;
  const restarted: Notice = isRenumbered
    ? { is: 'seed_ahead', seeded: checkpoint.id, currentMax: max }
    : { is: 'log_restarted', cursorAt: checkpoint.id, max };
  const from = isRenumbered ? ({ is: 'at', id: max } as const) : BEGINNING;
  return {
    ...state,
    arming: 'armed',
    checkpoint: from,
    log: { name: `${rules.run}-${state.count + 1}`, readTo: max },
    notices: [
      ...state.notices
        .filter(({ is }) => is !== 'log_restarted') // drop an earlier restart that was not delivered
        .map((notice) => (notice.is === 'replay_capped' ? { ...notice, from } : notice)),
      restarted,
      ...(arming === 'armed' ? [] : [{ is: 'armed' } as const]),
    ],
    held: [],
    gapAlerted: null,
    releaseAt: null,
    wasPinned: false,
    forgot: 0,
    lossDelivered: false,
  };
}

/** Once the log has reached a cursor that was seeded ahead, ids below the cursor mean another log again. */
function passAhead(state: WatcherState, { max }: LogEvidence): WatcherState {
  const isReached = state.isAhead && state.checkpoint.is === 'at' && max >= state.checkpoint.id;
  return isReached ? { ...state, isAhead: false } : state;
}

/**
 * A message that was read before this log was first seen is not delivered. In the first log the cursor decides that.
 */
function isOldNews({ log }: WatcherState, row: { readonly id: number; readonly read: boolean }): boolean {
  return log !== FIRST_LOG && row.read && row.id <= log.readTo;
}
