import { type Count, exactly, formatIso, type Instant, isSameName } from '../model/index.ts';
import type { Clock, Log } from '../ports/index.ts';
import {
  type CommitSchedule,
  clearStamps,
  createCommitSchedule,
  createGroupCommit,
  type Database,
  migrate,
  ringWaiters,
  runTransaction,
  toPendingDir,
  toWaitersDir,
} from '../state/index.ts';
import { computeMailSum, DAMAGED_FROM, formatDamaged, openSeals } from './continuity.ts';
import type { Items, Priority, TrimmedMessage } from './item.ts';
import { type HeadRow, prepareHiveStatements, type StoredRow, toHeadText } from './item-statements.ts';
import { createSweeper, openExpiry, openItems, type Reapable } from './items.ts';
import { openLevelTracker, type UnreadLevel, type UnreadLevels } from './levels.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { type NewMessage, parseNewMessage, parseSentItem } from './new-item.ts';
import { cutText, type InboxAnswer, type InboxQuery, type InboxRow, toRowPage } from './query.ts';
import { openRecentMessages } from './recent.ts';
import { openRemotePersonas, type RemotePersonas } from './remote-personas.ts';
import { INBOX_SCHEMA } from './schema.ts';

export interface LocalHiveOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** How much text `window` and `list` show per message, in code points; null: none. */
  readonly contentChars: number | null;
  /** Called each time a damaged message is read, with how many were found so far. */
  readonly onDamaged?: (count: number) => void;
  /** When the writes of one event-loop turn are committed; see `createGroupCommit`. */
  readonly later?: CommitSchedule;
}

export interface SendResult {
  readonly id: number;
  readonly to: string;
  /** False: the item existed already under its key. Absent: it had no key. */
  readonly new?: boolean;
}

export interface LocalInboxWindow {
  /** All messages above the cursor, ascending. */
  readonly messages: readonly TrimmedMessage[];
  /** The largest id this inbox ever had, 0 if it never had any. It stays when the mail has been deleted. */
  readonly max: number;
  readonly unread: Count;
  readonly urgent: Count;
}

/** One message in full. */
export interface InboxMessage extends InboxRow {
  readonly to: string;
  readonly urgent: boolean;
}

export interface MessageMarks {
  readonly isUrgent: boolean;
  readonly priority: Priority;
  readonly isRead: boolean;
}

/** These messages, all unread ones, or the unread ones up to an id. */
type InboxSelection = readonly number[] | 'all' | { readonly upTo: number };

/**
 * The local hive: mail of this machine's agents, in Hivebar's own database. Only methods named "read" or "mark" change what is
 * read. Items of all types are mail, and a broadcast is one message in every inbox, under the same id.
 *
 * Mail to oneself (the same name, in any case) is stored as read. The Kijito contract says that such mail is not unread, and also
 * that the pending counts are those of the rows with `read: false`. Storing it as read satisfies both.
 *
 * Every method that touches the database throws, or rejects with, Fault `database` or `no-space` if that fails.
 */
export interface LocalHive extends Mailbox, Disposable {
  /** The same messages as hooks see them. */
  readonly items: Items;
  /**
   * Stores what a client sent, see `parseNewMessage` and `parseSentItem`. Resolves when it is on the disk. Plain mail that is
   * sent in one event-loop turn shares one flush. @throws Fault `usage` (as a rejection).
   */
  send(mail: unknown): Promise<SendResult>;
  /** Stores one message synchronously, for a process that has no turn to share. @throws Fault `usage`. */
  sendNow(mail: NewMessage): SendResult;
  inbox(query: InboxQuery): InboxAnswer;
  /**
   * All messages above `after`; null asks for no messages, only for the state of the inbox. An unknown address is an empty inbox.
   * If another process reads a message, `unread` changes at once, but `read` only after the next `changedElsewhere`.
   */
  window(address: string, after: number | null, signal: AbortSignal): LocalInboxWindow;
  /**
   * The unread counts. With `hold`, waits until they differ from those of its cursor, until `ms` passed, or until `signal`
   * aborts. Never rejects for an abort.
   */
  pending(hold: { readonly cursor: string; readonly ms: number } | null, signal: AbortSignal): Promise<UnreadLevels>;
  /** The personas by name, without those of another machine. A persona exists from its first mail on. */
  personas(): readonly { readonly name: string; readonly created: Instant }[];
  /**
   * Calls `wake` after each commit that changed an inbox, before the sender gets its result. Mail that is sent in groups is
   * reported some milliseconds later, for all groups together. `first`: runs before the others; use it only to pass the hint on.
   */
  hints(wake: (address: string) => void, order?: 'first'): Disposable;
  /**
   * Finds what other processes changed, and gives hints of it. Deletes unread mail that expired, which changes the counts. Cheap
   * if nothing changed.
   */
  changedElsewhere(): readonly string[];
  /** The personas that live on another machine and not here. They are not in `personas` and have no unread mail here. */
  readonly elsewhere: Pick<RemotePersonas, 'has' | 'drainedSince'>;
  /** Sets which personas live on other machines, replacing the previous set. @throws Fault `database` */
  setElsewhere(names: ReadonlySet<string>): void;
  /** Calls `wake` with each persona that moved to another machine, or back. */
  moves(wake: (address: string) => void): Disposable;
  /**
   * Marks messages as read. Returns how many were unread until now.
   * @param by a person: what Hivebar itself said to the agent stays unread, so that a person who marks all takes no answer from it
   */
  markRead(persona: string, which: InboxSelection, by?: 'person'): number;
  /** The newest `limit` messages, newest first, text cut. */
  list(persona: string, limit: number): readonly TrimmedMessage[];
  show(persona: string, id: number): InboxMessage | null;
  /** What a list shows of a message beside its text; null when it is not stored. */
  findMarks(persona: string, id: number): MessageMarks | null;
  /**
   * Deletes mail created before `olderThan`, read or not. Items with an expiry are deleted when they expire, or a day after their
   * delivery. Returns how many messages were deleted, and logs a summary.
   * @param at the current time, from a clock that cannot jump, see `openRetentionClock`
   */
  reap(olderThan: Instant, at?: Instant): number;
}

