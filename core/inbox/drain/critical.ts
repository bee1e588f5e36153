import type { Instant } from '../../model/index.ts';
import type { Item } from '../item.ts';
import { formatShowCommand } from './commands.ts';
import { formatCutPiece, formatPiece, formatWholePiece } from './piece.ts';

/** How items of priority 0 share the available characters, including a line break after each piece. */
export interface RoomShare {
  readonly pieces: readonly string[];
  /** Items after the pieces, named only by their id, because there are too many. */
  readonly ids: readonly number[];
}

/**
 * Distributes the characters. Each item is at least named, as long as the ids fit. Short texts stay whole. Long texts share the
 * rest equally, so that one long text does not hide the others.
 */
export function shareRoom(items: readonly Item[], room: number, persona: string, now: Instant): RoomShare {
  const sizes = items.map((item) => {
    const whole = formatWholePiece(item, room, now);
    const cut = formatCutPiece(item, 0, persona, now);
    const most = whole === null ? Number.POSITIVE_INFINITY : whole.length + 1;
    return { least: Math.min(cut.length + 1, most), most };
  });
  const level = findHighest(room, (at) => sum(sizes.map((size) => computePart(size, at))) <= room);
  if (level !== null) {
    const pieces = items.map((item, n) => {
      const part = sizes[n] === undefined ? 0 : computePart(sizes[n], level);
      return formatPiece(item, part - 1, persona, now);
    });
    return { pieces, ids: [] };
  }
  const namedFrom = (count: number): readonly number[] => items.slice(count).map(({ id }) => id);
  const least = (count: number): number => sum(sizes.slice(0, count).map((size) => size.least));
  const count =
    findHighest(items.length, (n) => least(n) + formatIdsLine(namedFrom(n), persona).length + 1 <= room) ?? 0;
  const named = namedFrom(count);
  const fits =
    findHighest(named.length, (n) => least(count) + formatIdsLine(named.slice(0, n), persona).length + 1 <= room) ?? 0;
  const pieces = items.slice(0, count).map((item, n) => formatPiece(item, (sizes[n]?.least ?? 0) - 1, persona, now));
  return { pieces, ids: named.slice(0, fits) };
}

export function formatIdsLine(ids: readonly number[], persona: string): string {
  return `[also of priority 0, by id: ${ids.join(' ')}: ${formatShowCommand(persona, 'ID')}]`;
}

interface Size {
  readonly least: number;
  readonly most: number;
}

function computePart({ least, most }: Size, level: number): number {
  return Math.min(most, Math.max(least, level));
}

/** The largest whole number up to `most` for which `holds` is true; null if it is false even for 0. `holds` must be monotonic. */
function findHighest(most: number, holds: (n: number) => boolean): number | null {
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
