import type { PersonaId } from '../model/index.ts';
import type { SlotHistory } from './history.ts';
import { type DrawnPoint, type HistoryState, NOTHING_KNOWN, type PointValues, STATES } from './point.ts';

/** Adjacent slots of one length, from `first` (counted from 1970) up to but not including `end`. */
export interface Grid {
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
export function joinSlots(
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
export function createBlankSlots(slots: number): SlotHistory {
  return { unread: Array<null>(slots).fill(null), states: Array<HistoryState>(slots).fill('unknown') };
}

/** Returns whether anything is known in any slot. */
export function hasKnown({ unread, states }: SlotHistory): boolean {
  return states.some((state) => state !== 'unknown') || unread.some((n) => n !== null);
}
