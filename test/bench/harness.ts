/** One line of what the program must reach. */
export interface Bench {
  /** What is measured, as the table says it. */
  readonly name: string;
  /** What it must reach, in words: `<= 1.5 x the floor`. */
  readonly bar: string;
  /** Measures it, and its floor in the same run: the machine's own noise is in both. */
  run(): Promise<Measurement>;
}

export interface Measurement {
  /** As a person reads it, with its unit: `1.2 / 8.4 ms`. */
  readonly figure: string;
  /** The least that this machine could do just now, or why there is no floor. */
  readonly floor: string;
  /** Whether the figure keeps the bar. */
  readonly met: boolean;
}

/** For a `*.bench.ts`: `export const benches = [bench(...), ...]`. */
export function bench(name: string, bar: string, run: () => Promise<Measurement>): Bench {
  return { name, bar, run };
}

/**
 * The value that the share `p` of all samples does not exceed (nearest rank); 0.5 is the median.
 * @throws RangeError without samples
 */
export function quantile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('no samples');
  return value;
}

/** Milliseconds with three digits that count. */
export function ms(value: number): string {
  return `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ms`;
}

/** The rows as a table whose columns line up. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
