/** The whole numbers from `from` to `to`, both included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Returns the same numbers as few spans as possible, ascending, none touching the next. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

/** Finds the span that holds a number. `spans` must be in the form that `mergeSpans` returns. */
export function findSpan(spans: readonly Span[], n: number): Span | null {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const span = spans[middle];
    if (span !== undefined && span.to < n) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span !== undefined && span.from <= n ? span : null;
}
