import type { Instant, PersonaId } from '../model/index.ts';
import { type Overview, type PersonaHistory, SLOTS, type SlotHistory } from './history.ts';
import type { HistoryState } from './point.ts';
import { createBlankSlots, type Grid, hasKnown, joinSlots, toSlots } from './slots.ts';
import type { HistoryStore } from './store.ts';

/** Builds answers from the tables, and caches the slots that are over. */
export interface SlotReader {
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
