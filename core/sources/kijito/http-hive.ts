import { subtle } from 'node:crypto';
import type { Scope, Span } from '../../model/index.ts';
import { type Answer, shownUrl } from '../../net/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Levels } from '../source.ts';
import type { HiveClient, Window } from './client.ts';
import type { Hive } from './hive.ts';
import {
  answerOf,
  createListDefects,
  levelsOf,
  newestRows,
  type Page,
  pageOf,
  type Reading,
  rollOf,
  rowsOf,
  walkBack,
  windowOf,
} from './read/index.ts';

/** How bytes are fetched; `httpClient` of core/net is one. */
export interface Fetcher extends AsyncDisposable {
  get(path: string, signal: AbortSignal, options?: { readonly deadlineMs?: number }): Promise<Pick<Answer, 'body'>>;
  /** Drops every connection; the next request makes a new one. Presence is the capability. */
  reset?(): void;
}

export interface HttpHiveOptions {
  readonly hive: Hive;
  /** Owned: closed with the client. */
  readonly fetcher: Fetcher;
  readonly clock: Clock;
  /** Code points of content a row keeps; null: none at all (`--no-content`). */
  readonly contentChars: number | null;
  /** Asks the pending list for a cursor, so that it can be held later. Off: it is asked plainly, as rev 6 does. */
  readonly longPoll: boolean;
  /** Of a fault that concerns the whole hive. */
  readonly scope: Scope;
  /** Hears of entries of the hive's lists that cannot be read. */
  readonly log: Log;
}

/** Beyond the hold itself, for a server that answers at its last moment (Kijito contract a). */
const HOLD_GRACE_MS = 10_000;

/**
 * `wait` of a request that is meant to come back at once. It is not stated whether a server holds a first request that
 * has no cursor; this is the most it can cost.
 */
const SHORTEST_WAIT_S = 1;

/** What the newest page of an inbox was, so that the same bytes need not be parsed again. */
interface Seen {
  readonly print: Uint8Array;
  readonly window: Window;
}

/** Answers up to this size are kept as they are, which is quicker to compare than any digest. */
const KEPT_WHOLE = 16 * 1024;

/** What to know a body again by. A large one is digested on another thread: that takes milliseconds. */
async function printOf(body: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle.digest('SHA-256', body as Uint8Array<ArrayBuffer>));
}

/** A hive over HTTP. Every inbox request says `mark_read=false`. */
export function httpHive(options: HttpHiveOptions): HiveClient {
  const { hive, fetcher, clock, contentChars, scope, log } = options;
  const seen = new Map<string, Seen>();
  let sendsWindows = false;
  /** The last pending list: of a thousand personas most seconds bring the same bytes. */
  let counted: { readonly body: Uint8Array; readonly levels: Levels } | null = null;

  const fetched = (url: URL, signal: AbortSignal, deadlineMs?: number): Promise<{ readonly body: Uint8Array }> =>
    fetcher.get(url.pathname + url.search, signal, deadlineMs === undefined ? {} : { deadlineMs });
  const readingOf = (url: URL, of: Scope = scope): Reading => ({ from: () => shownUrl(url), scope: of });
  const inboxScope = (address: string): Scope =>
    hive.is === 'single' ? scope : { is: 'persona', key: `${scope.key}/${address}` };

  async function window(
    address: string,
    after: number | null,
    signal: AbortSignal,
    done: readonly Span[] = [],
  ): Promise<Window> {
    const url = hive.inbox(address);
    const reading = readingOf(url, inboxScope(address));
    const { body } = await fetched(url, signal);
    const known = seen.get(address);
    const print = body.length <= KEPT_WHOLE ? body : await printOf(body);
    if (known !== undefined && after !== null && after >= known.window.max && Buffer.compare(known.print, print) === 0)
      return known.window;
    const turn = (): Promise<void> => clock.sleep(0, signal);
    const owner = hive.is === 'single' ? '' : address;
    const pageIn = async (body: Uint8Array, of: Reading): Promise<Page> => {
      const { envelope, result } = await answerOf(body, of, turn);
      const page = pageOf(envelope, await rowsOf(result, of, turn), of, owner, sendsWindows);
      sendsWindows ||= page.isWindow;
      return page;
    };
    const newest = await pageIn(body, reading);
    const found = windowOf(newest);
    // An empty page that has older rows says nothing of what is above a cursor, however often it comes.
    if (newest.rows.length === 0 && newest.older.is !== 'whole') seen.delete(address);
    else seen.set(address, { print: Uint8Array.from(print), window: found }); // a copy: it is a piece of something larger
    if (after === null) return { ...found, rows: await newestRows(newest, contentChars, turn) };
    const older = (before: number): URL => {
      const page = hive.inbox(address);
      page.searchParams.set('before_id', String(before));
      return page;
    };
    return walkBack(newest, {
      ...{ after, done, contentChars, reading, signal, turn },
      ask: async (before) => (await fetched(older(before), signal)).body,
      read: (body, before) => pageIn(body, readingOf(older(before), reading.scope)),
    });
  }

  const common = {
    window,
    ...(fetcher.reset === undefined ? {} : { reset: fetcher.reset.bind(fetcher) }),
    [Symbol.asyncDispose]: () => fetcher[Symbol.asyncDispose](),
  };
  if (hive.is === 'single') return common;
  const directoryDefects = createListDefects(() => shownUrl(hive.personas), log);
  const pendingDefects = createListDefects(() => shownUrl(hive.pending), log);
  const roll = async (signal: AbortSignal) => {
    const { body } = await fetched(hive.personas, signal);
    const reading = readingOf(hive.personas);
    const answer = await answerOf(body, reading, () => clock.sleep(0, signal));
    return directoryDefects.collect((report) => rollOf(answer, reading, report));
  };
  return {
    ...common,
    personas: async (signal) => [...(await roll(signal)).keys()],
    roll,
    pending: async (hold, signal) => {
      const url = new URL(hive.pending);
      if (hold !== null) {
        url.search = `?wait=${Math.ceil(hold.ms / 1000)}&cursor=${encodeURIComponent(hold.cursor)}`;
      } else if (options.longPoll) {
        url.search = `?wait=${SHORTEST_WAIT_S}`;
      }
      const { body } = await fetched(url, signal, hold === null ? undefined : hold.ms + HOLD_GRACE_MS);
      if (counted !== null && Buffer.compare(counted.body, body) === 0) return { ...counted.levels, at: clock.now() };
      const reading = readingOf(hive.pending);
      const answer = await answerOf(body, reading, () => clock.sleep(0, signal));
      const levels = pendingDefects.collect((report) => levelsOf(answer, clock.now(), reading, report));
      counted = { body, levels };
      return levels;
    },
  };
}
