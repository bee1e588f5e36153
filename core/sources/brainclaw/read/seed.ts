import type { Counts } from './board.ts';
import { isObject } from './record.ts';

/**
 * What a server of the project answered once, at activation, for what the journal does not hold or can not be trusted with
 * yet: `bclaw_context` of kind `board_summary` (brainclaw contract 9). A number that was not said is null, never 0.
 */
export interface Seed {
  /** In progress and to do. */
  readonly plans: number | null;
  /** The active ones. */
  readonly claims: number | null;
  readonly assignments: number | null;
  readonly runs: number | null;
  /** All that asks for a person, as the server counts it. */
  readonly actions: number | null;
  /** Registered agents and live sessions: no journal ever holds these. */
  readonly agents: number | null;
  readonly sessions: number | null;
  readonly failedRuns: number | null;
}

export type Family = keyof Seed & keyof Counts;
