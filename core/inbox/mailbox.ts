import { formatIso, isSameName } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import { clearStamps, type Database, ringWaiters, runTransaction, toPendingDir, toWaitersDir } from '../state/index.ts';
import { DAMAGED_FROM, formatDamaged } from './continuity.ts';
import { type ItemType, OWN_KEYS, type Priority } from './item.ts';
import type { StoredRow } from './item-statements.ts';
import type { InboxRow } from './query.ts';

/** One message as a mail program lists it, with its whole text. */
export interface MailboxMessage extends InboxRow {
  readonly to: string;
  readonly type: ItemType;
  readonly priority: Priority;
  readonly urgent: boolean;
  /** The id of the message that this one answers, for what a person wrote through Hivebar; null: none, or not known. */
  readonly answers: number | null;
  /** What a person wrote through Hivebar in answer to this message, oldest first. It lies in the inbox of whoever it was sent to. */
  readonly replies: readonly SentReply[];
}

export interface SentReply {
  readonly id: number;
  readonly to: string;
  readonly content: string;
  readonly created: string;
}

/**
 * The part after `OWN_KEYS` of the key of what a person writes through Hivebar. It says which message is answered.
 * @param unique differs for each reply
 */
export function formatReplyKey(answers: number | null, unique: string): string {
  return `${REPLY}${answers ?? ''}:${unique}`;
}

const REPLY = 'reply:';
const REPLY_KEY = new RegExp(`^${OWN_KEYS}${REPLY}(\\d+):`);

/** What a person does with the mail of a persona: looks through all of it, marks it as unread, and deletes it. */
export interface Mailbox {
  /** All messages older than `before` (null: from the newest), newest first. Reads only as many as the caller takes. */
  older(persona: string, before: number | null): Iterable<MailboxMessage>;
  /**
   * Marks messages as unread. They wait for the agent again, as if they had just come, but followers are not told twice. Mail that
   * expired and mail to oneself stay as they are. Returns how many changed.
   */
  markUnread(persona: string, ids: readonly number[]): number;
  /**
   * Deletes messages from this inbox, read or not. A broadcast stays in every other inbox. What is deleted is gone, also for the
   * agent. Returns how many there were.
   */
  remove(persona: string, ids: readonly number[]): number;
}

interface MailboxRow extends StoredRow {
  readonly dedup_key: string;
  readonly type: ItemType;
  readonly priority: Priority;
}

/** How many rows one statement reads. */
const BATCH = 50;

/** Expects that the tables exist. @param isWhole whether a message matches its checksum */
export function openMailbox(db: Database, clock: Clock, isWhole: (id: number) => boolean): Mailbox {
  const columns = (state: string): string =>
    `i.seq AS id, i.from_, i.content, i.urgent, i.created, ${state}.read_at, i.origin, i.type, i.priority, i.dedup_key`;
  const own = `SELECT ${columns('i')} FROM inbox AS i WHERE i.persona = ?1`;
  const toAll = `SELECT ${columns('a')} FROM broadcast_acks AS a CROSS JOIN inbox AS i ON i.seq = a.seq WHERE a.persona = ?1`;
  const older = db.prepare<MailboxRow>(
    `${own} AND i.seq < ?2 UNION ALL ${toAll} AND a.seq < ?2 ORDER BY id DESC LIMIT ${BATCH}`,
  );
  const byId = db.prepare<MailboxRow>(`${own} AND i.seq = ?2 UNION ALL ${toAll} AND a.seq = ?2`);
  const replies = db.prepare<{ id: number; persona: string; content: string; created: number }>(`
    SELECT seq AS id, persona, content, created FROM inbox INDEXED BY inbox_own_words
    WHERE origin IS NOT NULL AND dedup_key > ?1 || ':' AND dedup_key < ?1 || ';' ORDER BY seq`);
  const where = 'WHERE persona = ?1 AND seq = ?2';
  const reopen = (table: string) =>
    db.prepare(`UPDATE ${table} SET read_at = NULL, delivered_at = NULL, lease = NULL, leased_until = NULL
      ${where} AND read_at IS NOT NULL AND (expires_at IS NULL OR expires_at > ?3)`);
  const reopenOwn = reopen('inbox');
  const reopenToAll = reopen('broadcast_acks');
  // No trigger counts this direction.
  const count =
    db.prepare(`UPDATE personas SET unread = unread + 1, urgent = urgent + ?2, agent_unread = agent_unread + ?3,
    agent_urgent = agent_urgent + ?2 * ?3, rev = (SELECT max(rev) + 1 FROM personas) WHERE name = ?1`);
  const deleteOwn = db.prepare(`DELETE FROM inbox ${where}`);
  const deleteToAll = db.prepare(`DELETE FROM broadcast_acks ${where}`);
  const touch = db.prepare('UPDATE personas SET rev = (SELECT max(rev) + 1 FROM personas) WHERE name = ?');

  function toMessage(row: MailboxRow, persona: string): MailboxMessage {
    const { id, from_: from, content, origin, type, priority } = row;
    const about = { id, to: persona, created: formatIso(row.created), read: row.read_at !== null };
    const answers = origin === null ? null : Number(REPLY_KEY.exec(row.dedup_key)?.[1] ?? 0) || null;
    const marks = { type, priority, urgent: row.urgent === 1, answers, replies: listReplies(id) };
    if (!isWhole(id)) return { ...about, ...marks, from: DAMAGED_FROM, content: formatDamaged(id) };
    return { ...about, ...marks, from, content, ...(origin === null ? {} : { origin }) };
  }

  function listReplies(id: number): readonly SentReply[] {
    return replies.all(`${OWN_KEYS}${REPLY}${id}`).map((row) => {
      const content = isWhole(row.id) ? row.content : formatDamaged(row.id);
      return { id: row.id, to: row.persona, content, created: formatIso(row.created) };
    });
  }

  function reopenOne(persona: string, id: number, now: number): number {
    const row = byId.get(persona, id);
    if (row === undefined || isSameName(row.from_, persona)) return 0;
    const changes = reopenOwn.run(persona, id, now).changes === 0 ? reopenToAll.run(persona, id, now).changes : 1;
    if (changes > 0) count.run(persona, row.urgent, row.origin === null ? 0 : 1);
    return changes;
  }

  return {
    *older(persona, before) {
      for (let next = before ?? Number.MAX_SAFE_INTEGER, hasMore = true; hasMore; ) {
        const rows = older.all(persona, next);
        for (const row of rows) yield toMessage(row, persona);
        next = rows.at(-1)?.id ?? next;
        hasMore = rows.length === BATCH;
      }
    },
    markUnread: (persona, ids) =>
      runTransaction(db, () => {
        const now = Math.floor(clock.now());
        const marked = ids.reduce((sum, id) => sum + reopenOne(persona, id, now), 0);
        if (marked > 0) {
          clearStamps(toPendingDir(db.path), [persona]);
          ringWaiters(toWaitersDir(db.path), [persona]);
        }
        return marked;
      }),
    remove: (persona, ids) =>
      runTransaction(db, () => {
        const removed = ids.reduce(
          (sum, id) => sum + deleteOwn.run(persona, id).changes + deleteToAll.run(persona, id).changes,
          0,
        );
        if (removed > 0) touch.run(persona);
        return removed;
      }),
  };
}
