import type { Database } from '../state/index.ts';
import { checkSeal, SEAL_COLUMNS, type SealColumns } from './continuity.ts';
import type { TrimmedMessage } from './item.ts';
import { HEAD, type HeadRow } from './item-statements.ts';

/** The newest mail in memory. A watcher that is woken by new mail finds it here without a database query. */
export interface RecentMessages {
  /** Reads what came since the last call, in one statement for all inboxes. */
  catchUp(): void;
  /** All messages of the inbox above `after`, ascending; null if the memory does not go back that far. */
  above(address: string, after: number): readonly TrimmedMessage[] | null;
  /** Forgets this inbox, or all of them (null), because its rows may have changed. Only newer messages are kept from then on. */
  forget(address: string | null): void;
}

/** With more rows than this, and than there are inboxes, the memory starts again. */
const MOST_ROWS = 2000;

interface Inbox {
  /** The rows are complete above this id. */
  readonly base: number;
  readonly rows: TrimmedMessage[];
}

export function openRecentMessages(
  db: Database,
  headBytes: number | null,
  /** `isIntact`: whether the checksum matches; null when the row does not tell. */
  trimmed: (row: HeadRow, isIntact: boolean | null) => TrimmedMessage,
): RecentMessages {
  const since = db.prepare<HeadRow & SealColumns & { persona: string }>(
    `SELECT persona, ${HEAD}, ${SEAL_COLUMNS} FROM inbox WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const newestId = db.prepare<{ id: number }>('SELECT coalesce(max(seq), 0) AS id FROM inbox');
  const acksByItem = db.prepare<{ persona: string; read_at: number | null }>(
    'SELECT persona, read_at FROM broadcast_acks WHERE seq = ?',
  );
  /** The newest broadcast before a new inbox appeared, with which the inbox begins. */
  const broadcastBefore = db.prepare<{ id: number | null }>(
    'SELECT max(seq) AS id FROM broadcast_acks WHERE persona = ? AND seq < ?',
  );
  /** The last message of each inbox. It shows that an inbox without newer mail is complete, even for an old cursor. */
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

  function add(persona: string, row: HeadRow & SealColumns): void {
    const base = last.get(persona) ?? broadcastBefore.get(persona, row.id)?.id ?? 0;
    const inbox = inboxes.get(persona) ?? { base, rows: [] };
    inbox.rows.push(trimmed(row, checkSeal(row)));
    inboxes.set(persona, inbox);
    last.set(persona, row.id);
    held += 1;
  }

  return {
    catchUp() {
      const mostRows = Math.max(MOST_ROWS, last.size);
      const rows = since.all(headBytes, newest, mostRows + 1);
      if (rows.length > mostRows) return reset();
      if (held + rows.length > mostRows) {
        // The next requests are for what came just now; `last` says from where on the rows are complete.
        inboxes = new Map();
        held = 0;
      }
      for (const row of rows) {
        if (row.persona !== '') add(row.persona, row);
        else for (const ack of acksByItem.all(row.id)) add(ack.persona, { ...row, read_at: ack.read_at });
        newest = row.id;
      }
      if (held > mostRows) reset(); // a broadcast has one row per inbox
    },
    above(address, after) {
      const inbox = inboxes.get(address);
      if (inbox === undefined) {
        const id = last.get(address) ?? broadcastBefore.get(address, Number.MAX_SAFE_INTEGER)?.id ?? 0;
        return after >= id ? [] : null;
      }
      if (after < inbox.base) return null;
      const first = inbox.rows.findIndex((row) => row.id > after);
      return first < 0 ? [] : inbox.rows.slice(first);
    },
    forget(address) {
      if (address === null) reset();
      else inboxes.delete(address);
    },
  };
}
