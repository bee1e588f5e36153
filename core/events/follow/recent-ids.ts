/** The newest event ids that were handed over, a bounded number of them. */
export interface RecentIds {
  has(id: string): boolean;
  add(id: string): void;
}

/** How many are known at least, once there were as many: more than five archives of mail have lines at the default size. */
const KNOWN = 1 << 17;

/** Two halves, of which the older is forgotten as a whole: no order is kept, and a look-up is two at most. */
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
