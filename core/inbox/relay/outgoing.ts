import type { Instant } from '../../model/index.ts';
import type { Database } from '../../state/index.ts';
import { type PushedRow, toPushedFields } from '../item-statements.ts';
import { DAMAGED_FROM, formatDamaged, openSeals } from '../seals.ts';
import type { KeyedItem } from './keyed-item.ts';

export interface OutgoingItem {
  /** Rises with every push, of whatever process. */
  readonly id: number;
  readonly item: KeyedItem;
  /** Hivebar of this machine says it. */
  readonly isOwn: boolean;
}

/** What was pushed on this machine, or came to it: the publisher's view of the store. Throws Fault `database`. */
export interface OutgoingItems {
  /** At most `limit`, by id, from above `id` on. */
  above(id: number, limit: number): readonly OutgoingItem[];
  /** The id before the first that was made at `created` or later; the largest of all when there is none. */
  before(created: Instant): number;
}

interface OutgoingRow extends PushedRow {
  readonly persona: string;
}

/** The tables are those of the room, and there already. */
export function openOutgoingItems(db: Database): OutgoingItems {
  const above = db.prepare<OutgoingRow>(
    `SELECT seq AS id, persona, type, from_, priority, session, created, expires_at, dedup_key, origin, content
     FROM inbox WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const seals = openSeals(db);
  // By id and not by time: what is pushed late may say an early time.
  const before = db.prepare<{ id: number }>(
    'SELECT coalesce((SELECT min(seq) - 1 FROM inbox WHERE created >= ?), (SELECT max(seq) FROM inbox), 0) AS id',
  );
  return {
    // Nobody elsewhere could tell that what is damaged is not what was sent.
    above: (id, limit) =>
      above.all(id, limit).map((row) => ({
        id: row.id,
        item: toKeyedItem(seals.isWhole(row.id) ? row : toPlaceholder(row)),
        isOwn: row.origin !== null,
      })),
    before: (created) => before.get(created)?.id ?? 0,
  };
}

function toPlaceholder(row: OutgoingRow): OutgoingRow {
  return { ...row, from_: DAMAGED_FROM, content: formatDamaged(row.id) };
}

function toKeyedItem(row: OutgoingRow): KeyedItem {
  return {
    // The table has the empty name for everybody.
    to: row.persona === '' ? { is: 'everyone' } : { is: 'persona', name: row.persona },
    ...toPushedFields(row),
  };
}
