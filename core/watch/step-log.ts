import { findSpan, type Health, type Instant } from '../model/index.ts';
import type { LogEvidence, Message, PollResult } from '../sources/index.ts';
import { toCheckpointBelow } from './apply-ack.ts';
import { decideCursor } from './arm.ts';
import { buildBatch, type StepOutput } from './batch.ts';
import { clearHiddenAlarm, findAlarms } from './inbox-alarms.ts';
import { isOldNews, passAhead, restartLog } from './log-restart.ts';
import { toMailEvent } from './mail-events.ts';
import {
  BATCH_MESSAGES,
  getCursor,
  isSuppressed,
  toCheckpoint,
  type WatcherRules,
  type WatcherState,
} from './watcher-state.ts';

/** Steps a poll result of a log. It delivers the messages above the cursor that the poll result contains. */
export function stepLog(
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
  const state = clearHiddenAlarm({ ...armed, health, failures: 0 }, evidence);
  const [cursor, done] = state.checkpoint.is === 'at' ? [state.checkpoint.id, state.checkpoint.done ?? []] : [0, []];
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
      ? { checkpoint: toCheckpointBelow(state.checkpoint, next.id, gap?.spans ?? null), forgot: 0 }
      : gap === undefined
        ? { checkpoint: { is: 'at', id: last } as const, forgot: 0 }
        : toCheckpoint(cursor, [...done, ...gap.spans]);
  const edge = state.deliveredEdge === 'DOWN' ? 'UP' : null;
  const out = buildBatch({ ...state, forgot: state.forgot + to.forgot }, at, rules, {
    mail: messages.map((message) => ({
      event: toMailEvent(message, rules, at, 'new', state.log.name),
      id: message.id,
      move: null,
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
