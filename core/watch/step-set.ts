import { addExtra } from '../events/index.ts';
import type { Health, Instant, KnownSet } from '../model/index.ts';
import type { PollResult, SetEvidence, SetItem } from '../sources/index.ts';
import { decideSet, getKnownSet } from './arm-set.ts';
import { buildBatch, EMPTY_DRAFT, type StepOutput } from './batch.ts';
import { type BatchMessage, toChangeEvent, toMailEvent } from './mail-events.ts';
import { adoptSet, applyMoves, computeDiff, type SetDiff, toKnownItem } from './set-diff.ts';
import {
  BATCH_MESSAGES,
  getCursor,
  isSuppressed,
  type NumberedKey,
  type WatcherRules,
  type WatcherState,
} from './watcher-state.ts';

/** Steps a poll result of a set. New items are delivered first, then changed items, then vanished items. */
export function stepSet(
  before: WatcherState,
  at: Instant,
  pollResult: PollResult,
  evidence: SetEvidence,
  rules: WatcherRules,
): StepOutput {
  const health: Health = before.health.is === 'up' ? before.health : { is: 'up', since: at };
  const refused = new Map(before.numbered.keys.map((entry) => [entry.key, entry]));
  // An item that was offered as new stays new, whatever its state is when it is acknowledged.
  const isSilent = ({ key, appeared, from }: SetItem): boolean =>
    (appeared === 'quiet' && !refused.has(key)) || isSuppressed(from, rules);
  const armed = before.arming === 'armed' ? before : decideSet(before, pollResult, evidence, rules, isSilent);
  const deliveredSet = getKnownSet(armed, evidence);
  const isOther = deliveredSet.epoch !== evidence.epoch;
  const now = isOther
    ? adoptSet(deliveredSet, evidence, Math.max(deliveredSet.next, armed.numbered.next), isSilent)
    : deliveredSet;
  const setDiff = computeDiff(now, evidence, isSilent);
  const { mail, minted, more: hasMore } = buildMessages(setDiff, refused, armed.numbered.next, rules, at);
  const checkpoint =
    setDiff.known === deliveredSet && armed.checkpoint.is === 'known' ? armed.checkpoint : toCheckpoint(setDiff.known);
  const state: WatcherState = { ...armed, checkpoint, numbered: minted, health, failures: 0 };
  const moves = mail.flatMap(({ move }) => move ?? []);
  const out = buildBatch(state, at, rules, {
    ...EMPTY_DRAFT,
    mail,
    checkpoint: moves.length === 0 ? checkpoint : toCheckpoint(applyMoves(setDiff.known, moves)),
    more: hasMore,
    save: true,
    saveFirst: before.arming === 'baseline' || before.arming === 'born' || before.arming === 'corrupt',
    edge: state.deliveredEdge === 'DOWN' ? 'UP' : null,
    notices: state.notices,
  });
  const { unread, urgent, agentState } = pollResult;
  const persona = rules.persona ?? '_';
  const cursor = getCursor(out.state.checkpoint);
  return { ...out, facts: [{ is: 'polled', at, persona, health, unread, urgent, agentState, cursor }] };
}

function toCheckpoint(set: KnownSet): WatcherState['checkpoint'] {
  return { ...set, is: 'known' };
}

/** Builds as many events as one batch carries. Items that were refused before go first, with the `seq` they had. */
function buildMessages(
  { known, appeared, changes }: SetDiff,
  refused: ReadonlyMap<string, NumberedKey>,
  free: number,
  rules: WatcherRules,
  at: Instant,
) {
  const first = appeared.filter(({ key }) => refused.has(key));
  first.sort((a, b) => (refused.get(a.key)?.seq ?? 0) - (refused.get(b.key)?.seq ?? 0));
  const rest = refused.size === 0 ? appeared : appeared.filter(({ key }) => !refused.has(key));
  const mail: BatchMessage[] = [];
  const keys: NumberedKey[] = [];
  let next = Math.max(free, known.next);
  for (const item of [...first, ...rest].slice(0, BATCH_MESSAGES)) {
    const { key, appeared } = item;
    const before = refused.get(key);
    const seq = before?.seq ?? next;
    const as = before?.as ?? (appeared === 'quiet' ? 'new' : appeared);
    next = Math.max(next, seq + 1);
    keys.push({ key, seq, as });
    const event = addExtra(toMailEvent({ ...item, id: seq }, rules, at, as), item.extra);
    mail.push({ event, id: null, move: { is: 'put', known: toKnownItem(item, seq) } });
  }
  for (const { event, seq, from, extra, move } of changes.slice(0, BATCH_MESSAGES - mail.length)) {
    mail.push({ event: toChangeEvent(event, seq, from, extra, rules, at), id: null, move });
  }
  return { mail, minted: { next, keys }, more: appeared.length + changes.length > mail.length };
}
