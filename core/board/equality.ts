import { Fault } from '../model/index.ts';

/** The key of a health that nobody sees: how often a failing poll has failed. */
const UNSEEN = 'failures';

type AnyRecord = Readonly<Record<string, unknown>>;

/**
 * Returns whether two values look the same to a person: plain data, maps and faults, compared to the last key. Nothing
 * names the keys, so whatever is added to a view is compared.
 */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  const kind: unknown = Object.getPrototypeOf(a);
  if (kind !== Object.getPrototypeOf(b)) return false;
  if (kind === Object.prototype) return isSameRecord(a as AnyRecord, b as AnyRecord);
  if (Array.isArray(a)) return isSameList(a, b as unknown as readonly unknown[]);
  if (a instanceof Map) return isSameList([...a], [...(b as typeof a)]);
  if (a instanceof Fault && b instanceof Fault) return a.scope.key === b.scope.key && a.explain() === b.explain();
  return false;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i] && !isSameValue(a[i], b[i])) return false;
  return true;
}

function isSameRecord(a: AnyRecord, b: AnyRecord): boolean {
  let more = 0;
  for (const key in a) {
    more -= 1;
    const value = b[key];
    if (value === undefined && !(key in b)) return false;
    if (a[key] !== value && key !== UNSEEN && !isSameValue(a[key], value)) return false;
  }
  for (const _ in b) more += 1;
  return more === 0;
}
