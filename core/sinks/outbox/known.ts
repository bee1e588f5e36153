import type { Known, PersonaId } from '../../model/index.ts';
import type { Database } from '../../state/index.ts';

/**
 * What is remembered of a set is stored thing by thing beside what else a watch wants remembered: so one message costs one
 * row and not the whole box. This is what a take changed of it. Keys in `drop` go first.
 */
export interface KnownChange {
  readonly drop: readonly string[];
  readonly put: readonly KnownRow[];
}

type KnownRow = readonly [key: string, ...rest: Rest];
type Rest = readonly [
  seq: Known['seq'],
  mark: Known['mark'],
  changes: Known['changes'],
  vanished: Known['vanished'],
  extra: Known['extra'],
];

/** Null: nothing. What stays is mostly the same object in the same order, which is what makes it cheap. */
export function changeOf(before: readonly Known[], after: readonly Known[]): KnownChange | null {
  if (before === after) return null;
  const drop: string[] = [];
  const put: KnownRow[] = [];
  let at = 0;
  for (const old of before) {
    const now = after[at];
    if (now?.key === old.key) {
      if (now !== old) put.push(rowOf(now));
      at += 1;
    } else drop.push(old.key);
  }
  for (const known of after.slice(at)) put.push(rowOf(known));
  return drop.length === 0 && put.length === 0 ? null : { drop, put };
}

function rowOf({ key, seq, mark, changes, vanished, extra }: Known): KnownRow {
  return [key, seq, mark, changes, vanished, extra];
}

/** About as many as its JSON has. */
export function charsOfKnown({ drop, put }: KnownChange): number {
  let chars = 0;
  for (const key of drop) chars += key.length;
  for (const [key, , mark] of put) chars += 2 * key.length + mark.length + 50;
  return chars;
}

/** The table. A key is stored as its JSON, which has a form for text of every kind. */
export function knownTable(db: Database) {
  const drop = db.prepare('DELETE FROM known WHERE persona = ? AND key = ?');
  const put = db.prepare(
    `INSERT INTO known (persona, key, rest) VALUES (?, ?, ?)
     ON CONFLICT (persona, key) DO UPDATE SET rest = excluded.rest`,
  );
  const ofOne = db.prepare<{ key: string; rest: string }>('SELECT key, rest FROM known WHERE persona = ? ORDER BY key');
  return {
    of: (persona: PersonaId): readonly Known[] => ofOne.all(persona).map(knownOf),
    /** Within a transaction. */
    apply(persona: PersonaId, change: KnownChange): void {
      for (const key of change.drop) drop.run(persona, JSON.stringify(key));
      for (const [key, ...rest] of change.put) put.run(persona, JSON.stringify(key), JSON.stringify(rest));
    },
  };
}

function knownOf(row: { readonly key: string; readonly rest: string }): Known {
  const [seq, mark, changes, vanished, extra] = JSON.parse(row.rest) as Rest;
  return { key: JSON.parse(row.key) as string, seq, mark, changes, vanished, extra };
}
