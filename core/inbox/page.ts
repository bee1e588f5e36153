import type { ItemOrigin } from './item.ts';

/** A row as `GET /api/inbox` shows it, keys in this order (Kijito contract a). */
export interface InboxRow {
  readonly id: number;
  readonly from: string;
  readonly content: string;
  /** UTC, see `formatIso`. For people: order is by `id` alone. */
  readonly created: string;
  readonly read: boolean;
  /** Hivebar itself says this, such as the answer of a decision; absent for everything that others send. */
  readonly origin?: ItemOrigin;
}

/** The answer to `GET /api/inbox`, keys and meanings as Kijito contract a has them. */
export interface InboxAnswer {
  /** The newest rows that fit, newest first. */
  readonly result: readonly InboxRow[];
  /** The count limit withheld rows; how many is not said. */
  readonly truncated: boolean;
  /** So many rows were withheld because the answer would have become too large. */
  readonly size_dropped: number;
  /** The newest row alone was too large, so its text was cut; ask for it with `limit=1` to have all of it. */
  readonly size_truncated: boolean;
  /** The oldest id in the answer when rows were withheld, to continue from; else null. */
  readonly next_before_id: number | null;
  /** Unread mail of the persona that is not in this answer; 0 when nothing was withheld. */
  readonly unread_not_shown: number;
}

export interface RowPage {
  /** Newest first. */
  readonly rows: readonly InboxRow[];
  /** More rows stood ready, but the budget was spent. */
  readonly full: boolean;
  /** The one row of the page was larger than the budget, so its text was cut. */
  readonly clipped: boolean;
}

/**
 * The newest rows whose JSON fits into `budget` bytes, at least one: a lone row that does not fit has its text cut.
 * Takes from `rows` (newest first) no more than it needs.
 */
export function toRowPage(rows: Iterable<InboxRow>, budget: number): RowPage {
  const page: InboxRow[] = [];
  let left = budget;
  for (const row of rows) {
    const bytes = countJsonBytes(row) + 1; // and a comma
    if (bytes > left) {
      if (page.length > 0) return { rows: page, full: true, clipped: false };
      const room = left - countJsonBytes({ ...row, content: '' }) - 1;
      return { rows: [{ ...row, content: clip(row.content, Math.max(0, room)) }], full: true, clipped: true };
    }
    left -= bytes;
    page.push(row);
  }
  return { rows: page, full: false, clipped: false };
}

/** The longest beginning of `text` that takes `max` bytes as the inside of a JSON string. */
function clip(text: string, max: number): string {
  let low = 0;
  let high = Math.min(text.length, max); // a UTF-16 unit takes a byte at least
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (countJsonBytes(text.slice(0, middle)) - 2 <= max) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low); // never half a pair: alone, and so escaped, the half is longer than the whole
}

function countJsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The first `count` code points of a text. */
export function cutText(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let points = 0; points < count && end < text.length; points += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}
