import { type Count, exactly, faultOf, merged, type Span, spanAround, UNKNOWN } from '../../../model/index.ts';
import type { Row } from '../../source.ts';
import type { Window } from '../client.ts';
import { askBelow, type Ground, readAhead } from './ahead.ts';
import type { Reading } from './answer.ts';
import type { Page, WireRow } from './page.ts';
import { trimmed } from './row.ts';
import { mapInTurns, type Turn } from './turns.ts';

/** Pages one look may ask for. */
export const PAGE_BUDGET = 50;

export interface Walk extends Ground {
  readonly contentChars: number | null;
  /** Fetches the newest rows below an id. */
  readonly ask: (before: number) => Promise<Uint8Array>;
  readonly read: (body: Uint8Array, before: number) => Promise<Page>;
  readonly turn: Turn;
  readonly reading: Reading;
  readonly signal: AbortSignal;
}

/** The newest page alone: what there is to say without a cursor. */
export function windowOf(page: Page): Window {
  const { unread, notShown } = page;
  const hidden = notShown === null ? {} : { hidden: { unread: notShown, floor: page.rows[0]?.id ?? null } };
  return { rows: [], max: page.rows.at(-1)?.id ?? 0, unread, urgent: UNKNOWN, ...hidden };
}

/**
 * From the newest page back to the cursor: every row above `after` that is not done. Only a page that reaches the cursor,
 * or one that says it is the last, ends the walk; whatever else ends it leaves a hole, and what was had is given all the
 * same (Kijito contract, traps 14 to 21). A look after that goes on below what is done by then, so a hole of any size is
 * closed in the end.
 * @throws what the signal aborts with
 */
export function walkBack(newest: Page, walk: Walk): Window | Promise<Window> {
  if (!reaches(newest, walk.after)) return walkOn(newest, walk);
  const rows = keep(newest.rows, walk);
  const window = windowOf(newest);
  return rows instanceof Promise ? rows.then((rows) => ({ ...window, rows })) : { ...window, rows };
}

async function walkOn(newest: Page, walk: Walk): Promise<Window> {
  /** What is kept of each page, which itself is let go: bodies of messages may be large. */
  const kept: Row[][] = [];
  /** The last page until it is trimmed: at the end, or while the next is on its way. */
  let whole: Page | null = newest;
  const trim = async (): Promise<void> => {
    const page = whole;
    whole = null;
    if (page !== null) kept.push(await keep(page.rows, walk));
  };
  const spans: Span[] = [...spanOf(newest.rows, walk.after)];
  const found = async (unread: Count = newest.unread): Promise<Window> => {
    await trim();
    return { ...windowOf(newest), rows: kept.toReversed().flat(), unread };
  };
  const holed = async (why: string): Promise<Window> => {
    const window = await found();
    const walked = kept.slice(1).reduce((sum, rows) => sum + rows.length, 0);
    const floor = newest.rows[0]?.id ?? null;
    const { omitted } = newest;
    return { ...window, hole: { why: `${walk.reading.from()}: ${why}`, spans: merged(spans), omitted, floor, walked } };
  };
  let page = newest;
  let pages = 1;
  let unread = newest.unreadHere;
  const bodies = readAhead(walk.ask, walk, PAGE_BUDGET - 1, walk.turn);
  while (!reaches(page, walk.after)) {
    if (page.older.is !== 'older') return holed(page.older.is === 'unsaid' ? page.older.why : 'it ends');
    const below = askBelow(page.older.before, walk);
    if (below === null) break;
    const { before, skips } = below;
    if (pages === PAGE_BUDGET) return holed(`the cursor ${walk.after} is not reached within ${PAGE_BUDGET} pages`);
    try {
      const coming = bodies(before);
      await trim();
      page = await walk.read(await coming, before);
    } catch (error) {
      walk.signal.throwIfAborted();
      return holed(faultOf(error, walk.reading.scope).message);
    }
    const newestId = page.rows.at(-1)?.id ?? 0;
    if (newestId >= before) return holed(`asked for rows before ${before}, it holds ${newestId}`);
    pages += 1;
    whole = page;
    // From its oldest row up to where it was asked from, this page leaves nothing out.
    spans.push(...spanOf(page.rows, walk.after, before - 1));
    unread = unread === null || page.unreadHere === null || skips ? null : unread + page.unreadHere;
  }
  if (pages === 1 || page.older.is !== 'whole') return found();
  return found(unread === null ? UNKNOWN : exactly(unread));
}

/** Ids are whole numbers: nothing lies between the cursor and the id after it. */
function reaches(page: Page, after: number): boolean {
  const oldest = page.rows[0]?.id;
  return page.older.is === 'whole' || (oldest !== undefined && oldest <= after + 1);
}

function spanOf(rows: readonly WireRow[], after: number, top?: number): readonly Span[] {
  const [oldest, newest] = [rows[0]?.id, rows.at(-1)?.id];
  if (oldest === undefined || newest === undefined) return [];
  return [{ from: Math.max(oldest, after + 1), to: top ?? newest }];
}

function keep(rows: readonly WireRow[], { after, contentChars, done, turn }: Walk): Row[] | Promise<Row[]> {
  const wanted = rows.filter(({ id }) => id > after && (done.length === 0 || spanAround(done, id) === null));
  return mapInTurns(wanted, turn, (row) => trimmed(row, contentChars));
}

/** The rows of the newest page, for who has no cursor. */
export function newestRows({ rows }: Page, contentChars: number | null, turn: Turn): Row[] | Promise<Row[]> {
  return mapInTurns(rows, turn, (row) => trimmed(row, contentChars));
}
