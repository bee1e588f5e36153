import type { KnownItem, KnownSet, PersonaId } from '../../model/index.ts';
import type { Database } from '../../state/index.ts';

/**
 * The changes that one `take` makes to the known items of a set. The items are stored one per row, beside the other
 * saved state of a watcher. So one message costs one row and not the whole set. Keys in `drop` are applied first.
 */
export interface KnownChange {
  readonly drop: readonly string[];
  readonly put: readonly KnownRow[];
}

type KnownRow = readonly [key: string, ...rest: Rest];
type Rest = readonly [
  seq: KnownItem['seq'],
  fingerprint: KnownItem['fingerprint'],
  changes: KnownItem['changes'],
  vanished: KnownItem['vanished'],
  extra: KnownItem['extra'],
  /** The item is no longer present, but is still stored. */
  gone?: true,
];

/** The parts of a set that are stored item by item. */
export type StoredSet = Pick<KnownSet, 'keys' | 'gone'>;

/**
 * Finds the changes between two sets; null when there are none. It is fast because most items are the same object in
 * the same order.
 */
export function findChange(before: StoredSet, after: StoredSet): KnownChange | null {
  const drop: string[] = [];
  const put: KnownRow[] = [];
  compareKeys(before.keys, after.keys, drop, (known) => put.push(toRow(known)));
  compareKeys(before.gone ?? NO_ITEMS, after.gone ?? NO_ITEMS, drop, (known) => put.push([...toRow(known), true]));
  return drop.length === 0 && put.length === 0 ? null : { drop, put };
}

const NO_ITEMS: readonly KnownItem[] = [];

function compareKeys(
  before: readonly KnownItem[],
  after: readonly KnownItem[],
  drop: string[],
  put: (known: KnownItem) => unknown,
): void {
  if (before === after) return;
  let at = 0;
  for (const old of before) {
    const now = after[at];
    if (now?.key === old.key) {
      if (now !== old) put(now);
      at += 1;
    } else drop.push(old.key);
  }
  for (const known of after.slice(at)) put(known);
}

function toRow({ key, seq, fingerprint, changes, vanished, extra }: KnownItem) {
  return [key, seq, fingerprint, changes, vanished, extra] as const;
}

/** Estimates the number of characters of its JSON. */
export function countKnownChars({ drop, put }: KnownChange): number {
  let chars = 0;
  for (const key of drop) chars += key.length;
  for (const [key, , fingerprint] of put) chars += 2 * key.length + fingerprint.length + 50;
  return chars;
}

/** Opens the table of known items. A key is stored as JSON, which can represent any text. */
export function openKnownTable(db: Database) {
  const drop = db.prepare('DELETE FROM known WHERE persona = ? AND key = ?');
  const put = db.prepare(
    `INSERT INTO known (persona, key, rest) VALUES (?, ?, ?)
     ON CONFLICT (persona, key) DO UPDATE SET rest = excluded.rest`,
  );
  const ofOne = db.prepare<{ key: string; rest: string }>('SELECT key, rest FROM known WHERE persona = ? ORDER BY key');
  return {
    of(persona: PersonaId): StoredSet {
      const items = ofOne.all(persona).map(fromRow);
      const keys = items.flatMap(({ known, isGone }) => (isGone ? [] : [known]));
      const gone = items.flatMap(({ known, isGone }) => (isGone ? [known] : []));
      gone.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0)); // roughly the order in which they vanished
      return gone.length === 0 ? { keys } : { keys, gone };
    },
    /** Must run within a transaction. */
    apply(persona: PersonaId, change: KnownChange): void {
      for (const key of change.drop) drop.run(persona, JSON.stringify(key));
      for (const [key, ...rest] of change.put) put.run(persona, JSON.stringify(key), JSON.stringify(rest));
    },
  };
}

function fromRow(row: { readonly key: string; readonly rest: string }) {
  const [seq, fingerprint, changes, vanished, extra, gone] = JSON.parse(row.rest) as Rest;
  const known: KnownItem = { key: JSON.parse(row.key) as string, seq, fingerprint, changes, vanished, extra };
  return { known, isGone: gone === true };
}
