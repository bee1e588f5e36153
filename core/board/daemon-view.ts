import type { ErrorClass, Fsm, Taxonomy } from '../link/index.ts';
import type { Instant } from '../model/index.ts';

/** What a persona daemon reports about itself, beside the number of waiting signals (persona daemon, contract 4). */
export interface DaemonView {
  readonly surface: string;
  readonly project: string;
  readonly fsm: Fsm;
  readonly taxonomy: Taxonomy;
  /** The surface of the daemon is away, so the daemon cannot ring. */
  readonly isDegraded: boolean;
  /** When something was last fetched, or else when the daemon began. */
  readonly drainedAt: Instant;
  readonly lastError: ErrorClass | null;
}

/** A daemon reports an age, so the computed time varies by up to this many milliseconds between polls. */
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
