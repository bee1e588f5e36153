import type { StatusWire } from '../app/status/wire.ts';

export type Link = 'live' | 'lost';

export interface Follower {
  status(status: StatusWire): void;
  /** How the connection does, in one word for the style sheet and in words for a person. */
  link(link: Link, words: string): void;
}

/** What the tab that holds the stream tells the others. */
type Told = { readonly is: 'status'; readonly status: StatusWire } | { readonly is: 'lost' };

/** Silence this long is not trusted: the status is asked for. */
const SILENT_MS = 20_000;
/** How often it is asked for while there is no stream, or no answer. */
const POLL_MS = 3000;
const TIMEOUT_MS = 5000;
const LOCK = 'hivebar-stream';

/**
 * Follows the status in this tab. A browser opens six connections to one server, so of any number of tabs one holds the
 * stream and tells the others (field report S18); a hidden tab holds none. Without news a tab asks by itself, so that it
 * says "lost" only of a server that does not answer, and says it also when a stream is open but dead.
 */
export function follow(follower: Follower): void {
  const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(LOCK);
  let heardAt = 0;
  let askedAt = 0;
  let streaming = false;
  let stop: AbortController | null = null;

  const heard = (status: StatusWire): void => {
    heardAt = performance.now();
    follower.status(status);
    follower.link('live', 'Live');
  };
  const lost = (): void => {
    heardAt = 0;
    follower.link('lost', 'Not connected; trying again');
  };
  const ask = async (): Promise<void> => {
    askedAt = performance.now();
    try {
      const answer = await fetch('/status.json', { signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      heard((await answer.json()) as StatusWire);
    } catch {
      lost(); // whatever it was, the person sees that these numbers are not news, and it is asked again
    }
  };
  const lead = (signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return Promise.resolve();
    const tell = (told: Told): void => channel?.postMessage(told);
    let stream: EventSource;
    let again = 0;
    const open = (): void => {
      stream = new EventSource('/api/v1/stream');
      stream.addEventListener('status', ({ data }) => {
        const status = JSON.parse(data) as StatusWire;
        streaming = true;
        heard(status);
        tell({ is: 'status', status });
      });
      stream.addEventListener('error', () => {
        streaming = false;
        lost();
        tell({ is: 'lost' });
        if (stream.readyState === EventSource.CLOSED) again = window.setTimeout(open, POLL_MS); // refused, not cut
      });
    };
    open();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        window.clearTimeout(again);
        stream.close();
        streaming = false;
        resolve();
      });
    });
  };
  const start = (): void => {
    if (stop !== null || document.hidden) return;
    stop = new AbortController();
    const { signal } = stop;
    void ask();
    if (channel === null || navigator.locks === undefined) return; // then every tab asks, and none holds a connection
    navigator.locks
      .request(LOCK, { signal }, () => lead(signal))
      .catch(() => {
        // the tab was hidden while it waited for its turn
      });
  };
  const end = (): void => {
    stop?.abort();
    stop = null;
  };

  channel?.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    if (streaming || stop === null) return;
    if (data.is === 'status') heard(data.status);
    else lost();
  });
  document.addEventListener('visibilitychange', () => (document.hidden ? end() : start()));
  window.addEventListener('pagehide', end);
  window.addEventListener('pageshow', start);
  setInterval(() => {
    if (stop === null) return;
    const now = performance.now();
    const alone = channel === null || navigator.locks === undefined;
    const quiet = now - heardAt > (alone ? POLL_MS : SILENT_MS) || heardAt === 0;
    if (quiet && now - askedAt >= POLL_MS) void ask();
  }, 1000);
  start();
}
