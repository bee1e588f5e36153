/** Something about a store that a person may want to know. */
export interface Finding {
  /** `defect`: it is not as it must be, and the exit code says so. `note`: it is allowed, or happens. */
  readonly is: 'defect' | 'note';
  /** One word for a script. */
  readonly what: string;
  readonly count: number;
  readonly says: string;
  /** Where it is, at most so many. */
  readonly where: readonly string[];
}

export const MOST_WHERE = 16;

export function finding(
  is: Finding['is'],
  what: string,
  count: number,
  says: string,
  where: readonly string[] = [],
): readonly Finding[] {
  return count === 0 ? [] : [{ is, what, count, says, where: where.slice(-MOST_WHERE) }];
}
