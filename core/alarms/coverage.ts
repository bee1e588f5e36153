/**
 * How much of a hive was seen. Mail that a persona sends lies in the inbox of somebody else. So "it sent nothing" is
 * only as reliable as the inbox that was polled least recently.
 */
export interface Coverage {
  addInbox(persona: string): void;
  /** Records the position that the first poll found. Everything after it is delivered. */
  setCursor(persona: string, cursor: number): void;
  markPolled(persona: string): void;
  markFailed(persona: string): void;
  /**
   * Ends a round at `at`, when `newest` is the newest known message and every poll of the last round is back. So polls
   * that return from now on began after the last round.
   */
  endRound(at: number, newest: number): void;
  /** Inboxes whose last poll failed, or that were not polled yet. */
  readonly unread: ReadonlySet<string>;
  /** Since when every inbox has been polled, monotonic; null: some were not. */
  readonly since: number | null;
  /** Every inbox was polled when this message was known; null: some were not. */
  readonly upTo: number | null;
  /** In every inbox, every message after this one was delivered; null: some have no position yet. */
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
  /** The round before. Polls that return now began after it. */
  let begunAfter = BEFORE_ANY;
  /** Returns the least number of all inboxes; null as soon as one has none. */
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
