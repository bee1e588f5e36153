import type { Fact } from '../board/index.ts';
import { type Event, type NewEvent, newEventId, otherEventId, wakeClassOf } from '../events/index.ts';
import { type Fault, foldedName, type Instant, isoOf, type Reach, sameName } from '../model/index.ts';
import type { Tail, Taken } from '../sinks/index.ts';
import type { Look, Mark, Row } from '../sources/index.ts';
import { type Notice, type Offer, type Rules, type Saved, type Start, savedOf, type WatchState } from './state.ts';

/** What happens to a watch. Time comes in with it. */
export type Input = { readonly at: Instant } & (
  | { readonly is: 'looked'; readonly look: Look }
  /** `settling`: shortly after a gap. It counts, but it makes no edge yet. */
  | { readonly is: 'failed'; readonly fault: Fault; readonly settling: boolean }
  /** The sink's answer to the last offer. */
  | { readonly is: 'taken'; readonly taken: Taken }
  /** A tick whose look was skipped. */
  | { readonly is: 'beat' }
);

/**
 * What to do about it. Put the facts on the board; `save` asks for `savedOf(state)` to be made durable, before anything
 * is handed over; then hand `offer` to the sink (with `kept`, which is what to remember once all of it is taken) and step
 * the answer.
 */
export interface Output {
  readonly state: WatchState;
  readonly offer: readonly Event[];
  readonly kept: Saved;
  readonly facts: readonly Fact[];
  readonly save: boolean;
}

/** The state a watch begins with (Kijito spec 7.0: cursor and FSM resolve independently). */
export function openWatch(at: Instant, start: Start, saved: Saved | null, tail: Tail, rules: Rules): WatchState {
  const cursor =
    start.is === 'seed' ? start.id : start.is === 'born' ? 0 : start.is === 'resume' ? saved?.cursor : null;
  const known = cursor !== null && cursor !== undefined;
  return {
    mark: known ? { is: 'at', id: cursor } : { is: 'unset' },
    arming: start.is === 'born' ? 'born' : known ? 'rearm' : 'baseline',
    reach: { is: 'unseen' },
    failures: saved?.consecutive_failures ?? 0,
    told: saved?.state ?? 'UP',
    notices: start.is === 'born' ? [{ is: 'persona_added' }] : [],
    held: known && start.is !== 'seed' ? idsHeld(tail, rules, cursor) : [], // a seed is the operator's word: replay all
    beatAt: at,
    count: 0,
    offer: null,
  };
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
  }
}

function looked(before: WatchState, at: Instant, look: Look, rules: Rules): Output {
  const reach: Reach = before.reach.is === 'up' ? before.reach : { is: 'up', since: at };
  const armed = before.arming === 'armed' ? before : decide(before, look, rules);
  const state: WatchState = { ...armed, reach, failures: 0 };
  const cursor = state.mark.is === 'at' ? state.mark.id : 0;
  const above = look.evidence.rows.filter((row) => row.id > cursor);
  const held = state.held.length === 0 ? NOTHING_HELD : new Set(state.held);
  const rows = above.filter((row) => !held.has(row.id) && !isSuppressed(row, rules));
  const last = above.at(-1)?.id ?? cursor;
  const edge = state.told === 'DOWN' ? 'UP' : null;
  const out = offering(state, at, rules, {
    rows,
    mark: { is: 'at', id: last },
    facts: [],
    save: true,
    saveFirst: before.arming === 'baseline' || before.arming === 'born',
    edge,
    notices: state.notices,
  });
  const { unread, urgent, vital } = look;
  // What is only offered is not handed over yet: the board hears of that when it is told.
  const handed = out.state.mark.is === 'at' ? out.state.mark.id : null;
  const persona = rules.persona ?? '_';
  return { ...out, facts: [{ is: 'looked', at, persona, reach, unread, urgent, vital, cursor: handed }] };
}

const NOTHING_HELD: ReadonlySet<number> = new Set();

function isSuppressed(row: Row, rules: Rules): boolean {
  return rules.suppressed.size > 0 && rules.suppressed.has(foldedName(row.from));
}

