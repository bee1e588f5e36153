import type { Count, Fault, Health, Instant, PersonaCounts, PersonaId, Scope, SourceId } from '../model/index.ts';
import type { Service } from '../services/index.ts';

/** The history of all personas, stored in a database. It is derived from facts and may be deleted at any time. */
export interface History extends HistoryReader, Disposable {
  /** Writes a sign of life each minute, ends unheard outages and deletes what is too old. */
  readonly service: Service;
  /**
   * Returns the last known state of a persona and when it began. Time that nobody watched does not end it. Null when none is known,
   * or when there is no history now.
   */
  findLastState(persona: PersonaId): LastState | null;
  /** Records what the fact changed. Changes are written together some seconds later. Never throws. */
  hear(fact: HistoryFact): void;
}

export interface HistoryReader {
  /**
   * Returns all personas over the last hours, at most as far back as is stored.
   * @throws Fault `database` when there is no history now
   */
  overview(hours: number): Overview;
  /**
   * Returns one persona; null when nothing is known of this id.
   * @throws Fault as `overview`
   */
  findPersona(persona: PersonaId, hours: number): PersonaHistory | null;
  /**
   * Returns how much of the time a persona was up; null when nothing is known of this id.
   * @throws Fault as `overview`
   */
  findUptime(persona: PersonaId): Uptime | null;
  /**
   * Returns the newest alerts first: `limit` at most, and fewer when they name very many personas.
   * @throws Fault as `overview`
   */
  alerts(limit: number): readonly Alert[];
}

/** A state as a person sees it: failing below the threshold is still up. */
export interface LastState {
  readonly state: 'up' | 'down';
  readonly since: Instant;
}

/** The spans of uptime, in hours. */
export const UPTIME_HOURS = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const;

export type UptimeSpan = keyof typeof UPTIME_HOURS;

/** Milliseconds per span in which the state was known, and in which it was up. Unknown time is in neither. */
export type Uptime = Readonly<Record<UptimeSpan, { readonly upMs: number; readonly knownMs: number }>>;

/** The number of slots in an overview. */
export const SLOTS = 90;

/**
 * `SLOTS` slots of equal length. Their borders are whole multiples of that length since 1970, so a slot that is over
 * never changes. The last slot is still running, and `to` is its end.
 */
export interface Overview {
  readonly from: Instant;
  readonly to: Instant;
  readonly personas: ReadonlyMap<PersonaId, SlotHistory>;
}

export interface SlotHistory {
  /** The last number known within each slot; null: none was known. */
  readonly unread: readonly (number | null)[];
  /** The worst state within each slot: down, failing, up; unknown when nothing was known in it. */
  readonly states: readonly HistoryState[];
}

export interface PersonaHistory {
  readonly from: Instant;
  readonly to: Instant;
  /**
   * The number from each moment on, the first at `from`; null: not known. At most about 1,000 points; more are thinned
   * evenly.
   */
  readonly points: readonly (readonly [Instant, number | null])[];
  /** The states from `from` to `to`, without gaps. */
  readonly states: readonly { readonly state: HistoryState; readonly from: Instant; readonly to: Instant }[];
}

/** One outage: everything that was wrong for one cause, from the first fault to the end of the last. */
export interface Alert {
  /** Alerts with the same key have the same cause. */
  readonly key: string;
  readonly scope: Scope['is'];
  /** One line of our own words, with the next step. */
  readonly message: string;
  /** All personas that were affected at any time. */
  readonly personas: readonly PersonaId[];
  readonly since: Instant;
  /** Null: it continues. */
  readonly until: Instant | null;
}

/** Turns facts into points: one when the values of a persona change, none otherwise. In memory only. */
interface Timeline {
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
    const newPoints = points;
    points = [];
    return newPoints;
  };

  const hearCounts = ({ persona, unread, urgent }: PersonaCounts, at: Instant): void => {
    const track = tracks.get(persona);
    if (track === undefined) return;
    const { values } = track;
    if (values.unread !== toNumber(unread) || values.urgent !== toNumber(urgent))
      track.values = { ...values, ...toLevels({ unread, urgent }) };
    else if (track.heard) return; // most of a list is as it was, and so is the last point
    track.heard = true;
    addPoint(persona, track, at);
  };

  return {
    hear(fact, at) {
      if (fact.is === 'counted') {
        for (const entry of fact.counts) hearCounts(entry, at);
        return;
      }
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

function toLevels({ unread, urgent }: Pick<PersonaCounts, 'unread' | 'urgent'>): Omit<PointValues, 'state'> {
  return { unread: toNumber(unread), urgent: toNumber(urgent) };
}

/** One thing that became true of one persona. */
interface PersonaFact {
  readonly at: Instant;
  readonly persona: PersonaId;
}

/** The facts that the history is made from. Every fact of the board fits. */
export type HistoryFact =
  | ({ readonly is: 'joined' | 'left' | 'delivered' } & PersonaFact)
  | ({ readonly is: 'polled'; readonly health: Health; readonly unread: Count; readonly urgent: Count } & PersonaFact)
  | { readonly is: 'counted'; readonly at: Instant; readonly counts: readonly PersonaCounts[] }
  | ({ readonly is: 'failed'; readonly health: Health; readonly fault: Fault } & PersonaFact)
  | ({ readonly is: 'held'; readonly fault: Fault } & PersonaFact)
  | ({ readonly is: 'published'; readonly fault: Fault | null } & PersonaFact)
  | { readonly is: 'source'; readonly at: Instant; readonly source: SourceId; readonly fault: Fault | null }
  /** Facts that the history does not store. They are named one by one, so that a new kind of fact needs a decision. */
  | {
      readonly is:
        | 'recalled'
        | 'remembered'
        | 'muted'
        | 'hidden'
        | 'quiet'
        | 'autostart'
        | 'gap'
        | 'surface'
        | 'reported'
        | 'agent'
        | 'decisions'
        | 'permissions';
      readonly at: Instant;
    }
  | {
      readonly is: 'project' | 'withdrawn' | 'machine';
      readonly at: Instant;
    };

/** The states of a persona. A later one counts as worse. `unknown` also stands for every moment at which Hivebar did not run. */
export const STATES = ['unknown', 'up', 'failing', 'down'] as const;

export type HistoryState = (typeof STATES)[number];

/** What was known of a persona. Null means not known, and is never 0. */
export interface PointValues {
  readonly unread: number | null;
  readonly urgent: number | null;
  readonly state: HistoryState;
}

/** The values of a persona from `at` until its next point. */
export interface Point extends PointValues {
  readonly persona: PersonaId;
  readonly at: Instant;
}

/** The parts of a point that are drawn. */
export type DrawnPoint = Omit<Point, 'urgent'>;

export const NOTHING_KNOWN: PointValues = { unread: null, urgent: null, state: 'unknown' };

function isSameValues(a: PointValues, b: PointValues): boolean {
  return a.unread === b.unread && a.urgent === b.urgent && a.state === b.state;
}

function toHistoryState(health: Health): HistoryState {
  return health.is === 'unseen' ? 'unknown' : health.is;
}

/** A lower bound is drawn as its number. */
function toNumber(count: Count): number | null {
  return count.is === 'unknown' ? null : count.n;
}
