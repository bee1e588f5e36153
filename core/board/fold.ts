import {
  type Fault,
  type Instant,
  type PersonaId,
  type Reach,
  type SourceId,
  standing,
  UNKNOWN,
  VITAL_NOT_REPORTED,
} from '../model/index.ts';
import type { Fact, Until } from './fact.ts';
import type { PersonaView, Seen } from './snapshot.ts';

/** Something is wrong since then. */
export interface Trouble {
  readonly fault: Fault;
  readonly since: Instant;
}

/** One persona on the board: what is shown, and what the next fact about it needs. */
export interface PersonaCell {
  readonly shown: PersonaView;
  readonly staleAfterMs: number;
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
  /** Also of personas that have not joined, so that the order of facts at start does not matter. */
  readonly muted: ReadonlyMap<PersonaId, Until>;
  readonly paused: Until;
  readonly tray: string;
  readonly notifications: string;
  /** The time of the latest fact: the board's own idea of now, so that equal facts make equal boards. */
  readonly now: Instant;
}

const NEVER: Until = { is: 'never' };

export const EMPTY_BOARD: BoardState = {
  personas: [],
  sources: [],
  muted: new Map(),
  paused: NEVER,
  tray: 'off',
  notifications: 'off',
  now: Number.NEGATIVE_INFINITY,
};

/**
 * The board after one more fact. Pure: the state before stays as it was. The order of facts is the truth, not their
 * times, so that a clock set back freezes nothing. A fact about a persona that has not joined, or has left, changes
 * nothing but the mute that will await it.
 */
export function fold(before: BoardState, fact: Fact): BoardState {
  const state = fact.at > before.now ? { ...before, now: fact.at } : before;
  switch (fact.is) {
    case 'joined':
      return joined(state, fact);
    case 'left':
      return without(state, fact.persona);
    case 'looked':
      return withCell(state, fact.persona, (cell) => looked(cell, fact));
    case 'counted':
      return withCell(state, fact.persona, (cell) => ({ ...cell, shown: { ...cell.shown, ...levels(cell, fact) } }));
    case 'failed':
      return withCell(state, fact.persona, (cell) => failed(cell, fact));
    case 'told':
      return withCell(state, fact.persona, (cell) => told(cell, fact));
    case 'held':
      return withCell(state, fact.persona, (cell) =>
        waiting(cell, { held: { fault: fact.fault, since: cell.held?.since ?? fact.at } }),
      );
    case 'published':
      return withCell(state, fact.persona, (cell) =>
        waiting(cell, {
          behind: fact.fault === null ? null : { fault: fact.fault, since: cell.behind?.since ?? fact.at },
        }),
      );
    case 'source':
      return withSource(state, fact.source, (cell) => ({
        id: fact.source,
        address: fact.address,
        answered: cell.answered || fact.fault === null,
        trouble: fact.fault === null ? null : { fault: fact.fault, since: cell.trouble?.since ?? fact.at },
      }));
    case 'muted':
      return muted(state, fact.persona, fact.until);
    case 'surface':
      return fact.surface === 'tray' ? { ...state, tray: fact.state } : { ...state, notifications: fact.state };
  }
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

function withCell(state: BoardState, id: PersonaId, change: (cell: PersonaCell) => PersonaCell): BoardState {
  const { index, found } = place(state.personas, id, personaIdOf);
  const cell = state.personas[index];
  return found && cell !== undefined ? { ...state, personas: state.personas.with(index, change(cell)) } : state;
}

function withSource(state: BoardState, id: SourceId, change: (cell: SourceCell) => SourceCell): BoardState {
  const { index, found } = place(state.sources, id, sourceIdOf);
  const cell = (found ? state.sources[index] : undefined) ?? { id, address: '', answered: false, trouble: null };
  return { ...state, sources: state.sources.toSpliced(index, found ? 1 : 0, change(cell)) };
}

function without(state: BoardState, id: PersonaId): BoardState {
  const { index, found } = place(state.personas, id, personaIdOf);
  return found ? { ...state, personas: state.personas.toSpliced(index, 1) } : state;
}

/** A persona that joins again (a new label, another file) keeps what is known of its inbox. */
function joined(state: BoardState, fact: Extract<Fact, { is: 'joined' }>): BoardState {
  const named = { stem: fact.stem, source: fact.source, label: fact.label, eventsFile: fact.eventsFile };
  const { index, found } = place(state.personas, fact.persona, personaIdOf);
  const known = found ? state.personas[index] : undefined;
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
            muted: state.muted.get(fact.persona) ?? NEVER,
          },
          staleAfterMs: fact.staleAfterMs,
          failed: null,
          held: null,
          behind: null,
        }
      : { ...known, shown: { ...known.shown, ...named }, staleAfterMs: fact.staleAfterMs };
  const personas = state.personas.toSpliced(index, found ? 1 : 0, cell);
  return withSource({ ...state, personas }, fact.source, (source) => source);
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

/** Whatever the sink took, it takes again: nothing is held any more, also when there was nothing to take. */
function told(cell: PersonaCell, fact: Extract<Fact, { is: 'told' }>): PersonaCell {
  const last = fact.events.at(-1);
  const mail = fact.events.some((event) => event.event === 'new');
  const shown = {
    ...cell.shown,
    lastEventId: last?.event_id ?? cell.shown.lastEventId,
    lastMailAt: mail ? fact.at : cell.shown.lastMailAt,
  };
  return waiting({ ...cell, shown }, { held: null });
}

function muted(state: BoardState, persona: PersonaId | null, until: Until): BoardState {
  if (persona === null) return { ...state, paused: until };
  const all = new Map(state.muted);
  if (until.is === 'never') all.delete(persona);
  else all.set(persona, until);
  return withCell({ ...state, muted: all }, persona, (cell) => ({ ...cell, shown: { ...cell.shown, muted: until } }));
}
