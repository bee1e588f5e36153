import type { ErrorClass, Fsm, Taxonomy } from '../link/index.ts';
import type { Instant } from '../model/index.ts';

/** What a persona daemon says of itself, beside how many signals wait (persona daemon, contract 4). */
export interface DaemonView {
  readonly surface: string;
  readonly project: string;
  readonly fsm: Fsm;
  readonly taxonomy: Taxonomy;
  /** Its surface is away: it cannot ring. */
  readonly isDegraded: boolean;
  /** When something was fetched last, else when the daemon began. */
  readonly drainedAt: Instant;
  readonly lastError: ErrorClass | null;
}

/** A daemon says an age: what comes of it and its own clock differs by so much from look to look. */
const SAME_MS = 2000;

export function isSameDaemon(a: DaemonView | null, b: DaemonView | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.surface === b.surface &&
    a.project === b.project &&
    a.fsm === b.fsm &&
    a.taxonomy === b.taxonomy &&
    a.isDegraded === b.isDegraded &&
    a.lastError === b.lastError &&
    Math.abs(a.drainedAt - b.drainedAt) < SAME_MS
  );
}
