import { isMail, type MailEvent, parseEventLine } from '../../events/index.ts';
import type { PersonaId } from '../../model/index.ts';
import { type Database, migrate } from '../../state/index.ts';
import { isWholeRow, type SummedRow } from './reconcile.ts';
import { OUTBOX_SCHEMA } from './rows.ts';

/** Mail as it was delivered. */
export interface DeliveredMail {
  /** The number of its event in the outbox. */
  readonly ref: number;
  readonly persona: PersonaId;
  readonly event: MailEvent;
}

/** All delivered mail that is kept, in the order of delivery, for the search. */
export interface DeliveredMailLog {
  readonly name: string;
  newest(): number;
  read(
    from: number,
    way: 'newer' | 'older',
    limit: number,
  ): { readonly mails: readonly DeliveredMail[]; readonly last: number | null };
  find(ref: number): DeliveredMail | null;
}

/** `fill` brings the tables up to date before they are read. @throws Fault `database`, now and at each call */
export function openDeliveredMailLog(db: Database, fill: () => void): DeliveredMailLog {
  migrate(db, 'outbox', OUTBOX_SCHEMA);
  const columns = 'seq, persona, event_id AS eventId, line, sum';
  const newer = db.prepare<SummedRow>(`SELECT ${columns} FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?`);
  const older = db.prepare<SummedRow>(`SELECT ${columns} FROM outbox WHERE seq < ? ORDER BY seq DESC LIMIT ?`);
  const byRef = db.prepare<SummedRow>(`SELECT ${columns} FROM outbox WHERE seq = ?`);
  const newest = db.prepare<{ seq: number | null }>('SELECT max(seq) AS seq FROM outbox');

  return {
    name: 'outbox',
    newest() {
      fill();
      return newest.get()?.seq ?? 0;
    },
    read(from, way, limit) {
      const rows = (way === 'newer' ? newer : older).all(from, limit);
      return { mails: rows.flatMap(toMail), last: rows.at(-1)?.seq ?? null };
    },
    find(ref) {
      const row = byRef.get(ref);
      return row === undefined ? null : (toMail(row)[0] ?? null);
    },
  };
}

function toMail(row: SummedRow): readonly DeliveredMail[] {
  const event = isWholeRow(row) ? parseEventLine(row.line) : null;
  return event === null || !isMail(event) ? [] : [{ ref: row.seq, persona: row.persona, event }];
}