/** How long mail is kept unless the configuration says otherwise, in milliseconds. */
export const MAIL_RETENTION_MS = 30 * 86_400_000;

/** Answers to `GET /api/inbox` stay below 120 KiB, because parsing costs more above that. This is the share of the rows. */
const ROWS_BUDGET = 120 * 1024 - 512;
const NO_UNREAD: UnreadLevel = { unread: exactly(0), urgent: exactly(0) };
/** Mail that is sent in groups is reported together: this much later per message of the first group, up to a maximum. */
const CROWD_MS = 5;
const MOST_CROWD_MS = 50;
/** How long a group waits for senders who are about to send again: about as long as a flush. */
const PATIENCE_MS = 0.5;
/** Rows deleted per transaction, so that no writer waits long. */
const REAP_AT_ONCE = 1000;

export function openLocalHive(options: LocalHiveOptions): LocalHive {
  const { db, clock, log, contentChars, later = createCommitSchedule(PATIENCE_MS), onDamaged = () => {} } = options;
  migrate(db, 'inbox', INBOX_SCHEMA);
  const expiry = openExpiry(db);
  const sweep = createSweeper(db, expiry, clock, log);
  sweep();
  const levels = openLevelTracker(db, clock, log);
  const elsewhere = openRemotePersonas(db);
  const movers = new Set<{ readonly wake: (address: string) => void }>();
  const sql = prepareHiveStatements(db);
  const seals = openSeals(db);
  const stamps = toPendingDir(db.path);
  const waiters = toWaitersDir(db.path);
  /** Enough bytes for that many code points of any kind. */
  const headBytes = contentChars === null ? null : contentChars * 4;
  const recent = openRecentMessages(db, headBytes, toTrimmedMessage);
  const damaged = new Set<number>();
  const mailbox = openMailbox(db, clock, (id) => isWhole(id));
  /** The counts read in this event-loop turn. Many windows that are asked for at once share them. */
  let turn: UnreadLevels | null = null;
  /** The timer for groups of mail that were not reported yet. */
  let soon: Disposable | null = null;
  const items = openItems({ db, clock, changed: announceChanges });
  const group = createGroupCommit((mails: readonly NewMessage[]) => deliver(mails), later);

  /** Reads the counts once per event-loop turn, after catching up with the newest mail. */
  function readLevels(): UnreadLevels {
    if (turn !== null) return turn;
    recent.catchUp();
    turn = levels.all();
    queueMicrotask(() => {
      turn = null;
    });
    return turn;
  }

  /** Logs before the deletion, because afterwards nothing is known of the mail. */
  function logReaped({ count, unread, oldest, newest }: Reapable): void {
    const description = `${count} expired ${count === 1 ? 'message' : 'messages'}, ${unread} of them unread`;
    const text = `retention deletes ${description}; the oldest was created ${formatIso(oldest)}, the newest ${formatIso(newest)}`;
    if (unread > 0) log.warn(text);
    else log.info(text);
  }

  function findIds(persona: string, which: InboxSelection, by?: 'person'): readonly number[] {
    if (which !== 'all' && !('upTo' in which)) return which;
    const most = which === 'all' ? Number.MAX_SAFE_INTEGER : which.upTo;
    const isMarked = ({ id, origin }: { readonly id: number; readonly origin: string | null }): boolean =>
      id <= most && (by !== 'person' || origin === null);
    return sql.unreadIds
      .all(persona)
      .filter(isMarked)
      .map(({ id }) => id);
  }

  function announceChanges(): readonly string[] {
    soon?.[Symbol.dispose]();
    soon = null;
    turn = null;
    return levels.notice((persona) => recent.forget(persona));
  }

  function deliver(mails: readonly NewMessage[]): SendResult[] {
    const sent = runTransaction(db, () => {
      const now = Math.floor(clock.now());
      const first = sql.nextId.get()?.id ?? 1;
      const results = mails.map((mail, n) => insert(mail, first + n, now));
      const addressees = mails.map(({ to }) => to);
      clearStamps(stamps, addressees);
      ringWaiters(waiters, addressees);
      return results;
    });
    if (mails.length === 1) announceChanges();
    else announceSoon(Math.min(mails.length * CROWD_MS, MOST_CROWD_MS));
    return sent;
  }

  /** A crowd of senders keeps sending, so one report for several groups costs less than one for each. */
  function announceSoon(ms: number): void {
    turn = null;
    soon ??= clock.after(ms, () => {
      soon = null;
      announceChanges();
    });
  }

  function insert(mail: NewMessage, id: number, now: number): SendResult {
    const { to, from, content, urgent } = mail;
    const readAt = isSameName(from, to) ? now : null;
    sql.insert.run(to, from, urgent ? 1 : 0, now, readAt, content, id, computeMailSum(id, mail, now));
    return { id, to };
  }

  function markIds(persona: string, ids: readonly number[]): number {
    const now = Math.floor(clock.now());
    let marked = 0;
    for (const id of ids) {
      const { changes } = sql.markOne.run(now, persona, id);
      marked += changes === 0 ? sql.markOneToAll.run(now, persona, id).changes : changes;
    }
    return marked;
  }

  function toInboxRow(row: StoredRow): InboxRow {
    const { id, read_at: readAt, origin } = row;
    const about = { created: formatIso(row.created), read: readAt !== null };
    if (!isWhole(id)) return { id, from: DAMAGED_FROM, content: formatDamaged(id), ...about };
    return { id, from: row.from_, content: row.content, ...about, ...(origin === null ? {} : { origin }) };
  }

  function readAbove(address: string, after: number): HeadRow[] {
    const own = sql.above.all(headBytes, address, after);
    const toAll = sql.aboveToAll.all(headBytes, address, after);
    return toAll.length === 0 ? own : [...own, ...toAll].sort((a, b) => a.id - b.id);
  }

  /** Logged once per message, however often it is read. */
  function isWhole(id: number, isIntact: boolean | null = null): boolean {
    if (isIntact ?? seals.isWhole(id)) return true;
    if (!damaged.has(id)) log.error(`message ${id} in ${db.path} is damaged: it does not match its checksum`);
    damaged.add(id);
    onDamaged(damaged.size);
    return false;
  }

  function toTrimmedMessage(row: HeadRow, isIntact: boolean | null = null): TrimmedMessage {
    if (!isWhole(row.id, isIntact)) {
      const content = contentChars === null ? null : cutText(formatDamaged(row.id), contentChars);
      return { id: row.id, from: DAMAGED_FROM, created: formatIso(row.created), content, read: row.read_at !== null };
    }
    const head = toHeadText(row);
    const content = head === null || contentChars === null ? null : cutText(head, contentChars);
    return {
      id: row.id,
      from: row.from_,
      created: formatIso(row.created),
      content,
      read: row.read_at !== null,
      ...(row.origin === null ? {} : { origin: row.origin }),
    };
  }

  function answer({ persona, beforeId, limit, unreadOnly }: InboxQuery): InboxAnswer {
    const before = beforeId ?? Number.MAX_SAFE_INTEGER;
    const unread = unreadOnly ? 1 : 0;
    // A single row is given in full: this is how a message of any size is read.
    const budget = limit === 1 ? Number.POSITIVE_INFINITY : ROWS_BUDGET;
    const newest = sql.anyToAll.get(persona) === undefined ? sql.newest : sql.newestOfBoth;
    const page = toRowPage(map(newest.iterate(persona, before, unread, limit), toInboxRow), budget);
    const oldest = page.rows.at(-1)?.id ?? null;
    const inLimit = limit - page.rows.length;
    const beyond = oldest === null ? 0 : (sql.countBefore.get(persona, oldest, unread, inLimit + 1)?.n ?? 0);
    const unreadHere = page.rows.filter((row) => !row.read).length;
    const total = levels.unread(persona);
    return {
      result: page.rows,
      truncated: beyond > inLimit,
      size_dropped: page.full ? Math.min(beyond, inLimit) : 0,
      size_truncated: page.clipped,
      next_before_id: beyond > 0 ? oldest : null,
      unread_not_shown: beyond > 0 ? Math.max(0, total - unreadHere) : 0,
    };
  }

  return {
    items,
    async send(mail) {
      const item = parseSentItem(mail, Math.floor(clock.now()));
      if (item === null) return await group.add(parseNewMessage(mail));
      const [pushed] = items.push([item]);
      const sent = { id: pushed?.id ?? 0, to: parseNewMessage(mail).to };
      return item.dedupKey === null ? sent : { ...sent, new: pushed?.isNew === true };
    },
    sendNow(mail) {
      const [sent] = deliver([parseNewMessage(mail)]);
      return sent as SendResult;
    },
    inbox(query) {
      if (!query.markRead) return answer(query);
      const read = runTransaction(db, () => {
        const inboxAnswer = answer(query);
        const ids = inboxAnswer.result.filter((row) => !row.read).map((row) => row.id);
        markIds(query.persona, ids);
        return inboxAnswer;
      });
      announceChanges();
      return read;
    },
    window(address, after, signal) {
      signal.throwIfAborted();
      const { byAddress, lastIds } = readLevels();
      const { unread, urgent } = byAddress.get(address) ?? NO_UNREAD;
      const max = lastIds.get(address) ?? sql.lastId.get(address)?.last_id ?? 0;
      if (after === null) return { messages: [], max, unread, urgent };
      // The newest row may have expired, or come from another process in this turn, so the memory alone cannot tell.
      const known = recent.above(address, after);
      const isAll = known !== null && max <= (known.at(-1)?.id ?? after);
      const messages = isAll ? known : readAbove(address, after).map((row) => toTrimmedMessage(row));
      return { messages, max: Math.max(max, messages.at(-1)?.id ?? 0), unread, urgent };
    },
    async pending(hold, signal) {
      if (hold !== null) await levels.untilPast(hold.cursor, hold.ms, signal);
      return levels.all();
    },
    personas: () => sql.personas.all().map(({ name, created }) => ({ name, created })),
    hints: (wake, order) => levels.listen(wake, order),
    changedElsewhere() {
      sweep();
      return announceChanges();
    },
    elsewhere,
    setElsewhere(names) {
      const changed = elsewhere.set(names);
      if (changed.length === 0) return;
      announceChanges();
      for (const name of changed) for (const { wake } of movers) wake(name);
    },
    moves(wake) {
      const mover = { wake };
      movers.add(mover);
      return { [Symbol.dispose]: () => void movers.delete(mover) };
    },
    markRead(persona, which, by) {
      const marked = runTransaction(db, () => markIds(persona, findIds(persona, which, by)));
      announceChanges();
      return marked;
    },
    older: mailbox.older,
    markUnread(persona, ids) {
      const marked = mailbox.markUnread(persona, ids);
      announceChanges();
      return marked;
    },
    remove(persona, ids) {
      const removed = mailbox.remove(persona, ids);
      announceChanges();
      return removed;
    },
    list: (persona, limit) => sql.heads.all(headBytes, persona, limit).map((row) => toTrimmedMessage(row)),
    show(persona, id) {
      const row = sql.one.get(persona, id);
      return row === undefined ? null : { ...toInboxRow(row), to: persona, urgent: row.urgent === 1 };
    },
    findMarks(persona, id) {
      const row = sql.mark.get(persona, id);
      if (row === undefined) return null;
      return { isUrgent: row.urgent === 1, priority: row.priority, isRead: row.read_at !== null };
    },
    reap(olderThan, at = clock.now()) {
      const now = Math.floor(at);
      const reapable = expiry.reapable(now, Math.floor(olderThan));
      if (reapable !== null) logReaped(reapable);
      let reaped = 0;
      for (let hasMore = true; hasMore; ) {
        const batch = runTransaction(db, () => expiry.reap(now, Math.floor(olderThan), REAP_AT_ONCE));
        reaped += batch.items;
        hasMore = batch.more;
      }
      recent.forget(null);
      announceChanges();
      return reaped;
    },
    [Symbol.dispose]() {
      group.flush();
      soon?.[Symbol.dispose]();
      levels[Symbol.dispose]();
    },
  };
}

function* map<A, B>(items: Iterable<A>, turn: (item: A) => B): Iterable<B> {
  for (const item of items) yield turn(item);
}
