import type { ChangeName, Extra, KnownItem, KnownSet } from '../model/index.ts';
import type { SetEvidence, SetItem } from '../sources/index.ts';

/** The differences between a set and its delivered state. */
export interface SetDiff {
  /** The known items before anything of this diff is delivered, with all changes that make no event. */
  readonly known: KnownSet;
  /** New items in the order of the poll result, without a `seq` yet. */
  readonly appeared: readonly SetItem[];
  /** Changed items in the order of the poll result, followed by the items that vanished. */
  readonly changes: readonly SetChange[];
}

/** A change of the item `from` that is to be delivered. */
interface SetChange {
  readonly event: ChangeName;
  readonly seq: number;
  readonly from: KnownItem;
  readonly extra: Extra;
  /** How the delivery of the event changes the known items. */
  readonly move: SetMove;
}

/** One change to the known items. `delivered`: how many events reported that the item is gone. */
export type SetMove =
  | { readonly is: 'put'; readonly known: KnownItem }
  | { readonly is: 'drop'; readonly key: string; readonly delivered: 0 | 1 };

/**
 * Compares the known items with a poll result. `isSilent`: the item never makes an event. A repeated key is ignored.
 */
export function computeDiff(known: KnownSet, { items }: SetEvidence, isSilent: (item: SetItem) => boolean): SetDiff {
  const { from: start, keysTo, itemsTo } = findDifferingRange(known.keys, items);
  const before = known.keys.slice(start, keysTo);
  const byKey = new Map(before.map((item) => [item.key, item]));
  const foundKeys = new Set<string>();
  const silent: SetMove[] = [];
  const fresh = new Map<string, SetItem>();
  const changes: SetChange[] = [];
  for (const item of items.slice(start, itemsTo)) {
    if (foundKeys.has(item.key)) continue;
    foundKeys.add(item.key);
    const from = byKey.get(item.key);
    if (from === undefined) fresh.set(item.key, item);
    else if (from.fingerprint !== item.fingerprint) {
      const { seq } = from;
      const { changed: event, extra } = item;
      if (seq === null || event === null) silent.push({ is: 'put', known: toChangedItem(from, item, 0) });
      else changes.push({ event, seq, from, extra, move: { is: 'put', known: toChangedItem(from, item, 1) } });
    }
  }
  for (const from of before) {
    const { key, seq, vanished: event, extra } = from;
    if (foundKeys.has(key)) continue;
    if (seq === null || event === null) silent.push({ is: 'drop', key, delivered: 0 });
    else changes.push({ event, seq, from, extra, move: { is: 'drop', key, delivered: 1 } });
  }
  if (fresh.size > 0) for (const { key } of known.keys) fresh.delete(key);
  const goneByKey = new Map(fresh.size === 0 ? [] : known.gone?.map((item) => [item.key, item]));
  const appeared: SetItem[] = [];
  for (const item of fresh.values()) {
    const before = goneByKey.get(item.key);
    if (before !== undefined && isBack(item, before)) silent.push({ is: 'put', known: toChangedItem(before, item, 0) });
    else if (isSilent(item)) silent.push({ is: 'put', known: toKnownItem(item, null) });
    else appeared.push(item);
  }
  return { known: applyMoves(known, silent), appeared, changes };
}

/**
 * Finds the range in which the poll result differs from the known items. Most of a large set is unchanged and in the
 * same order, so it costs only a comparison. Both are equal before `from`, and again from `keysTo` and `itemsTo` on.
 */
function findDifferingRange(keys: readonly KnownItem[], items: readonly SetItem[]) {
  const isSame = (known: KnownItem | undefined, item: SetItem | undefined): boolean =>
    known !== undefined && known.key === item?.key && known.fingerprint === item.fingerprint;
  let from = 0;
  while (isSame(keys[from], items[from])) from += 1;
  let keysTo = keys.length;
  let itemsTo = items.length;
  while (keysTo > from && itemsTo > from && isSame(keys[keysTo - 1], items[itemsTo - 1])) {
    keysTo -= 1;
    itemsTo -= 1;
  }
  return { from, keysTo, itemsTo };
}

/**
 * Returns true when an item came back that need not be delivered again, for example after its directory was away for a
 * while.
 */
function isBack({ fingerprint, returns }: SetItem, gone: KnownItem): boolean {
  return returns !== 'occasion' || fingerprint === gone.fingerprint;
}

/** Turns an item that appeared into a known item. `seq` null: the item makes no events. */
export function toKnownItem({ key, fingerprint, appeared, vanished, extra }: SetItem, seq: number | null): KnownItem {
  const isDelivered = seq !== null;
  return {
    key,
    seq,
    fingerprint,
    changes: 0,
    vanished: isDelivered ? vanished : null,
    extra: isDelivered ? extra : NO_EXTRA,
    ...(isDelivered && appeared === 'question' && ASKS),
  };
}

