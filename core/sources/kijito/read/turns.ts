/** How many items are processed in one turn of the event loop. */
const AT_ONCE = 400;

/** Resolves when other work has had a turn. */
export type YieldTurn = () => Promise<void>;

/** Maps a short list at once, and a long one in parts, between which other work has a turn. */
export function mapInTurns<A, B>(
  items: readonly A[],
  turn: YieldTurn,
  make: (item: A, index: number) => B,
): B[] | Promise<B[]> {
  return items.length > AT_ONCE ? mapWithYields(items, turn, make) : items.map((item, index) => make(item, index));
}

async function mapWithYields<A, B>(
  items: readonly A[],
  turn: YieldTurn,
  make: (item: A, index: number) => B,
): Promise<B[]> {
  const results: B[] = [];
  for (const [index, item] of items.entries()) {
    if (index % AT_ONCE === 0) await turn();
    results.push(make(item, index));
  }
  return results;
}
