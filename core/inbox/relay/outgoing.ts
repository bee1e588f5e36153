import type { Instant } from '../../model/index.ts';
import type { Database } from '../../state/index.ts';
import { type PushedRow, toPushedFields } from '../item-statements.ts';
import { DAMAGED_FROM, formatDamaged, openSeals } from '../seals.ts';
import type { KeyedItem } from './keyed-item.ts';

export interface OutgoingItem {
  /** Rises with every push, of any process. */
  readonly id: number;
  readonly item: KeyedItem;
  /** Hivebar of this machine is the origin. */
  readonly isOwn: boolean;
}

/** The publisher's view of the store: items pushed on this machine, or received by it. Throws Fault `database`. */
export interface OutgoingItems {
  /** At most `limit` items with an id above `id`, by id. */
  above(id: number, limit: number): readonly OutgoingItem[];
  /** The id before the first item created at `created` or later; the largest id if there is none. */
  before(created: Instant): number;
}

interface OutgoingRow extends PushedRow {
  readonly persona: string;
}

/** Expects that the tables of this room exist already. */
export function openOutgoingItems(db: Database): OutgoingItems {
  const above = db.prepare<OutgoingRow>(
    `SELECT seq AS id, persona, type, from_, priority, session, created, expires_at, dedup_key, origin, content
     FROM inbox WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const seals = openSeals(db);
  // By id and not by time, because an item that is pushed late may have an early time.
  const before = db.prepare<{ id: number }>(
    'SELECT coalesce((SELECT min(seq) - 1 FROM inbox WHERE created >= ?), (SELECT max(seq) FROM inbox), 0) AS id',
  );
  return {
    // Another machine could not see that a damaged message differs from what was sent.
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
    // In the table an empty name means everybody.
    to: row.persona === '' ? { is: 'everyone' } : { is: 'persona', name: row.persona },
    ...toPushedFields(row),
  };
}
