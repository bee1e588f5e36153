import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Counts by what was counted: `status --json: modules`. */
export type Counts = Readonly<Record<string, number>>;

const FILE = join(import.meta.dirname, 'counts.json');
/** A count may differ by this share: a time or a pid may have a digit more. */
const TOLERANCE = 0.05;

export const readSavedCounts = (): Counts => JSON.parse(readFileSync(FILE, 'utf8')) as Counts;

export function saveCounts(counts: Counts): void {
  const sorted = Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => a.localeCompare(b)));
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}

export interface Comparison {
  /** What costs more than is saved, or was never saved: a line each. */
  readonly regressions: readonly string[];
  /** What costs less: a line each. */
  readonly improvements: readonly string[];
}

/** Small counts may not grow at all: a share of them is less than one. */
export function compareCounts(saved: Counts, counted: Counts): Comparison {
  const entries = Object.entries(counted).map(([name, now]) => ({ name, now, before: saved[name] }));
  const toLine = ({ name, now, before }: (typeof entries)[number]): string => `${name}: ${now}, saved ${before}`;
  return {
    regressions: entries
      .filter(({ now, before }) => before === undefined || now > before * (1 + TOLERANCE))
      .map(toLine),
    improvements: entries
      .filter(({ now, before }) => before !== undefined && now < before * (1 - TOLERANCE))
      .map(toLine),
  };
}
