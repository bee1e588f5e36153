import type { Count, Health, Instant, PersonaId } from '../model/index.ts';

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

export function isSameValues(a: PointValues, b: PointValues): boolean {
  return a.unread === b.unread && a.urgent === b.urgent && a.state === b.state;
}

export function toHistoryState(health: Health): HistoryState {
  return health.is === 'unseen' ? 'unknown' : health.is;
}

/** A lower bound is drawn as its number. */
export function toNumber(count: Count): number | null {
  return count.is === 'unknown' ? null : count.n;
}
