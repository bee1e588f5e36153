import type { Count, Health, Instant, PersonaId } from '../model/index.ts';

/** How a persona stood. `unknown` is also every moment at which Hivebar did not run. Worse is later. */
export const STATES = ['unknown', 'up', 'failing', 'down'] as const;

export type HistoryState = (typeof STATES)[number];

/** What was known of a persona; null is not known, and never 0. */
export interface PointValues {
  readonly unread: number | null;
  readonly urgent: number | null;
  readonly state: HistoryState;
}

/** From `at` on the persona looked like this, until its next point. */
export interface Point extends PointValues {
  readonly persona: PersonaId;
  readonly at: Instant;
}

/** A point as far as it is drawn. */
export type DrawnPoint = Omit<Point, 'urgent'>;

export const NOTHING_KNOWN: PointValues = { unread: null, urgent: null, state: 'unknown' };

export function isSameValues(a: PointValues, b: PointValues): boolean {
  return a.unread === b.unread && a.urgent === b.urgent && a.state === b.state;
}

export function toHistoryState(health: Health): HistoryState {
  return health.is === 'unseen' ? 'unknown' : health.is;
}

/** A lower bound is drawn as the number it is. */
export function toNumber(count: Count): number | null {
  return count.is === 'unknown' ? null : count.n;
}
