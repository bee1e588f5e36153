import type { Instant } from '../model/index.ts';
import { type Database, migrate } from '../state/index.ts';
import { DAMAGED_FROM, formatDamaged, openSeals } from './continuity.ts';
import type { Priority } from './item.ts';
import { INBOX_SCHEMA } from './schema.ts';

/** One message of the local hive, whoever it is for. `to` is empty for a broadcast. All text is untrusted. */
export interface StoredMail {
  /** Its id in every inbox that has it. */
  readonly ref: number;
  readonly at: Instant;
  readonly from: string;
  readonly to: string;
  readonly subject: '';
  readonly text: string;
  readonly isUrgent: boolean;
  readonly priority: Priority;
  /** Null for a broadcast, which has a state per inbox. */
  readonly isRead: boolean | null;
}

/** All messages of the local hive in the order of their ids, for the search. The text is cut. */
export interface StoredMailLog {
  readonly name: string;
  newest(): number;
  read(
    from: number,
    way: 'newer' | 'older',
    limit: number,
  ): { readonly mails: readonly StoredMail[]; readonly last: number | null };
  find(ref: number): StoredMail | null;
}

interface MailRow {
  readonly ref: number;
  readonly persona: string;
  readonly from_: string;
  readonly text: string;
  readonly urgent: number;
  readonly priority: Priority;
  readonly created: number;
  readonly read_at: number | null;
}

/** @param chars how much text of a message is read @throws Fault `database`, now and at each call */
export function openStoredMailLog(db: Database, chars: number): StoredMailLog {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const columns = `seq AS ref, persona, from_, substr(content, 1, ${chars}) AS text, urgent, priority, created, read_at`;
  const newer = db.prepare<MailRow>(`SELECT ${columns} FROM inbox WHERE seq > ? ORDER BY seq LIMIT ?`);
  const older = db.prepare<MailRow>(`SELECT ${columns} FROM inbox WHERE seq < ? ORDER BY seq DESC LIMIT ?`);
  const byRef = db.prepare<MailRow>(`SELECT ${columns} FROM inbox WHERE seq = ?`);
  const last = db.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'inbox'");
  const seals = openSeals(db);

  function toMail({
    ref,
    persona,
    from_: from,
    text,
    urgent,
    priority,
    created,
    read_at: readAt,
  }: MailRow): StoredMail {
    const isWhole = seals.isWhole(ref);
    return {
      ref,
      at: created,
      from: isWhole ? from : DAMAGED_FROM,
      to: persona,
      subject: '',
      text: isWhole ? text : formatDamaged(ref),
      isUrgent: urgent === 1,
      priority,
      isRead: persona === '' ? null : readAt !== null,
    };
  }

  return {
    name: 'inbox',
    newest: () => last.get()?.seq ?? 0,
    read(from, way, limit) {
      const rows = (way === 'newer' ? newer : older).all(from, limit);
      return { mails: rows.map(toMail), last: rows.at(-1)?.ref ?? null };
    },
    find(ref) {
      const row = byRef.get(ref);
      return row === undefined ? null : toMail(row);
    },
  };
}
