import type { Instant, PersonaId } from '../model/index.ts';
import {
  type DrawnPoint,
  type HistoryState,
  NOTHING_KNOWN,
  type Overview,
  type PersonaHistory,
  type PointValues,
  SLOTS,
  type SlotHistory,
  STATES,
} from './history.ts';
import type { HistoryStore } from './store.ts';

/** Adjacent slots of one length, from `first` (counted from 1970) up to but not including `end`. */
interface Grid {
  readonly slotMs: number;
  readonly first: number;
  readonly end: number;
}

/**
 * Folds points into slots. `carried` has the values of each persona at the beginning of the grid. `points` are those
 * within the grid, in order of time per persona.
 */
export function toSlots(
  grid: Grid,
  carried: ReadonlyMap<PersonaId, Omit<PointValues, 'urgent'>>,
  points: Iterable<DrawnPoint>,
): Map<PersonaId, SlotHistory> {
  const rows = new Map<PersonaId, SlotRow>();
  const getRow = (persona: PersonaId): SlotRow => {
    const known = rows.get(persona);
    if (known !== undefined) return known;
    const made = new SlotRow(grid, carried.get(persona) ?? NOTHING_KNOWN);
    rows.set(persona, made);
    return made;
  };
  for (const persona of carried.keys()) getRow(persona);
  let row: SlotRow | null = null;
  let personaId: PersonaId | null = null;
  for (const point of points) {
    if (row === null || personaId !== point.persona) row = getRow(point.persona);
    personaId = point.persona;
    row.add(point);
  }
  return new Map(rows.entries().map(([persona, slotRow]) => [persona, slotRow.done()]));
}

/** The slots of one persona while they are filled, from left to right. */
class SlotRow {
  readonly #grid: Grid;
  readonly #unread: (number | null)[] = [];
  readonly #states: HistoryState[] = [];
  /** The values at the current position, which is at the beginning of a slot or within it. */
  #now: Omit<PointValues, 'urgent'>;
  /** The slot that is being filled; null while only `#now` has applied in it, from its beginning. */
  #slot: { unread: number | null; state: HistoryState } | null = null;

  constructor(grid: Grid, carried: Omit<PointValues, 'urgent'>) {
    this.#grid = grid;
    this.#now = carried;
  }

