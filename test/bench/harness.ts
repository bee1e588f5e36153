/** Some lines of the tables, measured together. */
export interface Bench {
  /** What is measured, one name for each line. */
  readonly names: readonly string[];
  /** Whether the lines are those that the program must reach; they are measured several times. */
  readonly isGoal: boolean;
  /** Whether one run takes minutes, so that `--fast` leaves it out. */
  readonly isSlow: boolean;
  /** Measures it so often, and its floor in the same runs: the machine's own noise is in both. */
  measure(runs: number): Promise<readonly ResultLine[]>;
}

/** A line of a table, as a person reads it. */
export interface ResultLine {
  readonly name: string;
  /** With its unit: `1.2 / 8.4 ms`, and its spread where it was measured several times. */
  readonly figure: string;
  /** What it must reach: `<= 50 ms`. */
  readonly bar: string;
  /** The least that this machine could do just now, or why there is no floor. */
  readonly floor: string;
  /** Whether the figure keeps the bar. */
  readonly met: boolean;
}

export type Measurement = Pick<ResultLine, 'figure' | 'floor' | 'met'>;

/** A line that is measured once, and whose figure is a text: `bench(...)` of an `export const benches` of a `*.bench.ts`. */
export function bench(name: string, bar: string, run: () => Promise<Measurement>): Bench {
  const measure = async (): Promise<readonly ResultLine[]> => [{ name, bar, ...(await run()) }];
  return { names: [name], isGoal: false, isSlow: false, measure };
}

export type ValueUnit = 'ms' | '%' | 'MB' | 'MiB' | 'x' | 'per s' | 'per min' | 'missed' | 'of the window';

/** A line of "Must reach". */
export interface Goal {
  readonly name: string;
  /** `%` is a share of one core. */
  readonly unit: ValueUnit;
  /** What the median must not exceed, or reach where `isAtLeast` is set; null: the line is shown beside its neighbours. */
  readonly bar: number | null;
  readonly isAtLeast?: boolean;
}

/** What one run found out about a goal. */
export interface Sample {
  readonly value: number;
  /** The floor of the same run. */
  readonly floor?: Floor;
  /** More figures of the run; the table shows those of the median run. */
  readonly note?: string;
}

export interface Floor {
  readonly value: number;
  readonly unit: ValueUnit;
  /** What was done: `node -e 0`. */
  readonly what: string;
}

export interface GoalOptions {
  readonly isSlow?: boolean;
  /** The runs are made at the same time: for memory and for what a program costs that mostly waits. */
  readonly atOnce?: boolean;
}

/** Goals that one run measures together, in the order of its samples. */
export function goals(
  lines: readonly Goal[],
  run: () => Promise<readonly Sample[]>,
  { isSlow = false, atOnce = false }: GoalOptions = {},
): Bench {
  const measure = async (runs: number): Promise<readonly ResultLine[]> => {
    const samples: (readonly Sample[])[] = [];
    if (atOnce) samples.push(...(await Promise.all(Array.from({ length: runs }, () => run()))));
    else for (let n = 0; n < runs; n += 1) samples.push(await run());
    return lines.map((goal, i) =>
      toResultLine(
        goal,
        samples.flatMap((ofRun) => ofRun[i] ?? []),
      ),
    );
  };
  return { names: lines.map(({ name }) => name), isGoal: true, isSlow, measure };
}

/** The median of all runs, with the least and the most. @throws RangeError without samples */
export function toResultLine(goal: Goal, samples: readonly Sample[]): ResultLine {
  const median = quantile(
    samples.map(({ value }) => value),
    0.5,
  );
  const values = samples.map(({ value }) => value).sort((a, b) => a - b);
  const spread = values.length > 1 ? ` (${formatNumber(values[0] ?? 0)}–${formatNumber(values.at(-1) ?? 0)})` : '';
  const note = samples.find(({ value }) => value === median)?.note;
  const bar = goal.bar ?? (goal.isAtLeast === true ? -Infinity : Infinity);
  return {
    name: goal.name,
    figure: `${formatValue(median, goal.unit)}${spread}${note === undefined ? '' : `; ${note}`}`,
    bar: goal.bar === null ? '' : `${goal.isAtLeast === true ? '>=' : '<='} ${formatBar(goal.bar, goal.unit)}`,
    floor: formatFloor(samples.flatMap(({ floor }) => floor ?? [])),
    met: goal.isAtLeast === true ? median >= bar : median <= bar,
  };
}

function formatFloor(floors: readonly Floor[]): string {
  const [first] = floors;
  if (first === undefined) return 'none';
  const values = floors.map(({ value }) => value);
  return `${formatValue(quantile(values, 0.5), first.unit)} ${first.what}`;
}

function formatBar(value: number, unit: ValueUnit): string {
  return `${value.toLocaleString('en-US')} ${unit}`;
}

export function formatValue(value: number, unit: ValueUnit): string {
  return `${formatNumber(value)} ${unit}`;
}

/** Three digits that count, and never an exponent. */
function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(value < 1 ? 2 : 3)));
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
