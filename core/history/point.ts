import type { Count, Instant, PersonaId, Reach } from '../model/index.ts';

/** How a persona stood. `unknown` is also every moment at which Hivebar did not run. Worse is later. */
export const STATES = ['unknown', 'up', 'failing', 'down'] as const;

export type State = (typeof STATES)[number];

/** What was known of a persona; null is not known, and never 0. */
export interface Picture {
  readonly unread: number | null;
  readonly urgent: number | null;
  readonly state: State;
}

/** From `at` on the persona looked like this, until its next point. */
export interface Point extends Picture {
  readonly persona: PersonaId;
  readonly at: Instant;
}

/** A point as far as it is drawn. */
export type Drawn = Omit<Point, 'urgent'>;

export const NOTHING_KNOWN: Picture = { unread: null, urgent: null, state: 'unknown' };

export function samePicture(a: Picture, b: Picture): boolean {
  return a.unread === b.unread && a.urgent === b.urgent && a.state === b.state;
}

export function stateOf(reach: Reach): State {
  return reach.is === 'unseen' ? 'unknown' : reach.is;
}

/** A lower bound is drawn as the number it is. */
export function numberOf(count: Count): number | null {
  return count.is === 'unknown' ? null : count.n;
}