  add(point: DrawnPoint): void {
    const { slotMs, first } = this.#grid;
    const slot = Math.floor(point.at / slotMs) - first;
    while (this.#unread.length < slot) this.#close();
    // a point at the very beginning of a slot leaves nothing carried into it
    if (this.#slot === null && point.at % slotMs !== 0)
      this.#slot = { unread: this.#now.unread, state: this.#now.state };
    this.#slot =
      this.#slot === null
        ? { unread: point.unread, state: point.state }
        : { unread: point.unread ?? this.#slot.unread, state: findWorse(this.#slot.state, point.state) };
    this.#now = point;
  }

  done(): SlotHistory {
    while (this.#unread.length < this.#grid.end - this.#grid.first) this.#close();
    return { unread: this.#unread, states: this.#states };
  }

  #close(): void {
    const { unread, state } = this.#slot ?? this.#now;
    this.#unread.push(unread);
    this.#states.push(state);
    this.#slot = null;
  }
}

function findWorse(a: HistoryState, b: HistoryState): HistoryState {
  return STATES.indexOf(a) > STATES.indexOf(b) ? a : b;
}

/** Joins two ranges of slots, the second right after the first, and drops the slots before `first`. */
function joinSlots(
  left: ReadonlyMap<PersonaId, SlotHistory>,
  leftGrid: Grid,
  right: ReadonlyMap<PersonaId, SlotHistory>,
  rightGrid: Grid,
  first: number,
): Map<PersonaId, SlotHistory> {
  const joinedSlots = new Map<PersonaId, SlotHistory>();
  const cut = first - leftGrid.first;
  const cutSlots = (slots: SlotHistory | undefined, grid: Grid, from: number): SlotHistory =>
    slots === undefined
      ? createBlankSlots(grid.end - grid.first - from)
      : { unread: slots.unread.slice(from), states: slots.states.slice(from) };
  for (const persona of new Set([...left.keys(), ...right.keys()])) {
    const a = cutSlots(left.get(persona), leftGrid, cut);
    const b = cutSlots(right.get(persona), rightGrid, 0);
    joinedSlots.set(persona, { unread: [...a.unread, ...b.unread], states: [...a.states, ...b.states] });
  }
  return joinedSlots;
}

/** Creates slots of which nothing is known. */
function createBlankSlots(slots: number): SlotHistory {
  return { unread: Array<null>(slots).fill(null), states: Array<HistoryState>(slots).fill('unknown') };
}

/** Returns whether anything is known in any slot. */
function hasKnown({ unread, states }: SlotHistory): boolean {
  return states.some((state) => state !== 'unknown') || unread.some((n) => n !== null);
}

/** Builds answers from the tables, and caches the slots that are over. */
interface SlotReader {
  overview(store: HistoryStore, present: Iterable<PersonaId>, hours: number, at: Instant): Overview;
  /** `present`: the persona is watched now, even if nothing is known of it yet. */
  findPersona(
    store: HistoryStore,
    present: boolean,
    persona: PersonaId,
    hours: number,
    at: Instant,
  ): PersonaHistory | null;
  /** Clears the cache, because the past has changed: there is a new file, or the clock moved. */
  startAnew(): void;
}

const HOUR_MS = 3_600_000;
/** More points than this are reduced to `THIN_SLOTS`. */
const MOST_POINTS = 1000;
const THIN_SLOTS = 500;
/** The number of slot lengths that are cached. Others are answered without a cache. */
const MOST_REMEMBERED = 4;

export function createSlotReader(): SlotReader {
  /** By slot length: the slots that were over at the last request. */
  const over = new Map<number, { readonly grid: Grid; readonly slots: ReadonlyMap<PersonaId, SlotHistory> }>();

  const readSlots = (store: HistoryStore, grid: Grid, before: Instant): Map<PersonaId, SlotHistory> => {
    const from = grid.first * grid.slotMs;
    return toSlots(grid, store.readValues(from), store.points(from, before));
  };
  /** Returns the slots that are over. Only those that ended since the last request are read. */
  const readPastSlots = (store: HistoryStore, grid: Grid): ReadonlyMap<PersonaId, SlotHistory> => {
    const { slotMs, first, end } = grid;
    const known = over.get(slotMs);
    if (known !== undefined && known.grid.end === end && known.grid.first === first) return known.slots;
    const goesOn = known !== undefined && known.grid.first <= first && first <= known.grid.end && known.grid.end <= end;
    const rest = { slotMs, first: goesOn ? known.grid.end : first, end };
    const read = readSlots(store, rest, end * slotMs);
    const pastSlots = goesOn ? joinSlots(known.slots, known.grid, read, rest, first) : read;
    if (over.size >= MOST_REMEMBERED) over.delete(over.keys().next().value ?? slotMs);
    over.set(slotMs, { grid, slots: pastSlots });
    return pastSlots;
  };

  return {
    overview(store, present, hours, at) {
      const slotMs = (hours * HOUR_MS) / SLOTS;
      const last = Math.floor(at / slotMs);
      const past: Grid = { slotMs, first: last - SLOTS + 1, end: last };
      const going: Grid = { slotMs, first: last, end: last + 1 };
      const personas = joinSlots(readPastSlots(store, past), past, readSlots(store, going, at + 1), going, past.first);
      for (const [persona, slots] of personas) if (!hasKnown(slots)) personas.delete(persona);
      for (const persona of present) if (!personas.has(persona)) personas.set(persona, createBlankSlots(SLOTS));
      return { from: past.first * slotMs, to: going.end * slotMs, personas: personas };
    },
    findPersona(store, present, persona, hours, at) {
      const from = Math.floor(at - hours * HOUR_MS);
      const stored = store.findPersona(persona);
      if (stored === null) {
        return present ? { from, to: at, points: [[from, null]], states: [{ state: 'unknown', from, to: at }] } : null;
      }
      const first = { ...stored.readValues(from), at: from };
      const points = stored.points(from + 1, at + 1, MOST_POINTS + 1);
      if (points.length <= MOST_POINTS) return toPersonaHistory([first, ...points], at);
      return toPersonaHistory(thinPoints(persona, from, at), at);

      function thinPoints(id: PersonaId, begin: Instant, end: Instant): readonly HistoryMoment[] {
        const slotMs = (end - begin) / THIN_SLOTS;
        const fine: Grid = { slotMs, first: 0, end: THIN_SLOTS };
        const shifted = stored
          ?.points(begin + 1, end, Number.MAX_SAFE_INTEGER)
          .map((p) => ({ ...p, at: p.at - begin }));
        const slotHistory =
          toSlots(fine, new Map([[id, first]]), shifted ?? []).get(id) ?? createBlankSlots(THIN_SLOTS);
        return slotHistory.unread.map((unread, i) => ({
          unread,
          state: slotHistory.states[i] ?? 'unknown',
          at: Math.round(begin + i * slotMs),
        }));
      }
    },
    startAnew: () => over.clear(),
  };
}

interface HistoryMoment {
  readonly at: Instant;
  readonly unread: number | null;
  readonly state: HistoryState;
}

/** Turns moments in order, the first at the beginning, into steps of the number and spans of the state. */
function toPersonaHistory(moments: readonly HistoryMoment[], to: Instant): PersonaHistory {
  const from = moments[0]?.at ?? to;
  const points: [Instant, number | null][] = [];
  const states: { state: HistoryState; from: Instant; to: Instant }[] = [];
  for (const { at, unread, state } of moments) {
    if (points.length === 0 || points.at(-1)?.[1] !== unread) points.push([at, unread]);
    const span = states.at(-1);
    if (span?.state === state) continue;
    if (span !== undefined) span.to = at;
    states.push({ state, from: at, to });
  }
  return { from, to, points, states };
}
