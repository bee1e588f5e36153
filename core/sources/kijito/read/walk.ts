import { type Count, exactly, findSpan, mergeSpans, type Span, toFault, UNKNOWN } from '../../../model/index.ts';
import { mapInTurns, type YieldTurn } from '../../json-parts.ts';
import type { Message } from '../../source.ts';
import { cut, formatJson, sanitizeText } from '../../source-tools.ts';
import type { HiveWindow } from '../client.ts';
import type { AnswerReading, HivePage, RawMessage } from './page.ts';

/** How many pages one poll may fetch. */
export const PAGE_BUDGET = 50;

interface Walk extends WalkRange {
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

/**
 * A raw message reduced to what Hivebar keeps. `contentChars` cuts the content to that many code points; null leaves it out. Lone
 * surrogates and NUL would break a spawn or a file write later (Kijito contract, trap 8), so they are removed here.
 */
export function toMessage({ id, fields }: RawMessage, contentChars: number | null): Message {
  return {
    id,
    from: cleanText(fields.from),
    created: cleanText(fields.created),
    content: contentChars === null ? null : cut(cleanText(fields.content), contentChars),
    read: fields.read === true,
  };
}

/** Text stays as it is, null and undefined become empty, and any other value becomes its JSON (D18), or a placeholder. */
function cleanText(value: unknown): string {
  const text = typeof value === 'string' ? value : value === null || value === undefined ? '' : formatJson(value);
  return sanitizeText(text);
}

/** The part of a walk that decides where to ask next. */
export interface WalkRange {
  readonly after: number;
  /** Id ranges above `after` that need not be fetched again, as `mergeSpans` returns them. */
  readonly done: readonly Span[];
}

/**
 * Where a walk asks next when it has every message from `before` on: below the adjacent range that is done. Null when nothing is
 * left above the cursor. `skips`: done messages lie in between.
 */
export function askBelow(
  before: number,
  { after, done }: WalkRange,
): { readonly before: number; skips: boolean } | null {
  const known = findSpan(done, before - 1);
  const from = known?.from ?? before;
  return from <= after + 1 ? null : { before: from, skips: known !== null };
}

/**
 * Returns a function that fetches bodies of older pages one after the other, at most `most` of them. The end of a body says where
 * the walk continues. That value is used as a hint and requested at once, so that the server works while the body is read.
 * The reader decides where the walk really continues. A wrong hint, from a page that contradicts itself, costs one request.
 */
export function readAhead(
  ask: (before: number) => Promise<Uint8Array>,
  range: WalkRange,
  most: number,
  turn: YieldTurn,
): (before: number) => Promise<Uint8Array> {
  let requestCount = 0;
  let coming: { readonly before: number; readonly body: Promise<Uint8Array> } | null = null;
  const begin = (before: number) => {
    requestCount += 1;
    const body = ask(before);
    body.catch(() => {}); // whoever awaits the body gets the error, if anybody does
    return { before, body };
  };
  return async (before) => {
    const body = await (coming?.before === before ? coming : begin(before)).body;
    const hint = parseContinuation(body);
    const next = hint === null || hint >= before || requestCount >= most ? null : askBelow(hint, range);
    coming = next === null ? null : begin(next.before);
    await turn(); // the request leaves with the next turn of the event loop, and other work runs before a long body is read
    return body;
  };
}

/** Enough bytes for the fields after the messages. */
const END_BYTES = 256;
const CONTINUATION = /"next_before_id"\s*:\s*([1-9]\d{0,14})\s*[,}]/;

function parseContinuation(body: Uint8Array): number | null {
  const end = body.subarray(-END_BYTES);
  const match = CONTINUATION.exec(Buffer.from(end.buffer, end.byteOffset, end.byteLength).toString('latin1'));
  return match === null ? null : Number(match[1]);
}
