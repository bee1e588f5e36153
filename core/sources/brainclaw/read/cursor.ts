import { createHash } from 'node:crypto';
import { isCount, isObject, type JournalRecord, type JsonFields } from './record.ts';

/**
 * How far a reader has come, stored outside the project's store (brainclaw contract 9). It is derived: it says whether this is
 * the journal that was read before, and decides nothing else. The journal is replayed all the same.
 */
export interface Cursor {
  /** The highest seq that was applied. */
  readonly seq: number;
  /** The segment of the last record that was applied in replay order; `offset` is the byte after its line. */
  readonly segment: string;
  readonly offset: number;
  readonly head_identity: string;
}

/** Identifies a record as the reference's checkpoints do: hex of a SHA-256 (brainclaw contract 3). */
export function toRecordIdentity({ seq, writer, ts, action, item_type, item_id }: JournalRecord): string {
  const text = `${seq}|${writer ?? ''}|${ts ?? ''}|${action}|${item_type}|${item_id ?? ''}`;
  return createHash('sha256').update(text).digest('hex');
}

/** Parses a saved cursor; null when the value is none. */
export function parseCursor(value: unknown): Cursor | null {
  if (!isObject(value)) return null;
  const { seq, segment, offset, head_identity }: JsonFields = value;
  if (!isCount(seq) || typeof segment !== 'string' || !isCount(offset) || typeof head_identity !== 'string')
    return null;
  return { seq, segment, offset, head_identity };
}
