import type { Instant } from '../model/index.ts';

/**
 * The inbox as hooks see it: an item is a message with everything that decides when it is shown to which session, and
 * whether it was (inbox and gates, seed "Inbox"; contract 2 and 3). Mail that was sent is an item of type `mail`.
 */

/** What a producer calls what it pushes; a closed set. */
export const ITEM_TYPES = ['decision', 'alert', 'event', 'agent', 'mail', 'gate', 'system'] as const;
export type ItemType = (typeof ITEM_TYPES)[number];

/** 0 critical (never deferred), 1 high, 2 normal, 3 low, 4 bulk. Not given is 2; 0 and 1 count as urgent. */
export type Priority = 0 | 1 | 2 | 3 | 4;

/** To one persona, or to all: then each has it until that persona itself acknowledged it. */
export type Addressee = { readonly is: 'persona'; readonly name: string } | { readonly is: 'everyone' };

/** An item as a producer gives it. */
export interface NewItem {
  readonly to: Addressee;
  readonly type: ItemType;
  /** The producer: a persona, or a program. */
  readonly source: string;
  readonly content: string;
  readonly priority: Priority;
  /** Only for this session of the persona; null: for whichever comes first. */
  readonly session: string | null;
  readonly created: Instant;
  /** Not shown any more from then on; null: never. */
  readonly expires: Instant | null;
  /**
   * The same key is the same item of a persona, whoever pushes it and how often; null: unlike any other. A persona has it as
   * an item of its own or by a broadcast. An item that expired and was never shown does not count, nor an expired broadcast.
   */
  readonly dedupKey: string | null;
}

/** An item of Hivebar itself. */
export type OwnItem = Omit<NewItem, 'to' | 'dedupKey'> & { readonly persona: string; readonly key: string };

/** Who vouches for an item: Hivebar itself. What anybody else sends has none, whatever it says. */
export type ItemOrigin = 'hivebar';

/** Keys that begin so are for what Hivebar itself says; whatever the case, nobody else can push one. */
export const OWN_KEYS = 'hivebar:';

export interface PushResult {
  /** The public message id. */
  readonly id: number;
  readonly dedupKey: string;
  /** False: it was there already, and nothing was stored. */
  readonly isNew: boolean;
}

/** An item as it is kept, for one persona. */
export interface Item extends Omit<NewItem, 'to' | 'dedupKey'> {
  readonly id: number;
  readonly persona: string;
  readonly dedupKey: string;
  readonly isBroadcast: boolean;
  readonly origin: ItemOrigin | null;
  /**
   * Somebody read it in the inbox: another matter than `delivered`, which says that a session was shown it. What was read
   * is not pending any more.
   */
  readonly read: Instant | null;
  readonly delivered: Instant | null;
}

/** Items that nobody else is shown for a while. */
export interface Lease {
  readonly id: string;
  readonly persona: string;
  /** By priority, then time, then id. */
  readonly items: readonly Item[];
  /** Pending items for the same session that are not in it, of any priority; 1,000 stands for as many or more. */
  readonly left: number;
}

export interface LeaseRequest {
  readonly persona: string;
  /** Items for another session are not given; null: only those for any. */
  readonly session: string | null;
  /** Only items this urgent or more: 1 for priority 0 and 1. */
  readonly upTo: Priority;
  /** As many at most, beyond which only priority 0 goes. */
  readonly most: number;
  /** How long they are its own; then they are pending again. */
  readonly forMs: number;
}

export interface AwaitedSession {
  readonly persona: string;
  readonly session: string;
  readonly since: Instant;
}

export type ItemFilter = 'pending' | 'delivered' | 'all';

/** The items of the local hive. Every method throws Fault `database` or `no-space` when that fails. */
export interface Items {
  /** In one transaction, durable when it returns. @throws Fault `usage`, also for a key that begins with `OWN_KEYS` */
  push(items: readonly NewItem[]): readonly PushResult[];
  /**
   * What Hivebar itself says to a persona: `key` is the part behind `OWN_KEYS`. Saying the same again is not new.
   * @throws Fault `internal` when something else has the key: an answer is never taken for one that was there
   */
  pushOwn(item: OwnItem): PushResult;
  /** The newest `limit`, newest last, for whichever session. Expired, read and leased items are not pending. */
  list(persona: string, which: ItemFilter, limit: number): readonly Item[];
  /**
   * How many are pending, by priority: those for any session, and those for `session`. Leased ones are not. 1,000 of a
   * priority stands for as many or more, so that it costs the same then.
   */
  pending(persona: string, session: string | null): readonly [number, number, number, number, number];
  /** Who asks has appeared as a persona, if there is a broadcast for it. */
  lease(request: LeaseRequest): Lease;
  /**
   * These were shown: read and delivered from now on, by this persona, also when the lease had lapsed meanwhile. The rest of
   * the lease is pending again.
   */
  markDelivered(lease: Lease, shownIds: readonly number[]): void;
  /** Nothing was shown: all of it is pending again at once. */
  release(lease: Lease): void;
  /** Sessions that items wait for, which are for nobody else. `since` is when the first of them was made. */
  awaitedSessions(): readonly AwaitedSession[];
  /** The session is over: what waits for it is for whichever session of the persona comes first. How many items those are. */
  endSession(persona: string, session: string): number;
}
