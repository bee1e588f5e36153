import { type Event, isMail } from '../events/index.ts';
import {
  type Fault,
  type Instant,
  instantOfIso,
  type PersonaId,
  parseTimestamp,
  type Reach,
  type SourceId,
  standing,
  UNKNOWN,
  VITAL_NOT_REPORTED,
} from '../model/index.ts';
import type { OpenDecision } from './asked.ts';
import { type DaemonView, sameDaemon } from './daemon.ts';
import type { Fact, Until } from './fact.ts';
import { lettersWith } from './letter.ts';
import type { PersonaView, ProjectView, Seen } from './snapshot.ts';

/** Something is wrong since then. */
export interface Trouble {
  readonly fault: Fault;
  readonly since: Instant;
}

/** One persona on the board: what is shown, and what the next fact about it needs. */
export interface PersonaCell {
  readonly shown: PersonaView;
  readonly staleAfterMs: number;
  /** Its numbers are those of another persona too. */
  readonly isEcho: boolean;
  /** Why it is failing or down. */
  readonly failed: Trouble | null;
  /** Why its events wait. */
  readonly held: Trouble | null;
  /** Why its event file lacks events. */
  readonly behind: Trouble | null;
}

/** One source on the board. `answered`: it has said who is there. */
export interface SourceCell {
  readonly id: SourceId;
  /** Empty until the source has said where it is. */
  readonly address: string;
  readonly answered: boolean;
  readonly trouble: Trouble | null;
}

/**
 * Everything the board remembers. Cells are sorted by id in plain code-unit order, so a fact finds its cell by binary
 * search and a snapshot needs no sorting; changing one cell copies one array of pointers and nothing else.
 */
export interface BoardState {
  readonly personas: readonly PersonaCell[];
  readonly sources: readonly SourceCell[];
  readonly projects: readonly ProjectView[];
  /** By key: what is wrong with this machine, and with no persona alone. */
  readonly machine: ReadonlyMap<string, Trouble>;
  /** Also of personas that have not joined, so that the order of facts at start does not matter. */
  readonly muted: ReadonlyMap<PersonaId, Until>;
  /** As with mutes. */
  readonly hidden: ReadonlySet<PersonaId>;
  readonly decisions: readonly OpenDecision[];
  readonly paused: Until;
  readonly quietHours: boolean;
  readonly quiet: Until;
  readonly autostart: boolean | null;
  readonly tray: string;
  readonly notifications: string;
  /** The time of the latest fact: the board's own idea of now, so that equal facts make equal boards. */
  readonly now: Instant;
}

const NEVER: Until = { is: 'never' };

export const EMPTY_BOARD: BoardState = {
  personas: [],
  sources: [],
  projects: [],
  machine: new Map(),
  muted: new Map(),
  hidden: new Set(),
  decisions: [],
  paused: NEVER,
  quietHours: false,
  quiet: NEVER,
  autostart: null,
  tray: 'off',
  notifications: 'off',
  now: Number.NEGATIVE_INFINITY,
};

/**
 * The board after some more facts, in their order. Pure: the state before stays as it was, and the facts of a storm cost
 * one copy of the list, not one each. The order of facts is the truth, not their times, so that a clock set back freezes
 * nothing. A fact about a persona that has not joined, or has left, changes nothing but the mute that will await it.
 */
export function fold(before: BoardState, facts: readonly Fact[]): BoardState {
  const draft: Draft = { ...before, personas: [...before.personas] };
  for (const fact of facts) {
    draft.now = Math.max(draft.now, fact.at);
    apply(draft, fact);
  }
  return draft;
}

/** A board that is ours alone while facts are folded into it. Cells are never changed in place. */
type Draft = { -readonly [K in keyof BoardState]: BoardState[K] } & { personas: PersonaCell[] };

function apply(draft: Draft, fact: Fact): void {
  switch (fact.is) {
    case 'joined':
      joined(draft, fact);
      break;
    case 'left':
      leave(draft, fact.persona);
      break;
    case 'looked':
      change(draft, fact.persona, (cell) => looked(cell, fact));
      break;
    case 'counted':
      change(draft, fact.persona, (cell) => ({ ...cell, shown: { ...cell.shown, ...levels(cell, fact) } }));
      break;
    case 'failed':
      change(draft, fact.persona, (cell) => failed(cell, fact));
      break;
    case 'told':
      change(draft, fact.persona, (cell) => told(cell, fact));
      break;
    case 'recalled':
      change(draft, fact.persona, (cell) => recalled(cell, fact));
      break;
    case 'held':
      change(draft, fact.persona, (cell) => waiting(cell, { held: troubleOf(fact.fault, fact.at, cell.held) }));
      break;
    case 'published':
      change(draft, fact.persona, (cell) =>
        waiting(cell, { behind: fact.fault === null ? null : troubleOf(fact.fault, fact.at, cell.behind) }),
      );
      break;
    case 'source':
      changeSource(draft, fact.source, (cell) => ({
        id: fact.source,
        address: fact.address,
        answered: cell.answered || fact.fault === null,
        trouble: fact.fault === null ? null : troubleOf(fact.fault, fact.at, cell.trouble),
      }));
      break;
    case 'machine':
      draft.machine = machineWith(draft.machine, fact);
      break;
    case 'project':
      draft.projects = withProject(draft.projects, fact);
      break;
    case 'withdrawn':
      draft.projects = draft.projects.filter(({ source }) => source !== fact.source);
      draft.sources = draft.sources.filter(({ id }) => id !== fact.source);
      break;
    case 'muted':
      mute(draft, fact.persona, fact.until);
      break;
    case 'hidden':
      hide(draft, fact.persona, fact.hidden);
      break;
    case 'local':
      change(draft, fact.persona, (cell) => ({ ...cell, shown: { ...cell.shown, local: fact.local } }));
      break;
    case 'daemon':
      change(draft, fact.persona, (cell) => withDaemon(cell, fact.daemon));
      break;
    case 'asked':
      draft.decisions = fact.decisions;
      break;
    case 'quiet':
      draft.quietHours = fact.on;
      draft.quiet = fact.until;
      break;
    case 'autostart':
      draft.autostart = fact.on;
      break;
    case 'surface':
      if (fact.surface === 'tray') draft.tray = fact.state;
      else draft.notifications = fact.state;
  }
}

