/**
 * How much of a hive was seen: mail that a persona sends lies in the inbox of somebody else, so "it sent nothing" is as
 * good as the inbox that was looked at least.
 */
export interface Coverage {
  joined(persona: string): void;
  /** Its first look found the position: what comes after it is told. */
  armed(persona: string, cursor: number): void;
  looked(persona: string): void;
  failed(persona: string): void;
  /**
   * Now, at `at`, `newest` is known, and every look that was under way the last time is back. So those that come back from
   * now on began after that last time.
   */
  rested(at: number, newest: number): void;
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
  const least = (of: (sight: Sight) => number): number | null => {
    let found: number | null = null;
    for (const { sight } of inboxes.values()) {
      if (sight === null) return null;
      found = Math.min(found ?? Number.POSITIVE_INFINITY, of(sight));
    }
    return found;
  };
  const change = (persona: string, now: { cursor?: number; sight?: Sight | null }): void => {
    const inbox = inboxes.get(persona);
    if (inbox !== undefined) Object.assign(inbox, now);
  };
  return {
    joined: (persona) => void inboxes.set(persona, { cursor: null, sight: null }),
    armed: (persona, cursor) => change(persona, { cursor }),
    looked: (persona) => change(persona, { sight: begunAfter }),
    failed: (persona) => change(persona, { sight: null }),
    rested(at, newest) {
      begunAfter = rest;
      rest = { at, newest };
    },
    get unread() {
      return new Set([...inboxes].flatMap(([persona, { sight }]) => (sight === null ? [persona] : [])));
    },
    get since() {
      return least(({ at }) => at);
    },
    get upTo() {
      return least(({ newest }) => newest);
    },
    get floor() {
      let found: number | null = null;
      for (const { cursor } of inboxes.values()) {
        if (cursor === null) return null;
        found = Math.max(found ?? 0, cursor);
      }
      return found;
    },
  };
}
