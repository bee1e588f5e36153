import { isObject, type JsonFields } from './record.ts';

/**
 * The one answer of the project's server at activation, for numbers that the journal does not hold or cannot be trusted with yet:
 * `bclaw_context` of kind `board_summary` (brainclaw contract 9). A missing number is null, never 0.
 */
export interface Seed {
  /** Plans in progress and to do. */
  readonly plans: number | null;
  /** The active claims. */
  readonly claims: number | null;
  readonly assignments: number | null;
  readonly runs: number | null;
  /** Everything that needs a person, as the server counts it. */
  readonly actions: number | null;
  /** Registered agents and, in `sessions`, live sessions: the journal never holds these. */
  readonly agents: number | null;
  readonly sessions: number | null;
  readonly failedRuns: number | null;
}

/**
 * Parses the structured answer of `board_summary`. A value that is not a whole number from 0 on counts as missing. Null when all
 * numbers are missing, because then it is no summary.
 * Known servers do not report assignments and runs. If one does, they are read under the names that a board uses.
 */
export function parseSeed(answer: unknown): Seed | null {
  if (!isObject(answer)) return null;
  const plans = isObject(answer.plans) ? answer.plans : {};
  const attention = answer.attention_required;
  const seed: Seed = {
    plans: sumFields(plans, ['in_progress', 'todo']),
    claims: parseCount(answer.in_progress),
    assignments: parseCount(answer.assignments),
    runs: parseCount(answer.runs),
    actions: parseCount(isObject(attention) ? attention.total : attention),
    agents: parseCount(answer.agents),
    sessions: parseCount(answer.sessions),
    failedRuns: isObject(attention) ? parseCount(attention.stale_runs) : null,
  };
  return Object.values(seed).some((count) => count !== null) ? seed : null;
}

function sumFields(fields: JsonFields, names: readonly string[]): number | null {
  const counts = names.map((name) => parseCount(fields[name]));
  return counts.every((count) => count === null) ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

const MOST = 1_000_000_000;

function parseCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST ? value : null;
}
