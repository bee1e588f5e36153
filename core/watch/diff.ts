import type { ChangeName, Extra, Known, KnownSet } from '../model/index.ts';
import type { SetEvidence, SetItem } from '../sources/index.ts';

/** What became of a set since it was told. */
export interface Diff {
  /** The set as it is remembered before any of it is told: with what changes without an event. */
  readonly known: KnownSet;
  /** In the order of the look, without a `seq` yet. */
  readonly appeared: readonly SetItem[];
  /** Likewise, and behind them what is not there any more. */
  readonly changes: readonly Change[];
}

/** A change that is to be told of what was `from`. */
export interface Change {
  readonly event: ChangeName;
  readonly seq: number;
  readonly from: Known;
  readonly extra: Extra;
  /** What it makes of what is remembered, once it is told. */
  readonly move: Move;
}

/** One step in what is remembered. */
export type Move = { readonly is: 'put'; readonly known: Known } | { readonly is: 'drop'; readonly key: string };

/** `isSilent`: nothing is ever told of this thing. A key that occurs again in one look is passed over. */
export function diff(known: KnownSet, { items }: SetEvidence, isSilent: (item: SetItem) => boolean): Diff {
  const { from: start, keysTo, itemsTo } = differing(known.keys, items);
  const before = known.keys.slice(start, keysTo);
  const byKey = new Map(before.map((one) => [one.key, one]));
  const seen = new Set<string>();
  const silent: Move[] = [];
  const fresh = new Map<string, SetItem>();
  const changes: Change[] = [];
  for (const item of items.slice(start, itemsTo)) {
    if (seen.has(item.key)) continue;
    seen.add(item.key);
    const from = byKey.get(item.key);
    if (from === undefined) fresh.set(item.key, item);
    else if (from.mark !== item.mark) {
      const { seq } = from;
      const { changed: event, extra } = item;
      if (seq === null || event === null) silent.push({ is: 'put', known: changedTo(from, item, 0) });
      else changes.push({ event, seq, from, extra, move: { is: 'put', known: changedTo(from, item, 1) } });
    }
  }
  for (const from of before) {
    const { key, seq, vanished: event, extra } = from;
    if (seen.has(key)) continue;
    if (seq === null || event === null) silent.push({ is: 'drop', key });
    else changes.push({ event, seq, from, extra, move: { is: 'drop', key } });
  }
  if (fresh.size > 0) for (const { key } of known.keys) fresh.delete(key);
  const appeared: SetItem[] = [];
  for (const item of fresh.values()) {
    if (isSilent(item)) silent.push({ is: 'put', known: knownAs(item, null) });
    else appeared.push(item);
  }
  return { known: moved(known, silent), appeared, changes };
}

/**
 * Where the look is not what was told last: most of a large set is, in the same order, and costs a comparison only. Up to
 * `from` both are the same, and so is what follows `keysTo` and `itemsTo`.
 */
function differing(keys: readonly Known[], items: readonly SetItem[]) {
  const isSame = (known: Known | undefined, item: SetItem | undefined): boolean =>
    known !== undefined && known.key === item?.key && known.mark === item.mark;
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

/** A thing as it is remembered when it is seen for the first time; `seq` null: nothing is told of it. */
export function knownAs({ key, mark, vanished, extra }: SetItem, seq: number | null): Known {
  const isTold = seq !== null;
  return { key, seq, mark, changes: 0, vanished: isTold ? vanished : null, extra: isTold ? extra : NO_EXTRA };
}

/** And after a change, of which so many events were told. */
export function changedTo(from: Known, { key, mark, vanished, extra }: SetItem, told: 0 | 1): Known {
  const { seq, changes } = from;
  const isTold = seq !== null;
  const now = { vanished: isTold ? vanished : null, extra: isTold ? extra : NO_EXTRA };
  return { key, seq, mark, changes: changes + told, ...now };
}

const NO_EXTRA = {};

/** A set after some moves, in their order; itself after none. */
export function moved(set: KnownSet, moves: readonly Move[]): KnownSet {
  if (moves.length === 0) return set;
  const last = new Map<string, Known | null>();
  let { next } = set;
  for (const move of moves) {
    if (move.is === 'put') last.set(move.known.key, move.known);
    else last.set(move.key, null);
    if (move.is === 'put' && move.known.seq !== null) next = Math.max(next, move.known.seq + 1);
  }
  const keys: Known[] = [];
  for (const known of set.keys) {
    const now = last.get(known.key);
    if (now === undefined) {
      keys.push(known);
      continue;
    }
    if (now !== null) keys.push(now);
    last.delete(known.key);
  }
  for (const known of last.values()) if (known !== null) keys.push(known);
  return { ...set, next, keys };
}

/**
 * Another set in its place, without a word. What has the same key is the same thing, and its events keep their `id`; all
 * else gets a `seq`, from `next` on, so that its changes can be told.
 */
export function adopted(
  before: readonly Known[],
  { epoch, items }: SetEvidence,
  next: number,
  isSilent: (item: SetItem) => boolean,
): KnownSet {
  const byKey = new Map(before.map((one) => [one.key, one]));
  const keys = new Map<string, Known>();
  let seq = next;
  for (const item of items) {
    if (keys.has(item.key)) continue;
    const from = byKey.get(item.key);
    if (from !== undefined) keys.set(item.key, changedTo(from, item, 0));
    else if (isSilent(item)) keys.set(item.key, knownAs(item, null));
    else {
      keys.set(item.key, knownAs(item, seq));
      seq += 1;
    }
  }
  return { epoch, next: seq, keys: [...keys.values()] };
}
