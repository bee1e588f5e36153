import type { Instant } from '../../model/index.ts';
import type { Item } from '../item.ts';
import { showCommand } from './commands.ts';
import { cutPiece, pieceOf, wholePiece } from './piece.ts';

/** How items of priority 0 share a room, a line break after each piece counted in. */
export interface Shared {
  readonly pieces: readonly string[];
  /** Of those after the pieces: named by their id alone, because there are so many. */
  readonly ids: readonly number[];
}

/**
 * Each is at least named, as long as the ids fit. Short texts stay whole and long ones get equal parts of what is left, so
 * that one long text does not hide the others.
 */
export function shareRoom(items: readonly Item[], room: number, persona: string, now: Instant): Shared {
  const sizes = items.map((item) => {
    const whole = wholePiece(item, room, now);
    const cut = cutPiece(item, 0, persona, now);
    const most = whole === null ? Number.POSITIVE_INFINITY : whole.length + 1;
    return { least: Math.min(cut.length + 1, most), most };
  });
  const level = highest(room, (at) => sum(sizes.map((size) => partOf(size, at))) <= room);
  if (level !== null) {
    const pieces = items.map((item, n) => {
      const part = sizes[n] === undefined ? 0 : partOf(sizes[n], level);
      return pieceOf(item, part - 1, persona, now);
    });
    return { pieces, ids: [] };
  }
  const namedFrom = (count: number): readonly number[] => items.slice(count).map(({ id }) => id);
  const least = (count: number): number => sum(sizes.slice(0, count).map((size) => size.least));
  const count = highest(items.length, (n) => least(n) + idsLine(namedFrom(n), persona).length + 1 <= room) ?? 0;
  const named = namedFrom(count);
  const fits = highest(named.length, (n) => least(count) + idsLine(named.slice(0, n), persona).length + 1 <= room) ?? 0;
  const pieces = items.slice(0, count).map((item, n) => pieceOf(item, (sizes[n]?.least ?? 0) - 1, persona, now));
  return { pieces, ids: named.slice(0, fits) };
}

export function idsLine(ids: readonly number[], persona: string): string {
  return `[also of priority 0, by id: ${ids.join(' ')}: ${showCommand(persona, 'ID')}]`;
}

interface Size {
  readonly least: number;
  readonly most: number;
}

function partOf({ least, most }: Size, level: number): number {
  return Math.min(most, Math.max(least, level));
}

/** The largest whole number up to `most` for which it holds; null when not even for 0. What holds for a number holds for less. */
function highest(most: number, holds: (n: number) => boolean): number | null {
  if (!holds(0)) return null;
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
