/** Finds the name that a person most likely meant; null when none is close. At most a third of the letters may differ. */
export function findNearest(typed: string, names: readonly string[]): string | null {
  let best: { readonly name: string; readonly far: number } | null = null;
  for (const name of names) {
    const far = computeDistance(typed.slice(0, 64).toLowerCase(), name);
    if (far <= Math.max(1, Math.floor(name.length / 3)) && (best === null || far < best.far)) best = { name, far };
  }
  return best?.name ?? null;
}

/** Counts the edits from `a` to `b`: insert, delete, replace, or swap two neighbours. */
function computeDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const edits = [getCell(last, j) + 1, getCell(row, j - 1) + 1, getCell(last, j - 1) + same];
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits.push(getCell(before, j - 2) + 1);
      row.push(Math.min(...edits));
    }
    before = last;
    last = row;
  }
  return getCell(last, b.length);
}

function getCell(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
