import type { Fact } from '../board/index.ts';
import type { HiveAlarmEvent } from '../events/index.ts';
import { type Fault, foldedName, type Instant, type Reach, spanAround } from '../model/index.ts';
import type { Tail, Taken } from '../sinks/index.ts';
import type { Look, Row } from '../sources/index.ts';
import type { SavedBaseline } from '../state/index.ts';
import { alarmsOf, observed } from './alarms.ts';
import { decide } from './arm.ts';
import { type Output, offering, SILENT } from './offer.ts';
import { below, settle } from './settle.ts';
import { markAt, type Notice, type Rules, type Saved, type Start, savedOf, type WatchState } from './state.ts';

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

/** The state a watch begins with (Kijito spec 7.0: cursor and FSM resolve independently). */
export function openWatch(at: Instant, start: Start, saved: Saved | null, tail: Tail, rules: Rules): WatchState {
  const cursor =
    start.is === 'seed' ? start.id : start.is === 'born' ? 0 : start.is === 'resume' ? saved?.cursor : null;
  const known = cursor !== null && cursor !== undefined;
  const resumed = start.is === 'resume' ? saved : null;
  const done = (resumed?.delivered_above ?? []).map(([from, to]) => ({ from, to }));
  const corrupt = resumed?.state_corrupt;
  const skipped = resumed?.baseline_skipped;
  return {
    mark: known ? markAt(cursor, done).mark : { is: 'unset' },
    arming: start.is === 'born' || start.is === 'corrupt' ? start.is : known ? 'rearm' : 'baseline',
    why: 'why' in start && start.why !== undefined ? start.why : 'there was no saved position',
    reach: { is: 'unseen' },
    failures: saved?.consecutive_failures ?? 0,
    told: saved?.state ?? 'UP',
    notices: [
      ...(start.is === 'born' || resumed?.persona_added === true ? [{ is: 'persona_added' as const }] : []),
      ...(corrupt === undefined ? [] : [{ is: 'state_corrupt' as const, at: cursor ?? 0, why: corrupt }]),
      ...(skipped === undefined ? [] : [skippedBefore(skipped)]),
    ],
    gapAlerted: resumed?.gap_alerted ?? null,
    releaseAt: resumed?.pin_release_at ?? null,
    wasPinned: done.length > 0 || resumed?.gap_alerted !== undefined || resumed?.pin_release_at !== undefined,
    forgot: 0,
    lossTold: resumed?.pin_evidence_intact === false,
    hiddenTold: resumed?.unread_hidden === true,
    held: known && start.is !== 'seed' ? idsHeld(tail, rules, cursor) : [], // a seed is the operator's word: replay all
    beatAt: at,
    count: 0,
    offer: null,
  };
}

function skippedBefore({ armed_at: at, skipped, id_range: range, unread_held, reason: why }: SavedBaseline): Notice {
  return { is: 'baseline_skipped', at, skipped, range, unread: unread_held === 'unknown' ? null : unread_held, why };
}

/** Ids above the cursor for which the sink already holds the `new` event. */
function idsHeld(tail: Tail, rules: Rules, cursor: number): number[] {
  const prefix = `${rules.persona ?? '_'}:new:`;
  const ids: number[] = [];
  for (const eventId of tail.eventIds) {
    if (!eventId.startsWith(prefix)) continue;
    const id = Number(eventId.slice(prefix.length));
    if (Number.isSafeInteger(id) && id > cursor) ids.push(id);
  }
  return ids.sort((a, b) => a - b);
}

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

function looked(before: WatchState, at: Instant, look: Look, rules: Rules): Output {
  const reach: Reach = before.reach.is === 'up' ? before.reach : { is: 'up', since: at };
  const armed = before.arming === 'armed' ? before : decide(before, look, rules);
  // Nothing can be missing above a position that was decided just now: it was none, or what is above it was counted and passed.
  const isKept = before.mark.is === 'at' && armed.mark.is === 'at' && before.mark.id === armed.mark.id;
  const hole = isKept ? look.evidence.hole : undefined;
  const state = observed({ ...armed, reach, failures: 0 }, look);
  const [cursor, done] = state.mark.is === 'at' ? [state.mark.id, state.mark.done ?? []] : [0, []];
  const above = rowsAbove(look.evidence.rows, cursor);
  const held = state.held.length === 0 ? NOTHING_HELD : new Set(state.held);
  const isDone = ({ id }: Row): boolean => held.has(id) || (done.length > 0 && spanAround(done, id) !== null);
  const rows: Row[] = [];
  let next: Row | null = null;
  for (const row of above) {
    if (isDone(row) || isSuppressed(row, rules)) continue;
    if (rows.length === AT_ONCE) {
      next = row;
      break;
    }
    rows.push(row);
  }
  const last = Math.max(above.at(-1)?.id ?? cursor, done.at(-1)?.to ?? cursor);
  const to =
    next !== null
      ? { mark: below(state.mark, next.id, hole?.spans ?? null), forgot: 0 }
      : hole === undefined
        ? { mark: { is: 'at', id: last } as const, forgot: 0 }
        : markAt(cursor, [...done, ...hole.spans]);
  const edge = state.told === 'DOWN' ? 'UP' : null;
  const out = offering({ ...state, forgot: state.forgot + to.forgot }, at, rules, {
    rows,
    mark: to.mark,
    spans: hole?.spans ?? null,
    closes: hole === undefined && next === null,
    more: next !== null,
    alarms: alarmsOf(state, look, hole, rules, cursor, above),
    hive: null,
    facts: [],
    save: true,
    saveFirst: before.arming === 'baseline' || before.arming === 'born' || before.arming === 'corrupt',
    edge,
    notices: state.notices,
  });
  const { unread, urgent, vital } = look;
  // What is only offered is not handed over yet: the board hears of that when it is told.
  const handed = out.state.mark.is === 'at' ? out.state.mark.id : null;
  const persona = rules.persona ?? '_';
  return { ...out, facts: [{ is: 'looked', at, persona, reach, unread, urgent, vital, cursor: handed }] };
}

/** Messages in one offer: the time it takes to write them is time in which nothing else is done. */
const AT_ONCE = 50;

/** Rows ascend: those that are told already, part by part, are not gone through again with each further part. */
function rowsAbove(rows: readonly Row[], cursor: number): readonly Row[] {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.id ?? 0) > cursor) high = middle;
    else low = middle + 1;
  }
  return low === 0 ? rows : rows.slice(low);
}

const NOTHING_HELD: ReadonlySet<number> = new Set();

function isSuppressed(row: Row, rules: Rules): boolean {
  return rules.suppressed.size > 0 && rules.suppressed.has(foldedName(row.from));
}

function failed(before: WatchState, input: Extract<Input, { is: 'failed' }>, rules: Rules): Output {
  const { at, fault, settling } = input;
  const failures = before.failures + 1;
  const wasDown = before.reach.is === 'down' || (before.reach.is === 'unseen' && before.told === 'DOWN');
  const isDown = wasDown || (failures >= rules.alertAfter && !settling);
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
  if (count > 0) facts.push({ is: 'told', at, persona, events: offer.events.slice(0, count) });
  if (answer.is === 'stopped') facts.push({ is: 'held', at, persona, fault: answer.fault });
  return { state: settled, offer: [], kept: savedOf(settled), facts, save: offer.save, more: false };
}
