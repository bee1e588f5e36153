import type { Instant, PersonaId } from '../model/index.ts';
import type { HistoryFact } from './fact.ts';
import { isSameValues, NOTHING_KNOWN, type Point, type PointValues, toHistoryState, toNumber } from './point.ts';

/** Turns facts into points: one when a persona's picture changes, none while it stays. In memory only. */
export interface Timeline {
  hear(fact: HistoryFact, at: Instant): void;
  has(persona: PersonaId): boolean;
  readonly personas: Iterable<PersonaId>;
  /** Points that nobody took yet. */
  readonly waiting: number;
  take(): readonly Point[];
  /** Every picture as a point at `at`, instead of the points that wait: for a record that knows nothing of them. */
  takeAll(at: Instant): readonly Point[];
  /** Time passed unwatched: no picture is known any more until the persona's next fact. */
  forget(): void;
}

interface Track {
  /** What the facts say. */
  values: PointValues;
  /** Something was heard since time passed unwatched. */
  heard: boolean;
  /** The last point. */
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
        case 'looked':
          track.values = { ...toLevels(fact), state: toHistoryState(fact.health) };
          break;
        case 'counted':
          track.values = { ...before, ...toLevels(fact) };
          break;
        case 'failed': {
          const state = toHistoryState(fact.health);
          // once, not with each failure: what the pending list says of it meanwhile is news again
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

function toLevels(fact: Extract<HistoryFact, { is: 'looked' | 'counted' }>): Omit<PointValues, 'state'> {
  return { unread: toNumber(fact.unread), urgent: toNumber(fact.urgent) };
}
