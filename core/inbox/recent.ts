import type { Database } from '../state/index.ts';
import { HEAD, type HeadRow } from './statements.ts';
import type { TrimmedMessage } from './trimmed-message.ts';

/** The newest mail in memory: what a watcher asks for when it is woken by it is here already, and costs no statement. */
export interface RecentMessages {
  /** Reads what came since the last call, in one statement however many inboxes got something. */
  catchUp(): void;
  /** Every row of the inbox above `after`, ascending; null when the memory does not go back that far. */
  above(address: string, after: number): readonly TrimmedMessage[] | null;
  /** Rows of this inbox, or of all, may not be what they were: only what comes from here on is kept. */
  forget(address: string | null): void;
}

/** Beyond so many rows it begins anew. */
const MOST_ROWS = 2000;

interface Inbox {
  /** Complete above this id. */
  readonly base: number;
  readonly rows: TrimmedMessage[];
}

export function openRecentMessages(
  db: Database,
  headBytes: number | null,
  trimmed: (row: HeadRow) => TrimmedMessage,
): RecentMessages {
  const since = db.prepare<HeadRow & { persona: string }>(
    `SELECT persona, ${HEAD} FROM inbox WHERE seq > ? ORDER BY seq LIMIT ${MOST_ROWS + 1}`,
  );
  const newestId = db.prepare<{ id: number }>('SELECT coalesce(max(seq), 0) AS id FROM inbox');
  const acksByItem = db.prepare<{ persona: string; read_at: number | null }>(
    'SELECT persona, read_at FROM broadcast_acks WHERE seq = ?',
  );
  /** A new inbox begins with the broadcasts of before. */
  const broadcastBefore = db.prepare<{ id: number | null }>(
    'SELECT max(seq) AS id FROM broadcast_acks WHERE persona = ? AND seq < ?',
  );
  /** The last message of each inbox, so that one with an old cursor and no mail since is known to be complete. */
  const lastIds = db.prepare<{ name: string; last_id: number }>('SELECT name, last_id FROM personas');
  let newest = newestId.get()?.id ?? 0;
  let last = new Map(lastIds.all().map((row) => [row.name, row.last_id]));
  let inboxes = new Map<string, Inbox>();
  let held = 0;

  function reset(): void {
    newest = newestId.get()?.id ?? 0;
    last = new Map(lastIds.all().map((row) => [row.name, row.last_id]));
    inboxes = new Map();
    held = 0;
  }

  function add(persona: string, row: HeadRow): void {
    const base = last.get(persona) ?? broadcastBefore.get(persona, row.id)?.id ?? 0;
    const inbox = inboxes.get(persona) ?? { base, rows: [] };
    inbox.rows.push(trimmed(row));
    inboxes.set(persona, inbox);
    last.set(persona, row.id);
    held += 1;
  }

  return {
    catchUp() {
      const rows = since.all(headBytes, newest);
      if (rows.length > MOST_ROWS) return reset();
      if (held + rows.length > MOST_ROWS) {
        // What is asked for next is what came just now; `last` says from where on it is complete.
        inboxes = new Map();
        held = 0;
      }
      for (const row of rows) {
        if (row.persona !== '') add(row.persona, row);
        else for (const ack of acksByItem.all(row.id)) add(ack.persona, { ...row, read_at: ack.read_at });
        newest = row.id;
      }
      if (held > MOST_ROWS) reset(); // a broadcast has as many rows as there are inboxes
    },
    above(address, after) {
      const inbox = inboxes.get(address);
      if (inbox === undefined) {
        const id = last.get(address) ?? broadcastBefore.get(address, Number.MAX_SAFE_INTEGER)?.id ?? 0;
        return after >= id ? [] : null;
      }
      return after >= inbox.base ? inbox.rows.filter((row) => row.id > after) : null;
    },
    forget(address) {
      if (address === null) reset();
      else inboxes.delete(address);
    },
  };
}
