import { type Count, exactly, type Fault, UNKNOWN } from '../../../model/index.ts';
import type { Row } from '../../source.ts';
import type { Window } from '../client.ts';
import { faultIn, type Reading } from './answer.ts';
import type { Page, WireRow } from './page.ts';
import { trimmed } from './row.ts';

/** Pages one look may ask for. */
export const PAGE_BUDGET = 50;

export interface Walk {
  readonly after: number;
  readonly contentChars: number | null;
  /** Fetches the newest rows below an id. */
  readonly older: (before: number) => Promise<Page>;
  readonly reading: Reading;
}

/** The newest page alone: what there is to say without a cursor. */
export function windowOf(page: Page): Window {
  return { rows: [], max: page.rows.at(-1)?.id ?? 0, unread: page.unread, urgent: UNKNOWN };
}

/**
 * From the newest page back to the cursor: every row above `after`. Only a page that reaches the cursor, or one that
 * says it is the last, ends the walk; nothing is ever skipped (Kijito contract, traps 14 to 21).
 * @throws Fault `shape` when a page is in the way of that, `shape` over the page budget, and what `older` throws
 */
export function walkBack(newest: Page, walk: Walk): Window | Promise<Window> {
  if (!reaches(newest, walk.after)) return walkOn(newest, walk);
  return { ...windowOf(newest), rows: keep(newest.rows, walk) };
}

async function walkOn(newest: Page, walk: Walk): Promise<Window> {
  const pages: Row[][] = [keep(newest.rows, walk)];
  let page = newest;
  let unread: Count = newest.unread;
  let unreadSoFar = newest.unreadHere;
  while (!reaches(page, walk.after)) {
    const before = continuation(page, walk);
    if (pages.length === PAGE_BUDGET) throw stuck(walk, `the cursor is not reached within ${PAGE_BUDGET} pages`);
    page = await walk.older(before);
    const newestId = page.rows.at(-1)?.id ?? 0;
    if (newestId >= before) throw stuck(walk, `asked for rows before ${before}, it holds ${newestId}`);
    pages.push(keep(page.rows, walk));
    unreadSoFar = unreadSoFar === null || page.unreadHere === null ? null : unreadSoFar + page.unreadHere;
  }
  if (pages.length > 1 && page.older.is === 'whole') unread = unreadSoFar === null ? UNKNOWN : exactly(unreadSoFar);
  return { ...windowOf(newest), rows: pages.reverse().flat(), unread };
}

/** Ids are whole numbers: nothing lies between the cursor and the id after it. */
function reaches(page: Page, after: number): boolean {
  const oldest = page.rows[0]?.id;
  return page.older.is === 'whole' || (oldest !== undefined && oldest <= after + 1);
}

function continuation(page: Page, walk: Walk): number {
  switch (page.older.is) {
    case 'older':
      return page.older.before;
    case 'unsaid':
      throw stuck(walk, `it does not say whether there are older rows: ${page.older.why}`);
    case 'whole':
      throw stuck(walk, 'there is nothing to continue with'); // `reaches` has ended the walk before
  }
}

function stuck({ reading, after }: Walk, what: string): Fault {
  return faultIn(reading, 'shape', `${what}, so mail after ${after} may be missing`);
}

function keep(rows: readonly WireRow[], { after, contentChars }: Walk): Row[] {
  return rows.filter(({ id }) => id > after).map((row) => trimmed(row, contentChars));
}
