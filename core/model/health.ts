import type { FaultCode } from './fault.ts';
import type { PersonaId } from './ids.ts';
import type { Instant } from './instant.ts';

/** Whether an inbox can be polled. Only going down and coming back is an edge; a failure below the threshold is `failing`. */
export type Health =
  | { readonly is: 'unseen' }
  | { readonly is: 'up'; readonly since: Instant }
  | { readonly is: 'failing'; readonly failures: number; readonly why: FaultCode }
  | { readonly is: 'down'; readonly since: Instant; readonly failures: number; readonly why: FaultCode };

export type HealthLabel = 'UP' | 'DOWN' | 'PENDING';

/** Returns the word that every surface shows. Failing below the threshold is still UP (Kijito spec 7.1). */
export function toHealthLabel(health: Health): HealthLabel {
  switch (health.is) {
    case 'unseen':
      return 'PENDING';
    case 'up':
    case 'failing':
      return 'UP';
    case 'down':
      return 'DOWN';
  }
}

/** A number together with how well it is known. Unknown is never a number. */
export type Count = { readonly is: 'exact' | 'atLeast'; readonly n: number } | { readonly is: 'unknown' };

/** The counts of one persona. */
export interface PersonaCounts {
  readonly persona: PersonaId;
  readonly unread: Count;
  readonly urgent: Count;
}

export const UNKNOWN: Count = { is: 'unknown' };

const NONE: Count = { is: 'exact', n: 0 };

/** Zero is one object, because it is what most of some thousand personas have. */
export function exactly(n: number): Count {
  return n === 0 ? NONE : { is: 'exact', n };
}

export function isSameCount(a: Count, b: Count): boolean {
  if (a === b) return true;
  return a.is === b.is && (a.is === 'unknown' || (b.is !== 'unknown' && a.n === b.n));
}

/** Adds counts. An unknown part makes the sum a lower bound; only unknown parts make it unknown. */
export function addCounts(counts: Iterable<Count>): Count {
  let n = 0;
  let known = 0;
  let exact = true;
  for (const c of counts) {
    if (c.is === 'unknown') {
      exact = false;
      continue;
    }
    known += 1;
    n += c.n;
    if (c.is === 'atLeast') exact = false;
  }
  if (known === 0 && !exact) return UNKNOWN;
  return { is: exact ? 'exact' : 'atLeast', n };
}
