import { subtle } from 'node:crypto';
import { Fault, type Scope, type Span } from '../../model/index.ts';
import { formatUrl, type HttpResponse } from '../../net/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { PendingCounts } from '../source.ts';
import type { HiveClient, HiveWindow } from './client.ts';
import {
  type AnswerReading,
  createListDefects,
  type HivePage,
  parseAnswerInTurns,
  parseDirectory,
  parsePage,
  parsePendingCounts,
  parseRawMessages,
  toNewestMessages,
  toWindow,
  walkBack,
} from './read/index.ts';

/** Fetches bytes over HTTP. `createHttpClient` of core/net creates one. */
export interface Fetcher extends AsyncDisposable {
  get(
    path: string,
    signal: AbortSignal,
    options?: { readonly deadlineMs?: number },
  ): Promise<Pick<HttpResponse, 'body'>>;
  /** Drops every connection; the next request makes a new one. Absent when the fetcher cannot do this. */
  reset?(): void;
}

export interface HttpHiveOptions {
  readonly hive: Hive;
  /** Owned by the client, which closes it. */
  readonly fetcher: Fetcher;
  readonly clock: Clock;
  /** How many code points of content a message keeps; null keeps none (`--no-content`). */
  readonly contentChars: number | null;
  /**
   * Whether the pending list is asked for a cursor, so that it can be held later. Without it the request is the plain one of rev
   * 6.
   */
  readonly longPoll: boolean;
  /** The scope of a fault that concerns the whole hive. */
  readonly scope: Scope;
  /** Logs entries of the hive's lists that cannot be read. */
  readonly log: Log;
}

/** Time beyond the hold itself, for a server that answers at the last moment (Kijito contract a). */
const HOLD_GRACE_MS = 10_000;

/**
 * `wait` of a request that should return at once. The contract does not say whether a server holds a first request without a
 * cursor; this is the most it can cost.
 */
const SHORTEST_WAIT_S = 1;

/** The newest page of an inbox, so that the same bytes need not be parsed again. */
interface NewestPage {
  readonly fingerprint: Uint8Array;
  readonly window: HiveWindow;
}

/** Answers up to this size are kept whole, which is quicker to compare than a digest. */
const COMPARED_WHOLE_BYTES = 16 * 1024;

/** A digest by which to recognise a body. It is computed on another thread, since a large body takes milliseconds. */
async function computeFingerprint(body: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle.digest('SHA-256', body as Uint8Array<ArrayBuffer>));
}

