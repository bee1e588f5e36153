import type { StatusWire } from '../app/status/wire.ts';
import { formatClockTime } from '../core/format/index.ts';
import { ask, TokenNeededError } from './token.ts';

/** `closed` means that the server answers, and requires the token. */
type LinkState = 'live' | LostLinkState;
type LostLinkState = 'lost' | 'closed';

interface StatusFollower {
  status(status: StatusWire): void;
  /** The state of the connection, in one word for the style sheet and in words for a person. */
  link(link: LinkState, words: string): void;
}

/** A message from the tab that holds the stream to the others. */
type TabMessage =
  | { readonly is: 'status'; readonly status: StatusWire }
  | { readonly is: 'unheard'; readonly link: LostLinkState };

const WORDS: Readonly<Record<LinkState, string>> = {
  live: 'Live',
  lost: 'Disconnected, retrying',
  closed: 'Token needed',
};

/** After this much silence the status is requested. */
const SILENT_MS = 20_000;
/** How often the status is requested while there is no stream or no answer. */
const POLL_MS = 3000;
const TIMEOUT_MS = 5000;
const LOCK = 'hivebar-stream';

/**
 * Follows the status in this tab. A browser opens only six connections to one server, so one tab holds the stream and forwards it
 * to the others (field report S18). A hidden tab holds none. Without news a tab requests the status itself. So it shows "lost"
 * only when the server does not answer, and shows it also when a stream is open but dead. Returns a function that requests the
 * status at once.
 */
export function follow(follower: StatusFollower): () => void {
  const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(LOCK);
  let heardAt = 0;
  let requestedAt = 0;
  let asOf: string | null = null;
  let streaming = false;
  let stop: AbortController | null = null;

  const handleStatus = (status: StatusWire): void => {
    heardAt = performance.now();
    asOf = status.generatedAt;
    follower.status(status);
    follower.link('live', WORDS.live);
  };
  const showLost = (link: LostLinkState): void => {
    heardAt = 0;
    const old =
      link === 'lost' && asOf !== null ? `; last update ${formatClockTime(Date.parse(asOf), Date.now())}` : '';
    follower.link(link, `${WORDS[link]}${old}`);
  };
  /** After any failure the person sees that these numbers are old, and the status is requested again. */
  const handleFailure = (error: unknown): LostLinkState => {
    const link = error instanceof TokenNeededError ? 'closed' : 'lost';
    showLost(link);
    return link;
  };
  const pollNow = async (): Promise<void> => {
    requestedAt = performance.now();
    try {
      const answer = await ask('/status.json', AbortSignal.timeout(TIMEOUT_MS));
      handleStatus((await answer.json()) as StatusWire);
    } catch (error) {
      handleFailure(error);
    }
  };
  const leadTabs = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        for await (const status of streamStatuses(signal)) {
          streaming = true;
          handleStatus(status);
          channel?.postMessage({ is: 'status', status } satisfies TabMessage);
        }
        throw new Error('the stream ended');
      } catch (error) {
        streaming = false;
        if (signal.aborted) return;
        const link = handleFailure(error);
        channel?.postMessage({ is: 'unheard', link } satisfies TabMessage);
      }
      await waitFor(POLL_MS, signal);
    }
  };
  const start = (): void => {
    if (stop !== null || document.hidden) return;
    stop = new AbortController();
    const { signal } = stop;
    void pollNow();
    if (channel === null || navigator.locks === undefined) return; // then every tab polls, and none holds a connection
    navigator.locks
      .request(LOCK, { signal }, () => leadTabs(signal))
      .catch(() => {
        // the tab was hidden while it waited for the lock
      });
  };
  const end = (): void => {
    stop?.abort();
    stop = null;
  };

  channel?.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (streaming || stop === null) return;
    if (data.is === 'status') handleStatus(data.status);
    else showLost(data.link);
  });
  document.addEventListener('visibilitychange', () => (document.hidden ? end() : start()));
  window.addEventListener('pagehide', end);
  window.addEventListener('pageshow', start);
  setInterval(() => {
    if (stop === null) return;
    const now = performance.now();
    const alone = channel === null || navigator.locks === undefined;
    const quiet = now - heardAt > (alone ? POLL_MS : SILENT_MS) || heardAt === 0;
    if (quiet && now - requestedAt >= POLL_MS) void pollNow();
  }, 1000);
  start();
  return () => void pollNow();
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      window.clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = window.setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/**
 * The server sends something at least every 15 s. A connection that is silent for this long is dead, whatever the system reports.
 */
const DEAD_MS = 35_000;

/**
 * Yields the `status` messages of the stream until it ends. It uses `fetch`, since an `EventSource` cannot send the token.
 * @throws TokenNeededError, or the error that prevented, cut off or silenced the stream
 */
async function* streamStatuses(signal: AbortSignal): AsyncGenerator<StatusWire> {
  const silence = new AbortController();
  const wait = (): number => window.setTimeout(() => silence.abort(), DEAD_MS);
  let timer = wait();
  try {
    const { body } = await ask('/api/v1/stream?events=false', AbortSignal.any([signal, silence.signal]));
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ; ) {
      const read = await reader?.read();
      if (read?.value === undefined) return;
      window.clearTimeout(timer);
      timer = wait();
      const messages = (rest + read.value).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) {
        const data = /^event: status\ndata: (.*)$/.exec(message)?.[1];
        if (data !== undefined) yield JSON.parse(data) as StatusWire;
      }
    }
  } finally {
    window.clearTimeout(timer);
  }
}