const ASKS = { asks: true } as const;

/** Returns the known item after a change. `deliveredCount`: how many events reported the change. */
function toChangedItem(
  from: KnownItem,
  { key, fingerprint, appeared, changed, vanished, extra }: SetItem,
  deliveredCount: 0 | 1,
): KnownItem {
  const { seq, changes } = from;
  const isDelivered = seq !== null;
  const now = { vanished: isDelivered ? vanished : null, extra: isDelivered ? extra : NO_EXTRA };
  // That its agent fetched a question does not answer it, and any other change does. Sources do not repeat that it is one.
  const isOver = appeared === 'quiet' || (deliveredCount === 1 && changed !== 'delivered');
  const asks = isDelivered && !isOver && (from.asks === true || appeared === 'question');
  return { key, seq, fingerprint, changes: changes + deliveredCount, ...now, ...(asks && ASKS) };
}

/** Counts the questions of a set that nobody has answered. */
export function countQuestions(keys: readonly KnownItem[]): number {
  return keys.reduce((n, { asks }) => n + (asks === true ? 1 : 0), 0);
}

const NO_EXTRA = {};

/** Returns the set after applying the moves in order; the same object when there are none. */
export function applyMoves(set: KnownSet, moves: readonly SetMove[]): KnownSet {
  if (moves.length === 0) return set;
  const last = new Map<string, KnownItem | null>();
  const deliveredKeys = new Set<string>();
  let { next } = set;
  for (const move of moves) {
    if (move.is === 'put') last.set(move.known.key, move.known);
    else last.set(move.key, null);
    if (move.is === 'drop' && move.delivered === 1) deliveredKeys.add(move.key);
    if (move.is === 'put' && move.known.seq !== null) next = Math.max(next, move.known.seq + 1);
  }
  const keys: KnownItem[] = [];
  const left: KnownItem[] = [];
  const added = new Map(last);
  for (const known of set.keys) {
    const now = last.get(known.key);
    if (now === undefined) {
      keys.push(known);
      continue;
    }
    if (now === null) left.push(deliveredKeys.has(known.key) ? { ...known, changes: known.changes + 1 } : known);
    else keys.push(now);
    added.delete(known.key);
  }
  for (const known of added.values()) if (known !== null) keys.push(known);
  return addGone({ ...set, next, keys }, (key) => added.get(key) != null, left);
}

/** The number of vanished items that are kept. The items that vanished first are dropped first. */
const MAX_GONE = 5000;

/**
 * @param isBack whether the item with this key is present again
 * @param left the items that are no longer present
 */
function addGone(set: KnownSet, isBack: (key: string) => boolean, left: readonly KnownItem[]): KnownSet {
  const before = set.gone ?? [];
  const stay = before.some(({ key }) => isBack(key)) ? before.filter(({ key }) => !isBack(key)) : before;
  const fresh = left.filter(({ seq }) => seq !== null).map((known) => ({ ...known, vanished: null, extra: NO_EXTRA }));
  if (stay === before && fresh.length === 0) return set;
  const { gone: _, ...rest } = set;
  const gone = [...stay, ...fresh].slice(-MAX_GONE);
  return gone.length === 0 ? rest : { ...rest, gone };
}

/**
 * Replaces the set by another one without making events. An item with the same key is the same item and its events keep
 * their `id`, even when the item had vanished. All other items get a `seq`, from `next` on, so that their changes can
 * be delivered.
 */
export function adoptSet(
  before: Pick<KnownSet, 'keys' | 'gone'>,
  { epoch, items }: SetEvidence,
  next: number,
  isSilent: (item: SetItem) => boolean,
): KnownSet {
  const byKey = new Map([...(before.gone ?? []), ...before.keys].map((item) => [item.key, item]));
  const keys = new Map<string, KnownItem>();
  let seq = next;
  for (const item of items) {
    if (keys.has(item.key)) continue;
    const from = byKey.get(item.key);
    if (from !== undefined) keys.set(item.key, toChangedItem(from, item, 0));
    else if (isSilent(item)) keys.set(item.key, toKnownItem(item, null));
    else {
      keys.set(item.key, toKnownItem(item, seq));
      seq += 1;
    }
  }
  const left = before.keys.filter(({ key }) => !keys.has(key));
  const { gone } = before;
  const now = { epoch, next: seq, keys: [...keys.values()], ...(gone === undefined ? {} : { gone }) };
  return addGone(now, (key) => keys.has(key), left);
}