/** A hive over HTTP. Every inbox request says `mark_read=false`. */
export function createHttpHive(options: HttpHiveOptions): HiveClient {
  const { hive, fetcher, clock, contentChars, scope, log } = options;
  const newestPages = new Map<string, NewestPage>();
  let sendsWindows = false;
  /** The last pending list. Even with a thousand personas, most requests return the same bytes. */
  let lastPending: { readonly body: Uint8Array; readonly levels: PendingCounts } | null = null;

  const fetchUrl = (url: URL, signal: AbortSignal, deadlineMs?: number): Promise<{ readonly body: Uint8Array }> =>
    fetcher.get(url.pathname + url.search, signal, deadlineMs === undefined ? {} : { deadlineMs });
  const createReading = (url: URL, readingScope: Scope = scope): AnswerReading => ({
    from: () => formatUrl(url),
    scope: readingScope,
  });
  const toInboxScope = (address: string): Scope =>
    hive.is === 'single' ? scope : { is: 'persona', key: `${scope.key}/${address}` };

  async function window(
    address: string,
    after: number | null,
    signal: AbortSignal,
    done: readonly Span[] = [],
  ): Promise<HiveWindow> {
    const url = hive.inbox(address);
    const reading = createReading(url, toInboxScope(address));
    const { body } = await fetchUrl(url, signal);
    const known = newestPages.get(address);
    const fingerprint = body.length <= COMPARED_WHOLE_BYTES ? body : await computeFingerprint(body);
    if (
      known !== undefined &&
      after !== null &&
      after >= known.window.max &&
      Buffer.compare(known.fingerprint, fingerprint) === 0
    )
      return known.window;
    const turn = (): Promise<void> => clock.sleep(0, signal);
    const owner = hive.is === 'single' ? '' : address;
    const readPage = async (body: Uint8Array, pageReading: AnswerReading): Promise<HivePage> => {
      const { envelope, result } = await parseAnswerInTurns(body, pageReading, turn);
      const page = parsePage(
        envelope,
        await parseRawMessages(result, pageReading, turn),
        pageReading,
        owner,
        sendsWindows,
      );
      sendsWindows ||= page.isWindow;
      return page;
    };
    const newest = await readPage(body, reading);
    const newestWindow = toWindow(newest);
    // An empty page that says older messages exist proves nothing about messages above a cursor, however often it comes.
    if (newest.messages.length === 0 && newest.older.is !== 'whole') newestPages.delete(address);
    else newestPages.set(address, { fingerprint: Uint8Array.from(fingerprint), window: newestWindow }); // a copy of a shared buffer
    if (after === null) return { ...newestWindow, messages: await toNewestMessages(newest, contentChars, turn) };
    const toOlderUrl = (before: number): URL => {
      const page = hive.inbox(address);
      page.searchParams.set('before_id', String(before));
      return page;
    };
    return walkBack(newest, {
      ...{ after, done, contentChars, reading, signal, turn },
      ask: async (before) => (await fetchUrl(toOlderUrl(before), signal)).body,
      read: (body, before) => readPage(body, createReading(toOlderUrl(before), reading.scope)),
    });
  }

  const common = {
    window,
    ...(fetcher.reset === undefined ? {} : { reset: fetcher.reset.bind(fetcher) }),
    [Symbol.asyncDispose]: () => fetcher[Symbol.asyncDispose](),
  };
  if (hive.is === 'single') return common;
  const directoryDefects = createListDefects(() => formatUrl(hive.personas), log);
  const pendingDefects = createListDefects(() => formatUrl(hive.pending), log);
  const directory = async (signal: AbortSignal) => {
    const { body } = await fetchUrl(hive.personas, signal);
    const reading = createReading(hive.personas);
    const answer = await parseAnswerInTurns(body, reading, () => clock.sleep(0, signal));
    return directoryDefects.collect((report) => parseDirectory(answer, reading, report));
  };
  return {
    ...common,
    personas: async (signal) => [...(await directory(signal)).keys()],
    directory,
    pending: async (hold, signal) => {
      const url = new URL(hive.pending);
      if (hold !== null) {
        url.search = `?wait=${Math.ceil(hold.ms / 1000)}&cursor=${encodeURIComponent(hold.cursor)}`;
      } else if (options.longPoll) {
        url.search = `?wait=${SHORTEST_WAIT_S}`;
      }
      const { body } = await fetchUrl(url, signal, hold === null ? undefined : hold.ms + HOLD_GRACE_MS);
      if (lastPending !== null && Buffer.compare(lastPending.body, body) === 0)
        return { ...lastPending.levels, at: clock.now() };
      const reading = createReading(hive.pending);
      const answer = await parseAnswerInTurns(body, reading, () => clock.sleep(0, signal));
      const levels = pendingDefects.collect((report) => parsePendingCounts(answer, clock.now(), reading, report));
      lastPending = { body, levels };
      return levels;
    },
  };
}

/** The URLs of a hive. `single` is a `--url`: one inbox, without directory and pending list. */
export type Hive =
  | { readonly is: 'hive'; readonly personas: URL; readonly pending: URL; inbox(address: string): URL }
  | { readonly is: 'single'; inbox(address: string): URL };

/**
 * The URLs of the hive at `base`, which may have a path (Kijito contract a).
 * @throws Fault `bad-url` when it is no URL, or has a query or a fragment
 */
export function parseHiveUrl(base: string, scope: Scope): Hive {
  const root = URL.parse(base);
  if (root === null) throw new Fault('bad-url', `${JSON.stringify(base)} is not a URL`, scope);
  if (root.search !== '' || root.hash !== '') {
    throw new Fault(
      'bad-url',
      `the base of a hive must have neither query nor fragment: ${JSON.stringify(base)}`,
      scope,
    );
  }
  const buildUrl = (path: string): URL => {
    const url = new URL(root);
    url.pathname = root.pathname.replace(/\/+$/, '') + path;
    return url;
  };
  return {
    is: 'hive',
    personas: buildUrl('/api/personas'),
    pending: buildUrl('/api/notify/pending'),
    inbox: (address) => {
      const url = buildUrl('/api/inbox');
      url.search = `?persona=${encodeURIComponent(address.toWellFormed())}&mark_read=false`;
      return url;
    },
  };
}

/**
 * The one inbox of a `--url`. Requests always say `mark_read=false`, whatever the user wrote, because polls never consume.
 * @throws Fault `bad-url` when it is no URL
 */
export function parseInboxUrl(text: string, scope: Scope): Hive {
  const url = URL.parse(text);
  if (url === null) throw new Fault('bad-url', `${JSON.stringify(text)} is not a URL`, scope);
  url.hash = '';
  url.searchParams.delete('mark_read');
  url.searchParams.append('mark_read', 'false');
  return { is: 'single', inbox: () => new URL(url) };
}
