import type { NewestWire, StatusChangeWire, StatusWire } from '../app/status/wire.ts';
import { formatClockTime } from '../core/format/index.ts';
import { applyChange } from './apply-change.ts';
import { ask, TokenNeededError } from './token.ts';

/** `closed` means that the server answers, and requires the token. */
type LinkState = 'live' | LostLinkState;
type LostLinkState = 'lost' | 'closed';

interface StatusFollower {
  /** `changed`: the ids of the personas that look different or are gone; null: any may. */
  status(status: StatusWire, changed: ReadonlySet<string> | null): void;
  /** The newest message of each persona that has one. Nobody has one without the token. */
  newest?(newest: NewestWire['newest'], changed: ReadonlySet<string>): void;
  /** The state of the connection, in one word for the style sheet and in words for a person. */
  link(link: LinkState, words: string): void;
}

/** What the server says: one message of the stream, or the answer to a request. */
type Frame =
  | { readonly is: 'status'; readonly status: StatusWire }
  | { readonly is: 'change'; readonly change: StatusChangeWire }
  | { readonly is: 'newest'; readonly newest: NewestWire['newest'] };

/** A message between tabs: the one that holds the stream forwards it to the others. */
type TabMessage =
  | Frame
  | { readonly is: 'unheard'; readonly link: LostLinkState }
  /** A tab opened and needs everything; `again`: from another stream, because there is a token now. */
  | { readonly is: 'hello'; readonly again: boolean };

const WORDS: Readonly<Record<LinkState, string>> = {
  live: 'Live',
  lost: 'Disconnected, retrying',
  closed: 'Token needed',
};

/** After this much silence the status is requested. */
const SILENT_MS = 20_000;
/** How often the status is requested while there is no stream or no answer. */
const POLL_MS = 3000;
/** A tab that opens waits this long for the stream, its own or that of another tab, before it requests the status. */
const OPENING_MS = 1000;
const TIMEOUT_MS = 5000;
const LOCK = 'hivebar-stream';

/**
 * Follows the status in this tab. A browser opens only six connections to one server, so one tab holds the stream and forwards it
 * to the others (field report S18). A hidden tab holds none. Without news a tab requests the status itself. So it shows "lost"
 * only when the server does not answer, and shows it also when a stream is open but dead. Returns a function that asks for everything
 * again, for when there is a token.
 */
export function follow(follower: StatusFollower): () => void {
  const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(LOCK);
  let heardAt = 0;
  let requestedAt = 0;
  let held: StatusWire | null = null;
  let newest: NewestWire['newest'] = {};
  let stream: AbortController | null = null;
  let stop: AbortController | null = null;

  const handle = (frame: Frame): void => {
    if (frame.is === 'change' && held === null) return; // the whole status is on its way
    heardAt = performance.now();
    if (frame.is === 'newest') {
      newest = { ...newest, ...frame.newest };
      follower.newest?.(newest, new Set(Object.keys(frame.newest)));
    } else if (frame.is === 'status') {
      held = frame.status;
      follower.status(held, null);
    } else if (held !== null) {
      const { status, changed } = applyChange(held, frame.change);
      held = status;
      follower.status(status, changed);
    }
    follower.link('live', WORDS.live);
  };
  const showLost = (link: LostLinkState): void => {
    heardAt = 0;
    const old =
      link === 'lost' && held !== null
        ? `; last update ${formatClockTime(Date.parse(held.generatedAt), Date.now())}`
        : '';
    follower.link(link, `${WORDS[link]}${old}`);
  };
  const post = (message: TabMessage): void => channel?.postMessage(message);
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
      handle({ is: 'status', status: (await answer.json()) as StatusWire });
    } catch (error) {
      handleFailure(error);
    }
  };
  const leadTabs = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const opened = new AbortController();
      stream = opened;
      try {
        for await (const frame of streamFrames(AbortSignal.any([signal, opened.signal]))) {
          handle(frame);
          post(frame);
        }
        throw new Error('the stream ended');
      } catch (error) {
        stream = null;
        if (signal.aborted) return;
        if (opened.signal.aborted) continue; // another one is wanted at once
        post({ is: 'unheard', link: handleFailure(error) });
      }
      await waitFor(POLL_MS, signal);
    }
  };
  const start = (): void => {
    if (stop !== null || document.hidden) return;
    stop = new AbortController();
    const { signal } = stop;
    held = null;
    if (channel === null || navigator.locks === undefined) return void pollNow(); // every tab polls, and none holds a connection
    requestedAt = performance.now() - POLL_MS + OPENING_MS;
    navigator.locks
      .request(LOCK, { signal }, () => leadTabs(signal))
      .catch(() => {
        // the tab was hidden while it waited for the lock
      });
    post({ is: 'hello', again: false });
  };
  const end = (): void => {
    stop?.abort();
    stop = null;
  };
  /** Starts another stream where there is one, here or in another tab. */
  const askAgain = (): void => {
    void pollNow();
    stream?.abort();
    if (stream === null) post({ is: 'hello', again: true });
  };

  channel?.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (data.is === 'hello') {
      if (stream === null) return;
      if (data.again) return stream.abort();
      if (held !== null) post({ is: 'status', status: held });
      post({ is: 'newest', newest });
    } else if (stream === null && stop !== null) {
      if (data.is === 'unheard') showLost(data.link);
      else handle(data);
    }
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
  return askAgain;
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
 * Yields what the stream says until it ends. It uses `fetch`, since an `EventSource` cannot send the token.
 * @throws TokenNeededError, or the error that prevented, cut off or silenced the stream
 */
async function* streamFrames(signal: AbortSignal): AsyncGenerator<Frame> {
  const silence = new AbortController();
  const wait = (): number => window.setTimeout(() => silence.abort(), DEAD_MS);
  let timer = wait();
  try {
    const path = '/api/v1/stream?events=false&status=changes';
    const { body } = await ask(path, AbortSignal.any([signal, silence.signal]));
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ; ) {
      const read = await reader?.read();
      if (read?.value === undefined) return;
      window.clearTimeout(timer);
      timer = wait();
      const messages = (rest + read.value).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) yield* parseFrame(message);
    }
  } finally {
    window.clearTimeout(timer);
  }
}

/** Messages of other kinds are for other readers. */
function parseFrame(message: string): Frame[] {
  const [, event, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(message) ?? [];
  if (event === 'status') return [{ is: event, status: JSON.parse(data) as StatusWire }];
  if (event === 'change') return [{ is: event, change: JSON.parse(data) as StatusChangeWire }];
  if (event === 'newest') return [{ is: event, newest: (JSON.parse(data) as NewestWire).newest }];
  return [];
}
