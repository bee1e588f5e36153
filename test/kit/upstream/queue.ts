import { randomUUID } from 'node:crypto';

/** What a sender gave. */
export interface Signal {
  readonly from?: string;
  readonly body?: string;
  readonly urgent?: boolean;
}

/** What a surface gets when it drains. */
export interface SignalItem {
  readonly id: string;
  readonly from: string;
  readonly body: string;
  readonly urgent: boolean;
  /** ISO 8601. */
  readonly created: string;
}

/** What a peek says: no ids, no content (persona daemon, contract 2). */
export interface Pending {
  readonly rev: number;
  readonly count: number;
  readonly oldest_at: string | null;
}

export interface QueueDrain {
  readonly rev: number;
  readonly items: readonly SignalItem[];
  readonly remaining: number;
}

/** The durable queue of one persona, in memory: its revision rises with every signal and every drain that took one. */
export interface SignalQueue {
  readonly rev: number;
  /** Every id that a drain gave away, in order: one that stands here twice was drained twice. */
  readonly drainedIds: readonly string[];
  add(signal: Signal, created: string): string;
  pending(): Pending;
  drain(max: number): QueueDrain;
  /** A server that lost its memory: the revision begins lower. */
  setRev(rev: number): void;
}

export function signalQueue(): SignalQueue {
  const items: SignalItem[] = [];
  const drainedIds: string[] = [];
  let rev = 0;
  return {
    get rev() {
      return rev;
    },
    drainedIds,
    add({ from = 'river', body = 'a signal', urgent = false }, created) {
      const id = randomUUID();
      items.push({ id, from, body, urgent, created });
      rev += 1;
      return id;
    },
    pending: () => ({ rev, count: items.length, oldest_at: items[0]?.created ?? null }),
    drain(max) {
      const accepted = items.splice(0, max);
      if (accepted.length > 0) rev += 1;
      drainedIds.push(...accepted.map(({ id }) => id));
      return { rev, items: accepted, remaining: items.length };
    },
    setRev: (to) => {
      rev = to;
    },
  };
}
