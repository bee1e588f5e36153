import { type Count, exactly, findSpan, mergeSpans, type Span, toFault, UNKNOWN } from '../../../model/index.ts';
import type { Message } from '../../source.ts';
import type { HiveWindow } from '../client.ts';
import type { AnswerReading } from './answer.ts';
import { toMessage } from './message.ts';
import type { HivePage, RawMessage } from './page.ts';
import { askBelow, readAhead, type WalkRange } from './read-ahead.ts';
import { mapInTurns, type YieldTurn } from './turns.ts';

/** How many pages one poll may fetch. */
export const PAGE_BUDGET = 50;

export interface Walk extends WalkRange {
  readonly contentChars: number | null;
  /** Fetches the newest messages below an id. */
  readonly ask: (before: number) => Promise<Uint8Array>;
  readonly read: (body: Uint8Array, before: number) => Promise<HivePage>;
  readonly turn: YieldTurn;
  readonly reading: AnswerReading;
  readonly signal: AbortSignal;
}

/** The newest page alone, as the window for a poll without a cursor. */
export function toWindow(page: HivePage): HiveWindow {
  const { unread, hiddenUnread } = page;
  const hidden = hiddenUnread === null ? {} : { hidden: { unread: hiddenUnread, floor: page.messages[0]?.id ?? null } };
  return { messages: [], max: page.messages.at(-1)?.id ?? 0, unread, urgent: UNKNOWN, ...hidden };
}

/**
 * Walks from the newest page back to the cursor and returns every message above `after` that is not done. Only a page that
 * reaches the cursor, or says it is the last, completes the walk. Any other end leaves a gap, and the messages fetched so far are
 * returned all the same (Kijito contract, traps 14 to 21).
 * The next poll continues below what is done by then, so a gap of any size is closed in the end.
 * @throws what the signal aborts with
 */
export function walkBack(newest: HivePage, walk: Walk): HiveWindow | Promise<HiveWindow> {
  if (!hasReached(newest, walk.after)) return walkOn(newest, walk);
  const messages = toNewMessages(newest.messages, walk);
  const window = toWindow(newest);
  return messages instanceof Promise
    ? messages.then((newMessages) => ({ ...window, messages: newMessages }))
    : { ...window, messages };
}

async function walkOn(newest: HivePage, walk: Walk): Promise<HiveWindow> {
  /** What is kept of each page. The page itself is released, because bodies of messages may be large. */
  const messagesByPage: Message[][] = [];
  /** The last page until it is trimmed: at the end, or while the next page is fetched. */
  let whole: HivePage | null = newest;
  const trim = async (): Promise<void> => {
    const page = whole;
    whole = null;
    if (page !== null) messagesByPage.push(await toNewMessages(page.messages, walk));
  };
  const spans: Span[] = [...toSpans(newest.messages, walk.after)];
  const finishWindow = async (unread: Count = newest.unread): Promise<HiveWindow> => {
    await trim();
    return { ...toWindow(newest), messages: messagesByPage.toReversed().flat(), unread };
  };
  const finishWithGap = async (why: string): Promise<HiveWindow> => {
    const window = await finishWindow();
    const walked = messagesByPage.slice(1).reduce((sum, messages) => sum + messages.length, 0);
    const floor = newest.messages[0]?.id ?? null;
    const { omitted } = newest;
    return {
      ...window,
      gap: { why: `${walk.reading.from()}: ${why}`, spans: mergeSpans(spans), omitted, floor, walked },
    };
  };
  let page = newest;
  let pages = 1;
  let unread = newest.unreadHere;
  const bodies = readAhead(walk.ask, walk, PAGE_BUDGET - 1, walk.turn);
  while (!hasReached(page, walk.after)) {
    if (page.older.is !== 'older') return finishWithGap(page.older.is === 'unsaid' ? page.older.why : 'it ends');
    const below = askBelow(page.older.before, walk);
    if (below === null) break;
    const { before, skips } = below;
    if (pages === PAGE_BUDGET)
      return finishWithGap(`the cursor ${walk.after} is not reached within ${PAGE_BUDGET} pages`);
    try {
      const coming = bodies(before);
      await trim();
      page = await walk.read(await coming, before);
    } catch (error) {
      walk.signal.throwIfAborted();
      return finishWithGap(toFault(error, walk.reading.scope).message);
    }
    const newestId = page.messages.at(-1)?.id ?? 0;
    if (newestId >= before) return finishWithGap(`asked for rows before ${before}, it holds ${newestId}`);
    pages += 1;
    whole = page;
    // From its oldest message up to the requested id, this page leaves nothing out.
    spans.push(...toSpans(page.messages, walk.after, before - 1));
    unread = unread === null || page.unreadHere === null || skips ? null : unread + page.unreadHere;
  }
  if (pages === 1 || page.older.is !== 'whole') return finishWindow();
  return finishWindow(unread === null ? UNKNOWN : exactly(unread));
}

/** Ids are whole numbers, so nothing lies between the cursor and the next id. */
function hasReached(page: HivePage, after: number): boolean {
  const oldest = page.messages[0]?.id;
  return page.older.is === 'whole' || (oldest !== undefined && oldest <= after + 1);
}

function toSpans(messages: readonly RawMessage[], after: number, top?: number): readonly Span[] {
  const [oldest, newest] = [messages[0]?.id, messages.at(-1)?.id];
  if (oldest === undefined || newest === undefined) return [];
  return [{ from: Math.max(oldest, after + 1), to: top ?? newest }];
}

function toNewMessages(
  messages: readonly RawMessage[],
  { after, contentChars, done, turn }: Walk,
): Message[] | Promise<Message[]> {
  const newMessages = messages.filter(({ id }) => id > after && (done.length === 0 || findSpan(done, id) === null));
  return mapInTurns(newMessages, turn, (message) => toMessage(message, contentChars));
}

/** The messages of the newest page, for a caller without a cursor. */
export function toNewestMessages(
  { messages }: HivePage,
  contentChars: number | null,
  turn: YieldTurn,
): Message[] | Promise<Message[]> {
  return mapInTurns(messages, turn, (message) => toMessage(message, contentChars));
}
