import type { Instant, PersonaId } from '../model/index.ts';
import type { HistoryFact } from './fact.ts';
import { NOTHING_KNOWN, numberOf, type Picture, type Point, samePicture, stateOf } from './point.ts';

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
  picture: Picture;
  /** Something was heard since time passed unwatched. */
  heard: boolean;
  /** The last point. */
  last: Picture;
}

export function createTimeline(): Timeline {
  const tracks = new Map<PersonaId, Track>();
  let points: Point[] = [];

  const shown = (track: Track): Picture => (track.heard ? track.picture : NOTHING_KNOWN);
  const record = (persona: PersonaId, track: Track, at: Instant): void => {
    const picture = shown(track);
    if (samePicture(track.last, picture)) return;
    track.last = picture;
    points.push({ persona, at, ...picture });
  };

  const take = (): readonly Point[] => {
    const taken = points;
    points = [];
    return taken;
  };

  return {
    hear(fact, at) {
      if (!('persona' in fact)) return;
      const track = tracks.get(fact.persona);
      if (track === undefined) {
        if (fact.is === 'joined')
          tracks.set(fact.persona, { picture: NOTHING_KNOWN, heard: false, last: NOTHING_KNOWN });
        return;
      }
      const before = track.picture;
      switch (fact.is) {
        case 'looked':
          track.picture = { ...levels(fact), state: stateOf(fact.reach) };
          break;
        case 'counted':
          track.picture = { ...before, ...levels(fact) };
          break;
        case 'failed': {
          const state = stateOf(fact.reach);
          // once, not with each failure: what the pending list says of it meanwhile is news again
          const levelsGo = state === 'down' && before.state !== 'down';
          track.picture = levelsGo ? { ...NOTHING_KNOWN, state } : { ...before, state };
          break;
        }
        case 'left':
          track.picture = NOTHING_KNOWN;
          tracks.delete(fact.persona);
          break;
        default:
          return;
      }
      track.heard = true;
      record(fact.persona, track, at);
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
        record(persona, track, at);
      }
      return take();
    },
    forget() {
      for (const track of tracks.values()) track.heard = false;
    },
  };
}

function levels(fact: Extract<HistoryFact, { is: 'looked' | 'counted' }>): Omit<Picture, 'state'> {
  return { unread: numberOf(fact.unread), urgent: numberOf(fact.urgent) };
}
