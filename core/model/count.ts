/** A number together with how well it is known. Unknown is never a number. */
export type Count = { readonly is: 'exact' | 'atLeast'; readonly n: number } | { readonly is: 'unknown' };

export const UNKNOWN: Count = { is: 'unknown' };

export function exactly(n: number): Count {
  return { is: 'exact', n };
}

export function isSameCount(a: Count, b: Count): boolean {
  return a.is === b.is && (a.is === 'unknown' || (b.is !== 'unknown' && a.n === b.n));
}

/** Adds counts. An unknown part makes the sum a lower bound; only unknown parts make it unknown. */
export function addCounts(counts: Iterable<Count>): Count {
  let n = 0;
  let known = 0;
  let exact = true;
  for (const c of counts) {
    if (c.is === 'unknown') {
      exact = false;
      continue;
    }
    known += 1;
    n += c.n;
    if (c.is === 'atLeast') exact = false;
  }
  if (known === 0 && !exact) return UNKNOWN;
  return { is: exact ? 'exact' : 'atLeast', n };
}
