import { foldName } from '../model/index.ts';

/** In a shorter name one letter more or less is another name. */
const LEAST_CHARS = 3;

/**
 * Finds the known name that a sender most likely mistyped: the same in another case, or one letter away (one more, one less, another
 * one, or two that changed places). Null when `name` is known itself, or near none. Names that differ in a digit, such as `worker1`
 * and `worker2`, are not near, because they are numbered on purpose.
 */
export function findNearName(name: string, known: readonly string[]): string | null {
  if (known.includes(name)) return null;
  const folded = foldName(name);
  return (
    known.find((other) => foldName(other) === folded) ??
    known.find((other) => [...other].length >= LEAST_CHARS && isOneEditAway([...folded], [...foldName(other)])) ??
    null
  );
}

function isOneEditAway(a: readonly string[], b: readonly string[]): boolean {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if ([...left, ...right].some((char) => /\d/.test(char))) return false;
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
