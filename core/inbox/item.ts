import { Fault, type Instant } from '../model/index.ts';

/**
 * The inbox as hooks see it. An item is a message with everything that decides which session is shown it and when, and whether it
 * was shown (inbox and gates, seed "Inbox"; contract 2 and 3). Mail that was sent is an item of type `mail`.
 */

/** The types of an item; a closed set. The producer chooses one. */
export const ITEM_TYPES = ['decision', 'alert', 'event', 'agent', 'mail', 'gate', 'system'] as const;
export type ItemType = (typeof ITEM_TYPES)[number];

/** 0 critical (never deferred), 1 high, 2 normal, 3 low, 4 bulk. The default is 2; 0 and 1 count as urgent. */
export type Priority = 0 | 1 | 2 | 3 | 4;

/** One persona, or all. A broadcast stays pending for each persona until that persona itself acknowledged it. */
export type Addressee = { readonly is: 'persona'; readonly name: string } | { readonly is: 'everyone' };

/** An item as a producer pushes it. */
export interface NewItem {
  readonly to: Addressee;
  readonly type: ItemType;
  /** The producer: a persona, or a program. */
  readonly source: string;
  readonly content: string;
  readonly priority: Priority;
  /** Only this session of the persona gets the item; null: whichever session comes first. */
  readonly session: string | null;
  readonly created: Instant;
  /** From then on the item is not shown any more; null: never. */
  readonly expires: Instant | null;
  /**
   * A persona gets an item with the same key only once, whoever pushes it and how often; null: a unique key. The persona has it
   * as its own item or through a broadcast. An item that expired and was never shown does not count, nor does an expired
   * broadcast.
   */
  readonly dedupKey: string | null;
}

/** An item that Hivebar itself pushes. */
export type OwnItem = Omit<NewItem, 'to' | 'dedupKey'> & { readonly persona: string; readonly key: string };

/** Who vouches for an item: Hivebar itself. Items from anybody else have no origin, whatever they say. */
export type ItemOrigin = 'hivebar';

/** The prefix of keys that only Hivebar itself can push, in any case. */
export const OWN_KEYS = 'hivebar:';

export interface PushResult {
  /** The public message id. */
  readonly id: number;
  readonly dedupKey: string;
  /** False: the item existed already, and nothing was stored. */
  readonly isNew: boolean;
}

/** A stored item, for one persona. */
export interface Item extends Omit<NewItem, 'to' | 'dedupKey'> {
  readonly id: number;
  readonly persona: string;
  readonly dedupKey: string;
  readonly isBroadcast: boolean;
  readonly origin: ItemOrigin | null;
  /**
   * When somebody read the item in the inbox. This differs from `delivered`, which says that a session was shown the item. An
   * item that was read is no longer pending.
   */
  readonly read: Instant | null;
  readonly delivered: Instant | null;
}

/** Items that are reserved for one caller for a while. */
export interface Lease {
  readonly id: string;
  readonly persona: string;
  /** By priority, then time, then id. */
  readonly items: readonly Item[];
  /** Pending items of any priority for the same session outside the lease; 1,000 stands for as many or more. */
  readonly left: number;
}

export interface LeaseRequest {
  readonly persona: string;
  /** Excludes items for another session; null: only items for any session. */
  readonly session: string | null;
  /** Only items of this priority or more urgent: 1 for priority 0 and 1. */
  readonly upTo: Priority;
  /** The most items of the lease. Beyond that, only items of priority 0 are added. */
  readonly most: number;
  /** How long the lease lasts, in milliseconds; then the items are pending again. */
  readonly forMs: number;
}

export interface AwaitedSession {
  readonly persona: string;
  readonly session: string;
  readonly since: Instant;
}

export type ItemFilter = 'pending' | 'delivered' | 'all';