/** Trouble that goes on keeps its beginning. */
function machineWith(
  before: BoardState['machine'],
  { key, fault, at }: Extract<Fact, { is: 'machine' }>,
): BoardState['machine'] {
  const troubles = new Map(before);
  if (fault === null) troubles.delete(key);
  else troubles.set(key, troubleOf(fault, at, before.get(key) ?? null));
  return troubles;
}

function troubleOf(fault: Fault, at: Instant, before: Trouble | null): Trouble {
  return { fault, since: before?.since ?? at };
}

/** Where `id` is in a list sorted by id, or where it would have to be put. */
export function place<T>(list: readonly T[], id: string, idOf: (item: T) => string): { index: number; found: boolean } {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && idOf(item) < id) low = middle + 1;
    else high = middle;
  }
  const at = list[low];
  return { index: low, found: at !== undefined && idOf(at) === id };
}

const personaIdOf = (cell: PersonaCell): PersonaId => cell.shown.id;
const sourceIdOf = (cell: SourceCell): SourceId => cell.id;

/** The cell of a persona, or null when it has not joined. */
export function cellOf(state: BoardState, id: PersonaId): PersonaCell | null {
  const { index, found } = place(state.personas, id, personaIdOf);
  return found ? (state.personas[index] ?? null) : null;
}

function change(draft: Draft, id: PersonaId, turn: (cell: PersonaCell) => PersonaCell): void {
  const { index, found } = place(draft.personas, id, personaIdOf);
  const cell = draft.personas[index];
  if (found && cell !== undefined) draft.personas[index] = turn(cell);
}

function changeSource(draft: Draft, id: SourceId, turn: (cell: SourceCell) => SourceCell): void {
  const { index, found } = place(draft.sources, id, sourceIdOf);
  const cell = (found ? draft.sources[index] : undefined) ?? { id, address: '', answered: false, trouble: null };
  draft.sources = draft.sources.toSpliced(index, found ? 1 : 0, turn(cell));
}

function withProject(all: readonly ProjectView[], { source, board, rev }: ProjectView): readonly ProjectView[] {
  const { index, found } = place(all, source, (project) => project.source);
  return all.toSpliced(index, found ? 1 : 0, { source, board, rev });
}

function leave(draft: Draft, id: PersonaId): void {
  const { index, found } = place(draft.personas, id, personaIdOf);
  if (found) draft.personas.splice(index, 1);
}

/** A persona that joins again (a new label, another file) keeps what is known of its inbox. */
function joined(draft: Draft, fact: Extract<Fact, { is: 'joined' }>): void {
  const named = {
    stem: fact.stem,
    source: fact.source,
    label: fact.label,
    eventsFile: fact.eventsFile,
    canMarkRead: fact.canMarkRead ?? false,
  };
  const { index, found } = place(draft.personas, fact.persona, personaIdOf);
  const known = found ? draft.personas[index] : undefined;
  const cell: PersonaCell =
    known === undefined
      ? {
          shown: {
            id: fact.persona,
            ...named,
            reach: { is: 'unseen' },
            reason: null,
            since: fact.at,
            vital: VITAL_NOT_REPORTED,
            unread: NOT_SEEN,
            urgent: NOT_SEEN,
            cursor: null,
            lastEventId: fact.lastEventId,
            lastMailAt: null,
            held: null,
            local: null,
            daemon: null,
            muted: draft.muted.get(fact.persona) ?? NEVER,
            hidden: draft.hidden.has(fact.persona),
            latest: [],
          },
          staleAfterMs: fact.staleAfterMs,
          isEcho: fact.isEcho ?? false,
          failed: null,
          held: null,
          behind: null,
        }
      : {
          ...known,
          shown: { ...known.shown, ...named },
          staleAfterMs: fact.staleAfterMs,
          isEcho: fact.isEcho ?? false,
        };
  draft.personas.splice(index, found ? 1 : 0, cell);
  changeSource(draft, fact.source, (source) => source);
}

