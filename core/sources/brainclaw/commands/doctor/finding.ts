/** A fact about a store that a person may want to know. */
export interface BrainclawFinding {
  /** `defect`: something is wrong, and the exit code says so. `note`: it is allowed, or it happens. */
  readonly is: 'defect' | 'note';
  /** One word for scripts. */
  readonly what: string;
  readonly count: number;
  readonly says: string;
  /** The places, at most a limited number. */
  readonly where: readonly string[];
}

export const MOST_WHERE = 16;

export function createFindings(
  is: BrainclawFinding['is'],
  code: string,
  count: number,
  says: string,
  where: readonly string[] = [],
): readonly BrainclawFinding[] {
  return count === 0 ? [] : [{ is, what: code, count, says, where: where.slice(-MOST_WHERE) }];
}
