import type { JournalView } from './journal.ts';

/** What has to be shown beside the numbers of a board (brainclaw contract 4, 9). */
export type Remark = 'journal-off' | 'incomplete' | 'from-checkpoint' | 'registry-partial' | `skipped=${number}`;

/**
 * The remarks about a board. An empty list means that the board shows everything there is.
 * `journal-off`: the numbers are unknown, not zero. `registry-partial`: the numbers of claims, assignments, runs and actions may
 * be too low. `incomplete`: segments are gone or cannot be read.
 * @param view null when the journal is off
 */
export function findRemarks(view: JournalView | null): readonly Remark[] {
  if (view === null) return ['journal-off'];
  const { replay, base, isComplete } = view;
  const { skipped } = replay.diagnosis;
  return [
    ...(isComplete ? [] : (['incomplete'] as const)),
    ...(base === null ? [] : (['from-checkpoint'] as const)),
    ...(replay.projection.registryAuthoritative ? [] : (['registry-partial'] as const)),
    ...(skipped === 0 ? [] : ([`skipped=${skipped}`] as const)),
  ];
}