const NOT_SEEN: Seen<typeof UNKNOWN> = { value: UNKNOWN, asOf: null, staleAfter: null };

type Levels = Pick<PersonaView, 'unread' | 'urgent'>;

function levels(cell: PersonaCell, fact: Extract<Fact, { is: 'looked' | 'counted' }>): Levels {
  const seen = { asOf: fact.at, staleAfter: fact.at + cell.staleAfterMs };
  return { unread: { value: fact.unread, ...seen }, urgent: { value: fact.urgent, ...seen } };
}

function looked(cell: PersonaCell, fact: Extract<Fact, { is: 'looked' }>): PersonaCell {
  return {
    ...cell,
    failed: null,
    shown: {
      ...cell.shown,
      ...levels(cell, fact),
      reach: fact.reach,
      since: since(cell.shown, fact.reach, fact.at),
      reason: null,
      vital: fact.vital,
      cursor: fact.cursor,
    },
  };
}

function failed(cell: PersonaCell, fact: Extract<Fact, { is: 'failed' }>): PersonaCell {
  const from = since(cell.shown, fact.reach, fact.at);
  return {
    ...cell,
    failed: { fault: fact.fault, since: fact.reach.is === 'down' ? fact.reach.since : (cell.failed?.since ?? fact.at) },
    shown: { ...cell.shown, reach: fact.reach, since: from, reason: fact.fault.explain() },
  };
}

/** What is the same stays the same, to the second. */
function withDaemon(cell: PersonaCell, daemon: DaemonView | null): PersonaCell {
  return sameDaemon(cell.shown.daemon, daemon) ? cell : { ...cell, shown: { ...cell.shown, daemon } };
}

/** A standing that stays keeps its beginning: a hiccup below the threshold does not restart "UP since". */
function since(shown: PersonaView, reach: Reach, at: Instant): Instant | null {
  if (standing(shown.reach) === standing(reach)) return shown.since;
  return reach.is === 'up' || reach.is === 'down' ? reach.since : at;
}

/** Events wait at the sink, or behind it at the file; a person is told of either. */
function waiting(cell: PersonaCell, now: Partial<Pick<PersonaCell, 'held' | 'behind'>>): PersonaCell {
  const next = { ...cell, ...now };
  const trouble = next.held ?? next.behind;
  return { ...next, shown: { ...cell.shown, held: trouble?.fault.explain() ?? null } };
}

/**
 * Whatever the sink took, it takes again: nothing is held any more, also when there was nothing to take.
 */
function told(cell: PersonaCell, fact: Extract<Fact, { is: 'told' }>): PersonaCell {
  const last = fact.events.at(-1);
  const mail = fact.events.findLast(isMail);
  const shown = {
    ...cell.shown,
    ...letters(cell, fact.events),
    cursor: mail?.id ?? cell.shown.cursor,
    lastEventId: last?.event_id ?? cell.shown.lastEventId,
    lastMailAt: newestMail(fact.events, cell.shown.lastMailAt),
  };
  return waiting({ ...cell, shown }, { held: null });
}

/** Before this run's own news: what was told since stays in front. */
function recalled(cell: PersonaCell, fact: Extract<Fact, { is: 'recalled' }>): PersonaCell {
  if (!fact.events.some(isMail) || cell.shown.latest.length > 0) return cell;
  return {
    ...cell,
    shown: { ...cell.shown, ...letters(cell, fact.events), lastMailAt: newestMail(fact.events, null) },
  };
}

/** When the newest message was written. A sender's clock may be ahead: no message is newer than the moment it was delivered. */
function newestMail(events: readonly Event[], before: Instant | null): Instant | null {
  let newest = before;
  for (const event of events) {
    if (!isMail(event)) continue;
    const delivered = instantOfIso(event.ts);
    const written = event.created === null ? null : parseTimestamp(event.created);
    const at = written === null || delivered === null ? (written ?? delivered) : Math.min(written, delivered);
    if (at !== null && (newest === null || at > newest)) newest = at;
  }
  return newest;
}

function letters(cell: PersonaCell, events: readonly Event[]): Pick<PersonaView, 'latest'> {
  return { latest: lettersWith(cell.shown.latest, events) };
}

function hide(draft: Draft, persona: PersonaId, hidden: boolean): void {
  const all = new Set(draft.hidden);
  if (hidden) all.add(persona);
  else all.delete(persona);
  draft.hidden = all;
  change(draft, persona, (cell) => ({ ...cell, shown: { ...cell.shown, hidden } }));
}

function mute(draft: Draft, persona: PersonaId | null, until: Until): void {
  if (persona === null) {
    draft.paused = until;
    return;
  }
  const all = new Map(draft.muted);
  if (until.is === 'never') all.delete(persona);
  else all.set(persona, until);
  draft.muted = all;
  change(draft, persona, (cell) => ({ ...cell, shown: { ...cell.shown, muted: until } }));
}
