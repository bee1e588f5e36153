/** The newest event ids that were returned, in bounded number. */
export interface RecentIds {
  has(id: string): boolean;
  add(id: string): void;
}

/** How many ids are remembered at least, once there were as many. At the default size, five archives of mail have fewer lines. */
const KNOWN = 1 << 17;

/** Keeps two halves and forgets the older one as a whole. So no order is stored, and a look-up tests two sets at most. */
export function createRecentIds(known: number = KNOWN): RecentIds {
  let newer = new Set<string>();
  let older: ReadonlySet<string> = new Set();
  return {
    has: (id) => newer.has(id) || older.has(id),
    add(id) {
      newer.add(id);
      if (newer.size < known) return;
      older = newer;
      newer = new Set();
    },
  };
}
