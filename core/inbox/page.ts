import type { ItemOrigin } from './item.ts';

/** A row as `GET /api/inbox` shows it, keys in this order (Kijito contract a). */
export interface InboxRow {
  readonly id: number;
  readonly from: string;
  readonly content: string;
  /** UTC, see `formatIso`. For people only: the order is by `id`. */
  readonly created: string;
  readonly read: boolean;
  /** Hivebar itself says this, such as the answer of a decision; absent for everything that others send. */
  readonly origin?: ItemOrigin;
}

/** The answer to `GET /api/inbox`, with keys and meanings of Kijito contract a. */
export interface InboxAnswer {
  /** The newest rows that fit, newest first. */
  readonly result: readonly InboxRow[];
  /** The count limit withheld rows; how many is not said. */
  readonly truncated: boolean;
  /** How many rows were withheld because the answer would be too large. */
  readonly size_dropped: number;
  /** The newest row alone was too large, so its text was cut; `limit=1` returns all of it. */
  readonly size_truncated: boolean;
  /** The oldest id in the answer if rows were withheld, to continue from; else null. */
  readonly next_before_id: number | null;
  /** Unread mail of the persona that is not in this answer; 0 if nothing was withheld. */
  readonly unread_not_shown: number;
}

export interface RowPage {
  /** Newest first. */
  readonly rows: readonly InboxRow[];
  /** More rows were available, but the budget was spent. */
  readonly full: boolean;
  /** The only row of the page was larger than the budget, so its text was cut. */
  readonly clipped: boolean;
}

/**
 * Takes the newest rows whose JSON fits into `budget` bytes, at least one. If not even one row fits, its text is cut. Reads no
 * more of `rows` (newest first) than needed.
 */
export function toRowPage(rows: Iterable<InboxRow>, budget: number): RowPage {
  const page: InboxRow[] = [];
  let left = budget;
  for (const row of rows) {
    const bytes = countJsonBytes(row) + 1; // plus a comma
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

/** The longest prefix of `text` that takes `max` bytes inside a JSON string. */
function clip(text: string, max: number): string {
  let low = 0;
  let high = Math.min(text.length, max); // a UTF-16 unit takes at least one byte
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (countJsonBytes(text.slice(0, middle)) - 2 <= max) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low); // never half a pair, because half a pair is escaped and so takes more bytes than the whole
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
