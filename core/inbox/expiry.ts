import { Fault, type Instant } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import { type Database, openDeletionLimit, runLaterTransaction } from '../state/index.ts';

/** Deletes expired items. Each call is part of the caller's transaction and deletes at most `most` rows. */
export interface Expiry {
  /** Whether `sweep` has anything to delete. Costs next to nothing. */
  isDue(now: Instant): boolean;
  /** Deletes expired items that nobody read, so that they no longer count as unread. Leased items stay until the lease ends. */
  sweep(now: Instant, most: number): void;
  /** What `reap` would delete now; null: nothing. */
  reapable(now: Instant, olderThan: Instant): Reapable | null;
  /**
   * Deletes mail created before `olderThan`. Items with an expiry are deleted a day after delivery, or at expiry if not
   * delivered.
   */
  reap(now: Instant, olderThan: Instant, most: number): { readonly items: number; readonly more: boolean };
}

export interface Reapable {
  readonly count: number;
  /** How many of them are unread. */
  readonly unread: number;
  /** When the oldest and the newest of them were created. */
  readonly oldest: Instant;
  readonly newest: Instant;
}

/** How long an item that has an expiry is kept after its delivery, in milliseconds. */
const DELIVERED_RETENTION_MS = 86_400_000;

export function openExpiry(db: Database): Expiry {
  const due = 'expires_at <= ?1 AND read_at IS NULL AND (leased_until IS NULL OR leased_until <= ?1)';
  const over = `expires_at IS NOT NULL AND (delivered_at <= ?1 - ${DELIVERED_RETENTION_MS} OR
    (delivered_at IS NULL AND expires_at <= ?1 AND (leased_until IS NULL OR leased_until <= ?1)))`;
  const dueItems = `FROM inbox WHERE persona <> '' AND ${due}`;
  const dueAcks = `FROM broadcast_acks WHERE ${due}`;
  const isDue = db.prepare<{ due: number }>(
    `SELECT EXISTS (SELECT 1 ${dueItems}) OR EXISTS (SELECT 1 ${dueAcks}) AS due`,
  );
  const sweepItems = db.prepare(`DELETE FROM inbox WHERE seq IN (SELECT seq ${dueItems} LIMIT ?2)`);
  const acks = (which: string) =>
    db.prepare(`DELETE FROM broadcast_acks WHERE (persona, seq) IN (SELECT persona, seq ${which} LIMIT ?2)`);
  const sweepAcks = acks(dueAcks);
  const reapAcks = acks(`FROM broadcast_acks WHERE ${over}`);
  const reapableItems = `FROM inbox WHERE created < ?3 OR (persona <> '' AND ${over})
      OR (persona = '' AND expires_at <= ?1 AND NOT EXISTS (SELECT 1 FROM broadcast_acks AS a WHERE a.seq = inbox.seq))`;
  const reapItems = db.prepare(`DELETE FROM inbox WHERE seq IN (SELECT seq ${reapableItems} LIMIT ?2)`);
  const reapable = db.prepare<{ count: number; unread: number; oldest: number; newest: number }>(`
    SELECT count(*) AS count, min(created) AS oldest, max(created) AS newest, coalesce(sum(CASE WHEN persona = ''
      THEN EXISTS (SELECT 1 FROM broadcast_acks AS a WHERE a.seq = inbox.seq AND a.read_at IS NULL)
      ELSE read_at IS NULL END), 0) AS unread
    ${reapableItems.replaceAll('?3', '?2')}`);
  return {
    isDue: (now) => isDue.get(now)?.due === 1,
    sweep(now, most) {
      sweepItems.run(now, most);
      sweepAcks.run(now, most);
    },
    reapable(now, olderThan) {
      const summary = reapable.get(now, olderThan);
      return summary === undefined || summary.count === 0 ? null : summary;
    },
    reap(now, olderThan, most) {
      const acks = reapAcks.run(now, most).changes;
      const items = reapItems.run(now, most, olderThan).changes;
      return { items, more: acks === most || items === most };
    },
  };
}

/** Items deleted per transaction, so that no writer waits long. */
const SWEPT_AT_ONCE = 1000;

/**
 * Creates a function that deletes everything `sweep` can delete. A failure is logged once and retried at the next call: it must
 * not keep anybody from reading the rest.
 */
export function createSweeper(db: Database, expiry: Expiry, clock: Clock, log: Log): () => void {
  let failed = false;
  const limit = openDeletionLimit(db);
  return () => {
    const now = limit(Math.floor(clock.now()));
    try {
      while (expiry.isDue(now)) runLaterTransaction(db, () => expiry.sweep(now, SWEPT_AT_ONCE));
      failed = false;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (!failed) log.warn(`expired mail could not be deleted: ${error.explain()}`);
      failed = true;
    }
  };
}
