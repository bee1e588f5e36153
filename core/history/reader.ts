import type { Instant, PersonaId } from '../model/index.ts';
import { type Overview, type PersonaHistory, SLOTS, type SlotHistory } from './history.ts';
import type { State } from './point.ts';
import { blank, type Grid, isKnown, joined, slotted } from './slots.ts';
import type { Store } from './store.ts';

/** Makes answers from the tables, and remembers the slots that are over. */
export interface Reader {
  overview(store: Store, present: Iterable<PersonaId>, hours: number, at: Instant): Overview;
  /** `present`: it is watched now, even if nothing is known of it yet. */
  of(store: Store, present: boolean, persona: PersonaId, hours: number, at: Instant): PersonaHistory | null;
  /** The past has changed: by a new file, or a clock that moved. */
  startAnew(): void;
}

const HOUR_MS = 3_600_000;
/** More points than this are folded into `THIN_SLOTS`. */
const MOST_POINTS = 1000;
const THIN_SLOTS = 500;
/** Lengths of time whose slots are remembered; whoever asks for many is served, but not remembered. */
const MOST_REMEMBERED = 4;

export function createReader(): Reader {
  /** By length of a slot: those that were over when last asked. */
  const over = new Map<number, { readonly grid: Grid; readonly of: ReadonlyMap<PersonaId, SlotHistory> }>();

  const slots = (store: Store, grid: Grid, before: Instant): Map<PersonaId, SlotHistory> => {
    const from = grid.first * grid.slotMs;
    return slotted(grid, store.pictures(from), store.points(from, before));
  };
  /** Of slots that are over: only those that ended since the last question are read. */
  const slotsOver = (store: Store, grid: Grid): ReadonlyMap<PersonaId, SlotHistory> => {
    const { slotMs, first, end } = grid;
    const known = over.get(slotMs);
    if (known !== undefined && known.grid.end === end && known.grid.first === first) return known.of;
    const goesOn = known !== undefined && known.grid.first <= first && first <= known.grid.end && known.grid.end <= end;
    const rest = { slotMs, first: goesOn ? known.grid.end : first, end };
    const read = slots(store, rest, end * slotMs);
    const of = goesOn ? joined(known.of, known.grid, read, rest, first) : read;
    if (over.size >= MOST_REMEMBERED) over.delete(over.keys().next().value ?? slotMs);
    over.set(slotMs, { grid, of });
    return of;
  };

  return {
    overview(store, present, hours, at) {
      const slotMs = (hours * HOUR_MS) / SLOTS;
      const last = Math.floor(at / slotMs);
      const past: Grid = { slotMs, first: last - SLOTS + 1, end: last };
      const going: Grid = { slotMs, first: last, end: last + 1 };
      const all = joined(slotsOver(store, past), past, slots(store, going, at + 1), going, past.first);
      for (const [persona, its] of all) if (!isKnown(its)) all.delete(persona);
      for (const persona of present) if (!all.has(persona)) all.set(persona, blank(SLOTS));
      return { from: past.first * slotMs, to: going.end * slotMs, personas: all };
    },
    of(store, present, persona, hours, at) {
      const from = Math.floor(at - hours * HOUR_MS);
      const stored = store.of(persona);
      if (stored === null) {
        return present ? { from, to: at, points: [[from, null]], states: [{ state: 'unknown', from, to: at }] } : null;
      }
      const first = { ...stored.picture(from), at: from };
      const points = stored.points(from + 1, at + 1, MOST_POINTS + 1);
      if (points.length <= MOST_POINTS) return drawn([first, ...points], at);
      return drawn(thinned(persona, from, at), at);

      function thinned(id: PersonaId, begin: Instant, end: Instant): readonly Moment[] {
        const slotMs = (end - begin) / THIN_SLOTS;
        const fine: Grid = { slotMs, first: 0, end: THIN_SLOTS };
        const shifted = stored
          ?.points(begin + 1, end, Number.MAX_SAFE_INTEGER)
          .map((p) => ({ ...p, at: p.at - begin }));
        const its = slotted(fine, new Map([[id, first]]), shifted ?? []).get(id) ?? blank(THIN_SLOTS);
        return its.unread.map((unread, i) => ({
          unread,
          state: its.states[i] ?? 'unknown',
          at: Math.round(begin + i * slotMs),
        }));
      }
    },
    startAnew: () => over.clear(),
  };
}

interface Moment {
  readonly at: Instant;
  readonly unread: number | null;
  readonly state: State;
}

/** Moments in order, the first at the beginning, as steps of the number and spans of the state. */
function drawn(moments: readonly Moment[], to: Instant): PersonaHistory {
  const from = moments[0]?.at ?? to;
  const points: [Instant, number | null][] = [];
  const states: { state: State; from: Instant; to: Instant }[] = [];
  for (const { at, unread, state } of moments) {
    if (points.length === 0 || points.at(-1)?.[1] !== unread) points.push([at, unread]);
    const span = states.at(-1);
    if (span?.state === state) continue;
    if (span !== undefined) span.to = at;
    states.push({ state, from: at, to });
  }
  return { from, to, points, states };
}
