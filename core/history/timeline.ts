import type { Instant, PersonaId } from '../model/index.ts';
import type { HistoryFact } from './fact.ts';
import { isSameValues, NOTHING_KNOWN, type Point, type PointValues, toHistoryState, toNumber } from './point.ts';

/** Turns facts into points: one when the values of a persona change, none otherwise. In memory only. */
export interface Timeline {
  hear(fact: HistoryFact, at: Instant): void;
  has(persona: PersonaId): boolean;
  readonly personas: Iterable<PersonaId>;
  /** The number of points that are not taken yet. */
  readonly waiting: number;
  take(): readonly Point[];
  /** Returns the values of every persona as a point at `at`, instead of the waiting points, for a record that lacks them. */
  takeAll(at: Instant): readonly Point[];
  /** Marks all values as unknown until the next fact of each persona, because time passed unwatched. */
  forget(): void;
}

interface Track {
  /** The values according to the facts. */
  values: PointValues;
  /** There was a fact since time passed unwatched. */
  heard: boolean;
  /** The values of the last point. */
  last: PointValues;
}

export function createTimeline(): Timeline {
  const tracks = new Map<PersonaId, Track>();
  let points: Point[] = [];

  const getValues = (track: Track): PointValues => (track.heard ? track.values : NOTHING_KNOWN);
  const addPoint = (persona: PersonaId, track: Track, at: Instant): void => {
    const values = getValues(track);
    if (isSameValues(track.last, values)) return;
    track.last = values;
    points.push({ persona, at, ...values });
  };

  const take = (): readonly Point[] => {
    const takenPoints = points;
    points = [];
    return takenPoints;
  };

  return {
    hear(fact, at) {
      if (!('persona' in fact)) return;
      const track = tracks.get(fact.persona);
      if (track === undefined) {
        if (fact.is === 'joined')
          tracks.set(fact.persona, { values: NOTHING_KNOWN, heard: false, last: NOTHING_KNOWN });
        return;
      }
      const before = track.values;
      switch (fact.is) {
        case 'polled':
          track.values = { ...toLevels(fact), state: toHistoryState(fact.health) };
          break;
        case 'counted':
          track.values = { ...before, ...toLevels(fact) };
          break;
        case 'failed': {
          const state = toHistoryState(fact.health);
          // only at the first failure, because later counts of the pending list are new again
          const levelsGo = state === 'down' && before.state !== 'down';
          track.values = levelsGo ? { ...NOTHING_KNOWN, state } : { ...before, state };
          break;
        }
        case 'left':
          track.values = NOTHING_KNOWN;
          tracks.delete(fact.persona);
          break;
        default:
          return;
      }
      track.heard = true;
      addPoint(fact.persona, track, at);
    },
    has: (persona) => tracks.has(persona),
    get personas() {
      return tracks.keys();
    },
    get waiting() {
      return points.length;
    },
    take,
    takeAll(at) {
      points = [];
      for (const [persona, track] of tracks) {
        track.last = NOTHING_KNOWN;
        addPoint(persona, track, at);
      }
      return take();
    },
    forget() {
      for (const track of tracks.values()) track.heard = false;
    },
  };
}

function toLevels(fact: Extract<HistoryFact, { is: 'polled' | 'counted' }>): Omit<PointValues, 'state'> {
  return { unread: toNumber(fact.unread), urgent: toNumber(fact.urgent) };
}
