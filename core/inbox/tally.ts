import type { Priority } from './item.ts';

/** The most items counted per priority; this number stands for as many or more. */
export const MOST_COUNTED = 1000;

export interface PriorityTally {
  readonly priority: Priority;
  readonly n: number;
}

/**
 * SQL that counts rows by priority. The cost does not depend on how many rows there are.
 * @param from `FROM ... WHERE ...` with the rows to count
 * @param priority the column with the priority
 */
export const tally = (from: string, priority: string) => `
  SELECT p.priority, (SELECT count(*) FROM (SELECT 1 ${from} AND ${priority} = p.priority LIMIT ${MOST_COUNTED})) AS n
  FROM (SELECT 0 AS priority UNION ALL VALUES (1), (2), (3), (4)) AS p`;

/** The sums by priority, 0 first. */
export function sumByPriority(tallies: readonly PriorityTally[]): readonly [number, number, number, number, number] {
  const counts: [number, number, number, number, number] = [0, 0, 0, 0, 0];
  for (const { priority, n } of tallies) counts[priority] = Math.min(counts[priority] + n, MOST_COUNTED);
  return counts;
}
