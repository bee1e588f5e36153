import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { Clock } from '../../../../core/ports/index.ts';
import type { ClickTarget } from '../../../open/index.ts';
import type { ChannelListener, Notification, NotificationKey } from '../channel.ts';
import { type DesktopBackend, escapeArgument, type OpenBackend, OpenBanners, toGroupId } from '../desktop.ts';

/** A failure shows within this time. A helper that runs longer waits for a person. */
const FAILS_WITHIN_MS = 500;
/** Each open banner is a process that runs until somebody acts. */
const MOST_OPEN = 8;

/** The calls to one platform's helper. `answer` is called once per banner. */
interface NotifierHelper {
  readonly by: string;
  show(banner: Notification, answer: (error: Error | null, response: string | undefined) => void): void;
  remove(key: NotificationKey): void;
  /** Returns what an answer of the helper means. */
  interpretResponse(response: string | undefined): 'clicked' | 'dismissed' | 'gone';
}

/**
 * Shows notifications on macOS with the `terminal-notifier` of node-notifier, an Intel program: for Intel machines, or with
 * Rosetta. `program` is its path. The helper opens the page itself on a click. It gets no `timeout` and no `wait`, because either would close the banner
 * after seconds.
 */
export async function createMacHelperBackend(
  toPageUrl: (opens: ClickTarget) => string,
  sound: boolean,
  clock: Clock,
  program: string,
): Promise<OpenBackend> {
  const { default: NotificationCenter } = await import('node-notifier/notifiers/notificationcenter.js');
  const center = new NotificationCenter({ customPath: program });
  return createHelperBackend(clock, {
    by: 'node-notifier (terminal-notifier)',
    show: ({ key, title, body, opens, ...rest }, answer) => {
      const request = {
        title: escapeArgument(title),
        message: escapeArgument(body === '' ? title : body),
        group: toGroupId(key),
        open: toPageUrl(opens),
        timeout: false,
        sound: rest.sound ?? sound,
      } as const;
      center.notify(request, answer);
    },
    remove: (key) => {
      const request = { remove: toGroupId(key), timeout: false } as const;
      center.notify(request, () => {}); // the answer to a removal needs no action
    },
    // The page is open already, so a click only means that somebody has seen the banner.
    interpretResponse: (response) => (response === 'activate' || response === 'closed' ? 'dismissed' : 'gone'),
  });
}

/**
 * Shows notifications on Windows with the SnoreToast of node-notifier; `file` is its path. We start it ourselves, because node-notifier mistakes
 * a helper that crashed for one that showed its banner. It gets no `appID`, because with one no click is reported. A toast that
 * moved to the Action Centre reports nothing any more.
 */
export function createToasterBackend(sound: boolean, clock: Clock, file: string): OpenBackend {
  return createHelperBackend(clock, {
    by: 'node-notifier (SnoreToast)',
    show: ({ key, title, body, ...rest }, answer) => {
      const texts = ['-t', toToastText(title), '-m', toToastText(body === '' ? ' ' : body)];
      const soundArgs = (rest.sound ?? sound) ? ['-s', 'Notification.Default'] : ['-silent'];
      showToast(file, [...texts, '-id', String(toToastId(key)), ...soundArgs], answer);
    },
    remove: (key) => closeToast(file, toToastId(key)),
    interpretResponse: (action) => {
      if (action === 'clicked') return 'clicked';
      return action === 'dismissed' ? 'dismissed' : 'gone'; // no answer means nothing, and certainly not "read"
    },
  });
}

