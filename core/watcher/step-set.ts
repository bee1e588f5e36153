import type { Fact } from '../board/index.ts';
import type { Health, Instant, KnownSet } from '../model/index.ts';
import type { PollResult, SetEvidence, SetItem } from '../sources/index.ts';
import { buildBatch, EMPTY_DRAFT, type StepOutput, toChangeEvent, toMailEvent } from './batch.ts';
import { adoptSet, applyMoves, computeDiff, countQuestions, type SetDiff, toKnownItem } from './set-diff.ts';
import {
  BATCH_MESSAGES,
  type BatchEvent,
  getCursor,
  isSuppressed,
  type Notice,
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
  const next = moves.length === 0 ? checkpoint : toCheckpoint(applyMoves(setDiff.known, moves));
  const out = buildBatch(state, at, rules, {
    ...EMPTY_DRAFT,
    mail,
    checkpoint: next,
    more: hasMore,
    save: true,
    saveFirst: before.arming === 'baseline' || before.arming === 'born' || before.arming === 'corrupt',
    edge: state.deliveredEdge === 'DOWN' ? 'UP' : null,
    notices: state.notices,
  });
  const { unread, urgent, agentState } = pollResult;
  const persona = rules.persona ?? '_';
  const cursor = getCursor(out.state.checkpoint);
  const polled: Fact = { is: 'polled', at, persona, health, unread, urgent, agentState, cursor };
  // Where nothing is unread, somebody has seen the questions.
  const questions = unread.is === 'exact' && unread.n === 0 ? 0 : countQuestions(getKeys(next));
  if (questions === 0 && !mayHaveAsked(before)) return { ...out, facts: [polled] };
  return { ...out, facts: [polled, { is: 'reported', at, persona, values: { questions } }] };
}

/** Whether a poll before may have reported questions: those that were delivered, or were offered and not taken. */
function mayHaveAsked({ checkpoint, numbered }: WatcherState): boolean {
  return countQuestions(getKeys(checkpoint)) > 0 || numbered.keys.some(({ as }) => as === 'question');
}

function getKeys(checkpoint: WatcherState['checkpoint']): KnownSet['keys'] {
  return checkpoint.is === 'known' ? checkpoint.keys : [];
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
  const mail: BatchEvent[] = [];
  const keys: NumberedKey[] = [];
  let next = Math.max(free, known.next);
  for (const item of [...first, ...rest].slice(0, BATCH_MESSAGES)) {
    const { key, appeared } = item;
    const before = refused.get(key);
    const seq = before?.seq ?? next;
    const as = before?.as ?? (appeared === 'quiet' ? 'new' : appeared);
    next = Math.max(next, seq + 1);
    keys.push({ key, seq, as });
    const event = toMailEvent({ ...item, id: seq }, rules, at, as);
    mail.push({ event, id: null, move: { is: 'put', known: toKnownItem(item, seq) }, alarm: null });
  }
  for (const { event, seq, from, extra, move } of changes.slice(0, BATCH_MESSAGES - mail.length)) {
    mail.push({ event: toChangeEvent(event, seq, from, extra, rules, at), id: null, move, alarm: null });
  }
  return { mail, minted: { next, keys }, more: appeared.length + changes.length > mail.length };
}

/** Returns the items that were delivered. The set is empty when everything in it is new. */
function getKnownSet({ checkpoint, numbered: minted }: WatcherState, { epoch }: SetEvidence): KnownSet {
  return checkpoint.is === 'known' ? checkpoint : { epoch, next: minted.next, keys: [] };
}

/**
 * Decides the checkpoint of a set at its first healthy poll, with the branches of a log (Kijito spec 7.0). A baseline
 * is saved but not delivered. Everything is new when the inbox was born during the run, is watched from its beginning,
 * or has a position that cannot be read. Items beyond the replay cap are counted instead of delivered.
 */
function decideSet(
  state: WatcherState,
  { unread }: PollResult,
  evidence: SetEvidence,
  rules: WatcherRules,
  isSilent: (item: SetItem) => boolean,
): WatcherState {
  const arm = (set: KnownSet, ...notices: Notice[]): WatcherState => {
    const checkpoint = { ...set, is: 'known' } as const;
    return { ...state, arming: 'armed', checkpoint, notices: [...state.notices, ...notices, { is: 'armed' }] };
  };
  if (state.arming === 'corrupt')
    return arm({ ...getKnownSet(state, evidence), keys: [] }, { is: 'state_corrupt', at: 0, why: state.why });
  if (state.checkpoint.is === 'unset') {
    const set = adoptSet({ keys: [] }, evidence, state.numbered.next, isSilent);
    const first = state.numbered.next;
    const skipped = set.next - first;
    const isToSay = rules.delivery === 'at-least-once' && skipped > 0 && !(unread.is === 'exact' && unread.n === 0);
    if (!isToSay) return arm(set);
    const range = [first, set.next - 1] as const;
    const held = unread.is === 'exact' ? unread.n : null;
    return arm(set, { is: 'baseline_skipped', at: set.next - 1, skipped, range, unread: held, why: state.why });
  }
  const set = getKnownSet(state, evidence);
  if (state.arming === 'born' || set.epoch !== evidence.epoch) return arm(set);
  const { known, appeared } = computeDiff(set, evidence, isSilent);
  if (appeared.length <= rules.maxReplay) return arm(set);
  const first = Math.max(known.next, state.numbered.next);
  const skippedSet = applyMoves(
    known,
    appeared.map((item, i) => ({ is: 'put', known: toKnownItem(item, first + i) })),
  );
  const from = state.checkpoint;
  return arm(skippedSet, { is: 'replay_capped', from, cappedTo: skippedSet.next - 1, dropped: appeared.length });
}
