import type { PersonaId } from '../model/index.ts';
import type { SlotHistory } from './history.ts';
import { type Drawn, NOTHING_KNOWN, type Picture, STATES, type State } from './point.ts';

/** Slots of one length side by side, from `first` (counted from 1970 on) up to but not including `end`. */
export interface Grid {
  readonly slotMs: number;
  readonly first: number;
  readonly end: number;
}

/**
 * Folds points into slots. `carried` is the picture of each persona as the grid begins; `points` are those within it,
 * in order of time for each persona.
 */
export function slotted(
  grid: Grid,
  carried: ReadonlyMap<PersonaId, Omit<Picture, 'urgent'>>,
  points: Iterable<Drawn>,
): Map<PersonaId, SlotHistory> {
  const rows = new Map<PersonaId, Row>();
  const rowOf = (persona: PersonaId): Row => {
    const known = rows.get(persona);
    if (known !== undefined) return known;
    const made = new Row(grid, carried.get(persona) ?? NOTHING_KNOWN);
    rows.set(persona, made);
    return made;
  };
  for (const persona of carried.keys()) rowOf(persona);
  let row: Row | null = null;
  let of: PersonaId | null = null;
  for (const point of points) {
    if (row === null || of !== point.persona) row = rowOf(point.persona);
    of = point.persona;
    row.add(point);
  }
  return new Map(rows.entries().map(([persona, its]) => [persona, its.done()]));
}

/** The slots of one persona while they are filled, from left to right. */
class Row {
  readonly #grid: Grid;
  readonly #unread: (number | null)[] = [];
  readonly #states: State[] = [];
  /** What holds where the filling stands, which is at the beginning of a slot or within it. */
  #now: Omit<Picture, 'urgent'>;
  /** Of the slot that is being filled; null while nothing held in it but `#now`, from its beginning. */
  #slot: { unread: number | null; state: State } | null = null;

  constructor(grid: Grid, carried: Omit<Picture, 'urgent'>) {
    this.#grid = grid;
    this.#now = carried;
  }

  add(point: Drawn): void {
    const { slotMs, first } = this.#grid;
    const slot = Math.floor(point.at / slotMs) - first;
    while (this.#unread.length < slot) this.#close();
    // at the very beginning of a slot nothing was carried into it
    if (this.#slot === null && point.at % slotMs !== 0)
      this.#slot = { unread: this.#now.unread, state: this.#now.state };
    this.#slot =
      this.#slot === null
        ? { unread: point.unread, state: point.state }
        : { unread: point.unread ?? this.#slot.unread, state: worse(this.#slot.state, point.state) };
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

function worse(a: State, b: State): State {
  return STATES.indexOf(a) > STATES.indexOf(b) ? a : b;
}

/** Two stretches of slots, the second right after the first, without those before `first` of a grid that begins at `begin`. */
export function joined(
  left: ReadonlyMap<PersonaId, SlotHistory>,
  leftGrid: Grid,
  right: ReadonlyMap<PersonaId, SlotHistory>,
  rightGrid: Grid,
  first: number,
): Map<PersonaId, SlotHistory> {
  const all = new Map<PersonaId, SlotHistory>();
  const cut = first - leftGrid.first;
  const part = (of: SlotHistory | undefined, grid: Grid, from: number): SlotHistory =>
    of === undefined
      ? blank(grid.end - grid.first - from)
      : { unread: of.unread.slice(from), states: of.states.slice(from) };
  for (const persona of new Set([...left.keys(), ...right.keys()])) {
    const a = part(left.get(persona), leftGrid, cut);
    const b = part(right.get(persona), rightGrid, 0);
    all.set(persona, { unread: [...a.unread, ...b.unread], states: [...a.states, ...b.states] });
  }
  return all;
}

/** So many slots of which nothing is known. */
export function blank(slots: number): SlotHistory {
  return { unread: Array<null>(slots).fill(null), states: Array<State>(slots).fill('unknown') };
}

/** Whether anything is known in any slot. */
export function isKnown({ unread, states }: SlotHistory): boolean {
  return states.some((state) => state !== 'unknown') || unread.some((n) => n !== null);
}