/** The three first-poll branches, and the fourth for an inbox born during the run. Sets the cursor before any mail. */
function decide(state: WatchState, look: Look, rules: Rules): WatchState {
  const { rows, max } = look.evidence;
  const armed = (id: number, ...notices: Notice[]): WatchState => ({
    ...state,
    arming: 'armed',
    mark: { is: 'at', id },
    held: state.held.filter((h) => h > id),
    notices: [...state.notices, ...notices, { is: 'armed' }],
  });
  if (state.mark.is === 'unset') return armed(max);
  const cursor = state.mark.id;
  if (state.arming === 'born') return armed(cursor);
  if (cursor > max) return armed(cursor, { is: 'seed_ahead', seeded: cursor, currentMax: max });
  const held = new Set(state.held);
  const replay = rows.filter((row) => row.id > cursor && !held.has(row.id)).length;
  if (replay > rules.maxReplay)
    return armed(max, { is: 'replay_capped', from: cursor, cappedTo: max, dropped: replay });
  return armed(cursor);
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

/** The distance, not the difference: a wall clock that was set back must not silence the proof of life. */
export function beatIsDue(state: WatchState, at: Instant, rules: Rules): boolean {
  return rules.heartbeatMs !== null && Math.abs(at - state.beatAt) >= rules.heartbeatMs;
}

interface Saying {
  readonly rows: readonly Row[];
  readonly mark: Mark;
  readonly facts: readonly Fact[];
  readonly save: boolean;
  /** The cursor was just set: it is saved before `armed` is told, so that a kill between them makes no second baseline. */
  readonly saveFirst: boolean;
  readonly edge: 'UP' | 'DOWN' | null;
  readonly notices: readonly Notice[];
}

const SILENT = { rows: [], facts: [], save: false, saveFirst: false, edge: null, notices: [] } as const;

/** Builds the events of one poll in their total order: edge, notices, mail ascending, heartbeat (Kijito spec 6.1). */
function offering(state: WatchState, at: Instant, rules: Rules, saying: Saying): Output {
  const cursor = state.mark.is === 'at' ? state.mark.id : null;
  const after = saying.mark.is === 'at' ? saying.mark.id : null;
  const beats = beatIsDue(state, at, rules);
  const events: Event[] = [];
  const ids: (number | null)[] = [];
  let count = state.count;
  const head = (name: Event['event']) => {
    count += 1;
    return common(rules, at, name, otherEventId(rules.persona, name, rules.run, count));
  };
  const say = (event: Event, id: number | null = null): void => {
    events.push(event);
    ids.push(id);
  };
  if (saying.edge === 'DOWN') {
    const seconds = state.failures * rules.pollSeconds;
    say({ ...head('alert'), event: 'alert', reason: 'unreachable', consecutive_failures: state.failures, seconds });
  } else if (saying.edge === 'UP') {
    say({ ...head('recovered'), event: 'recovered', cursor });
  }
  for (const notice of saying.notices) say(noticeEvent(notice, head, cursor ?? 0));
  for (const row of saying.rows) say(mailEvent(row, rules, at), row.id);
  if (beats) say({ ...head('heartbeat'), event: 'heartbeat', cursor: after });

  const { mark, edge, notices, facts, save, saveFirst } = saying;
  const offer: Offer = { events, ids, mark, edge, notices: notices.length, beats, save, at };
  const next: WatchState = { ...state, count, offer };
  const settled = settle(next, offer, events.length);
  if (events.length > 0) return { state: next, offer: events, kept: savedOf(settled), facts, save: saveFirst };
  return { state: settled, offer: [], kept: savedOf(settled), facts, save };
}

function common(rules: Rules, at: Instant, name: Event['event'], eventId: string) {
  return {
    source: rules.source,
    ts: isoOf(at),
    ...(rules.persona === null ? {} : { persona: rules.persona }),
    event_id: eventId,
    wake_class: wakeClassOf(name),
  };
}

function mailEvent(row: Row, rules: Rules, at: Instant): Event {
  const event: { -readonly [K in keyof NewEvent]: NewEvent[K] } = {
    event: 'new',
    source: rules.source,
    ts: isoOf(at),
    event_id: newEventId(rules.persona, row.id),
    wake_class: wakeClassOf('new'),
    id: row.id,
    from: row.from,
    created: row.created,
  };
  if (rules.persona !== null) event.persona = rules.persona;
  if (rules.address !== '' && sameName(row.from, rules.address)) event.self = true;
  if (row.content !== null) event.content = row.content;
  return event;
}

function noticeEvent(notice: Notice, head: (name: Event['event']) => ReturnType<typeof common>, cursor: number): Event {
  switch (notice.is) {
    case 'persona_added':
      return { ...head('persona_added'), event: 'persona_added' };
    case 'armed':
      return { ...head('armed'), event: 'armed', cursor };
    case 'seed_ahead':
      return { ...head('seed_ahead'), event: 'seed_ahead', seeded: notice.seeded, current_max: notice.currentMax };
    case 'replay_capped':
      return {
        ...head('replay_capped'),
        event: 'replay_capped',
        capped_to: notice.cappedTo,
        dropped: notice.dropped,
      };
  }
}

/** The state after the sink has settled the first `count` events of the offer. */
function settle(state: WatchState, offer: Offer, count: number): WatchState {
  const edgeSaid = offer.edge !== null && count > 0;
  const lead = offer.edge === null ? 0 : 1;
  const noticesSaid = Math.min(Math.max(count - lead, 0), offer.notices);
  const blocked = offer.ids.slice(count).find((id) => id !== null);
  const mark = blocked === undefined || blocked === null ? offer.mark : below(state.mark, blocked);
  const cursor = mark.is === 'at' ? mark.id : 0;
  return {
    ...state,
    mark,
    held: state.held.length === 0 ? state.held : state.held.filter((id) => id > cursor),
    told: edgeSaid && offer.edge !== null ? offer.edge : state.told,
    notices: noticesSaid === 0 ? state.notices : state.notices.slice(noticesSaid),
    beatAt: offer.beats && count === offer.events.length ? offer.at : state.beatAt,
    offer: null,
  };
}

/** Never past the first message that is not delivered, never backwards. */
function below(mark: Mark, blocked: number): Mark {
  return { is: 'at', id: Math.max(mark.is === 'at' ? mark.id : 0, blocked - 1) };
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
  return { state: settled, offer: [], kept: savedOf(settled), facts, save: offer.save };
}
