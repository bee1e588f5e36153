/**
 * How much of a hive was seen: mail that a persona sends lies in the inbox of somebody else, so "it sent nothing" is as
 * good as the inbox that was looked at least.
 */
export interface Coverage {
  addInbox(persona: string): void;
  /** Its first look found the position: what comes after it is told. */
  setCursor(persona: string, cursor: number): void;
  markPolled(persona: string): void;
  markFailed(persona: string): void;
  /**
   * Now, at `at`, `newest` is known, and every look that was under way the last time is back. So those that come back from
   * now on began after that last time.
   */
  endRound(at: number, newest: number): void;
  /** Inboxes whose last look failed, or that were not looked at yet. */
  readonly unread: ReadonlySet<string>;
  /** Since when every inbox was looked at, monotonic; null: some are unread. */
  readonly since: number | null;
  /** Every inbox was looked at when this message was known; null likewise. */
  readonly upTo: number | null;
  /** Of every inbox, every message after this one was told; null: some have no position yet. */
  readonly floor: number | null;
}

interface Sight {
  readonly at: number;
  readonly newest: number;
}

const BEFORE_ANY: Sight = { at: Number.NEGATIVE_INFINITY, newest: 0 };

export function createCoverage(): Coverage {
  const inboxes = new Map<string, { cursor: number | null; sight: Sight | null }>();
  let rest = BEFORE_ANY;
  /** The one before: what comes back now began after it. */
  let begunAfter = BEFORE_ANY;
  /** The least of all; null as soon as one has none. */
  const findLeast = (getNumber: (sight: Sight) => number): number | null => {
    let leastNumber: number | null = null;
    for (const { sight } of inboxes.values()) {
      if (sight === null) return null;
      leastNumber = Math.min(leastNumber ?? Number.POSITIVE_INFINITY, getNumber(sight));
    }
    return leastNumber;
  };
  const change = (persona: string, now: { cursor?: number; sight?: Sight | null }): void => {
    const inbox = inboxes.get(persona);
    if (inbox !== undefined) Object.assign(inbox, now);
  };
  return {
    addInbox: (persona) => void inboxes.set(persona, { cursor: null, sight: null }),
    setCursor: (persona, cursor) => change(persona, { cursor }),
    markPolled: (persona) => change(persona, { sight: begunAfter }),
    markFailed: (persona) => change(persona, { sight: null }),
    endRound(at, newest) {
      begunAfter = rest;
      rest = { at, newest };
    },
    get unread() {
      return new Set([...inboxes].flatMap(([persona, { sight }]) => (sight === null ? [persona] : [])));
    },
    get since() {
      return findLeast(({ at }) => at);
    },
    get upTo() {
      return findLeast(({ newest }) => newest);
    },
    get floor() {
      let highest: number | null = null;
      for (const { cursor } of inboxes.values()) {
        if (cursor === null) return null;
        highest = Math.max(highest ?? 0, cursor);
      }
      return highest;
    },
  };
}