/** The items of the local hive. Every method throws Fault `database` or `no-space` if that fails. */
export interface Items {
  /** Stores the items in one transaction, durably. @throws Fault `usage`, also for a key that begins with `OWN_KEYS` */
  push(items: readonly NewItem[]): readonly PushResult[];
  /**
   * Pushes an item of Hivebar itself: `key` is the part after `OWN_KEYS`. Pushing the same item again is not new.
   * @throws Fault `internal` if another item has the key: an answer must never be mistaken for an existing one
   */
  pushOwn(item: OwnItem): PushResult;
  /** The newest `limit` items, newest last, for any session. Expired, read and leased items are not pending. */
  list(persona: string, which: ItemFilter, limit: number): readonly Item[];
  /** Null: the persona has no such item. */
  find(persona: string, id: number): Item | null;
  /**
   * How many items are pending, by priority: those for any session, and those for `session`. Leased items do not count. 1,000
   * stands for as many or more, which bounds the cost.
   */
  pending(persona: string, session: string | null): readonly [number, number, number, number, number];
  /** When the persona was last shown items here; null: never. */
  shownAt(persona: string): Instant | null;
  /** Leases pending items. The persona is created if there is a broadcast for it. */
  lease(request: LeaseRequest): Lease;
  /**
   * Marks these items as read and delivered by this persona, even if the lease has lapsed. The rest of the lease is pending
   * again.
   */
  markDelivered(lease: Lease, shownIds: readonly number[]): void;
  /** Ends a lease of which nothing was shown: all its items are pending again at once. */
  release(lease: Lease): void;
  /** Sessions with items that are for them alone. `since` is when the first of these items was created. */
  awaitedSessions(): readonly AwaitedSession[];
  /** Ends a session: its items are now for the persona's next session. Returns how many items. */
  endSession(persona: string, session: string): number;
}

/**
 * Parsers for the fields of an item, the same for every origin. The command line and HTTP refuse wrong values. A queue and the
 * relay cannot answer their sender, so they take the nearest valid value.
 */

/** Names that the oldest writers used for a message from one agent to another. */
const OLD_TYPES: Readonly<Record<string, ItemType>> = { nudge: 'agent' };
const SPANS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @param field the sender's name for it. @throws Fault `usage` */
export function parseType(field: string, value: unknown): ItemType {
  const type = ITEM_TYPES.find((known) => known === value);
  if (type === undefined) throw createRefusal(field, value, `one of ${ITEM_TYPES.join(', ')}`);
  return type;
}

/** Parses a priority from a number, or from the digit as text. @throws Fault `usage` */
export function parsePriority(field: string, value: unknown): Priority {
  const isDigit = /^[0-4]$/.test(String(value)) && (typeof value === 'string' || typeof value === 'number');
  if (!isDigit) throw createRefusal(field, value, 'a number from 0 (critical) to 4 (bulk)');
  return Number(value) as Priority;
}

/** Parses how long an item is shown, in milliseconds: `30s`, `10m`, `2h`, `1d`, or a number of seconds. @throws Fault `usage` */
export function parseTtl(field: string, value: unknown): number {
  const text = typeof value === 'number' ? `${value}s` : value;
  const [, count, unit = ''] = (typeof text === 'string' ? /^(\d{1,9})([smhd])$/.exec(text) : null) ?? [];
  const ms = Number(count) * (SPANS[unit] ?? Number.NaN);
  if (!(ms > 0)) throw createRefusal(field, value, 'a duration, for example 30s, 10m, 2h or 1d');
  return ms;
}

/** An absent or unknown type becomes `event`. */
export function toNearestType(value: unknown): ItemType {
  const known = ITEM_TYPES.find((type) => type === value);
  if (known !== undefined) return known;
  return typeof value === 'string' && Object.hasOwn(OLD_TYPES, value) ? (OLD_TYPES[value] ?? 'event') : 'event';
}

/**
 * An absent priority, or one that is not a number, becomes 2, never critical (contract 2). Values outside the range are clamped.
 */
export function toNearestPriority(value: unknown): Priority {
  if (typeof value !== 'number' || Number.isNaN(value)) return 2;
  return (Math.round(Math.min(4, Math.max(0, value))) + 0) as Priority;
}

function createRefusal(field: string, value: unknown, expected: string): Fault {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  const cut = text.length > 80 ? `${text.slice(0, 80)}...` : text;
  return new Fault('usage', `${field} ${cut.toWellFormed()}: must be ${expected}`, { is: 'machine', key: 'usage' });
}

/** A message with only what the watcher needs: the text is cut, null if none is wanted. */
export interface TrimmedMessage {
  readonly id: number;
  readonly from: string;
  readonly created: string;
  readonly content: string | null;
  readonly read: boolean;
  /** Hivebar itself says this; absent otherwise. */
  readonly origin?: ItemOrigin;
}