/** Windows refuses a toast with an escape character (0xC00CE508), and no argument can hold a NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these two are what it is about
const toToastText = (text: string): string => escapeArgument(text.replace(/[\0\x1b]/g, ''));

function createHelperBackend(clock: Clock, helper: NotifierHelper): OpenBackend {
  return (listener) => {
    listener.state({ is: 'ready', by: helper.by });
    return new HelperBackend(clock, helper, listener);
  };
}

class HelperBackend implements DesktopBackend {
  readonly #clock: Clock;
  readonly #helper: NotifierHelper;
  readonly #listener: ChannelListener;
  /** Each banner has its own object, so that a late answer of a replaced banner is recognized. */
  readonly #open = new OpenBanners<object>(MOST_OPEN);

  constructor(clock: Clock, helper: NotifierHelper, listener: ChannelListener) {
    this.#clock = clock;
    this.#helper = helper;
    this.#listener = listener;
  }

  show(banner: Notification): Promise<void> {
    const { key } = banner;
    const bannerToken = {};
    for (const [removedKey, , why] of this.#open.add(key, bannerToken)) {
      if (why === 'replaced') continue; // the new one replaces it, because it has the same group
      this.#helper.remove(removedKey);
      this.#listener.closed(removedKey, 'channel');
    }
    return new Promise((resolve, reject) => {
      const limit = this.#clock.after(FAILS_WITHIN_MS, resolve);
      this.#helper.show(banner, (error, response) => {
        limit[Symbol.dispose]();
        if (error instanceof Error) reject(error);
        else resolve();
        if (!this.#open.isLatest(key, bannerToken)) return;
        this.#open.remove(key);
        if (error instanceof Error) return;
        const meaning = this.#helper.interpretResponse(response);
        if (meaning === 'clicked') this.#listener.clicked(key, 'banner', null);
        else this.#listener.closed(key, meaning === 'dismissed' ? 'person' : 'channel');
      });
    });
  }

  async withdraw(key: NotificationKey): Promise<void> {
    if (this.#open.remove(key) !== undefined) this.#helper.remove(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of this.#open.keys()) await this.withdraw(key);
  }
}

/** Returns SnoreToast's id for the key: 32 bits of its hash. */
function toToastId(key: NotificationKey): number {
  return Number.parseInt(toGroupId(key).slice(-8), 16);
}

/** Called with what a person did, for example `clicked` or `dismissed`; undefined when it is not known. */
export type ToastAnswer = (error: Error | null, action: string | undefined) => void;

/**
 * SnoreToast's exit codes for clicked, hidden, dismissed, timed out, a button, a text. A failure is -1, and a crash is any code
 * of Windows.
 */
const ENDS = [0, 1, 2, 3, 4, 5];
const MOST_BYTES = 4096;

/** Shows a toast, and reports once how it ended. A signal or an exit code that is not SnoreToast's own is an error. */
export function showToast(file: string, args: readonly string[], answer: ToastAnswer): void {
  const pipe = `\\\\.\\pipe\\hivebar-toast-${randomUUID()}`;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {}); // the helper is gone: its exit is reported
    socket.on('data', (chunk: Buffer) => {
      if (bytes < MOST_BYTES) chunks.push(chunk);
      bytes += chunk.length;
    });
  });
  let isOver = false;
  const end = (error: Error | null): void => {
    if (isOver) return;
    isOver = true;
    const action = /(?:^|;)action=(\w+)/.exec(Buffer.concat(chunks).toString('utf16le'))?.[1];
    answer(error, action);
  };
  server.on('error', end);
  server.listen(pipe, () => {
    const child = spawn(file, [...args, '-pipeName', pipe], { stdio: 'ignore', windowsHide: true });
    // The server is closed only after the helper's output was read.
    child.on('error', (error) => server.close(() => end(error)));
    child.on('exit', (code, signal) => {
      const isKnownEnd = code !== null && ENDS.includes(code);
      const error = isKnownEnd ? null : new Error(`${file} ended with ${signal ?? `code ${code}`}`);
      setImmediate(() => server.close(() => end(error)));
    });
  });
}

/** Removes a toast from the screen. The result is ignored. */
export function closeToast(file: string, id: number): void {
  spawn(file, ['-close', String(id)], { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
