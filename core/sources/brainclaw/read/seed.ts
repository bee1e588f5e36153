import { isObject, type JsonFields } from './record.ts';

/**
 * What a server of the project answered once, at activation, for what the journal does not hold or cannot be trusted with
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

/**
 * The structured answer of `board_summary`, of which nothing is believed: what is no whole number from 0 on is not said.
 * Null when it says none of the numbers, so it is no summary at all. Assignments and runs are not among what servers are
 * known to say; they are taken by the same names as on a board, should one say them.
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
