import type { Clock } from '../../core/ports/index.ts';
import type { ClickTarget } from '../open/index.ts';
import type { Banner, BannerKey } from './banner.ts';
import type { ChannelListener, NotifyChannel, OpenChannel } from './channel.ts';
import { OpenBanners, toGroupId } from './open-banners.ts';
import { closeToast, findSnoreToast, showToast } from './snore-toast.node.ts';
import { escapeArgument } from './text.ts';

/** A failure shows within this time; a helper that runs longer waits for a person. */
const FAILS_WITHIN_MS = 500;
/** Each open banner is a process that lives until somebody acts. */
const MOST_OPEN = 8;

/** What one platform's helper is asked; `answer` comes once a banner. */
interface NotifierHelper {
  readonly by: string;
  show(banner: Banner, answer: (error: Error | null, response: string | undefined) => void): void;
  remove(key: BannerKey): void;
  /** What an answer means. */
  interpretResponse(response: string | undefined): 'clicked' | 'dismissed' | 'gone';
}

export interface VendoredOptions {
  /** In place of the helper program inside node-notifier. */
  readonly customPath?: string;
}

/**
 * macOS by the `terminal-notifier` inside node-notifier, an Intel program: for Intel machines, or with Rosetta. The helper
 * opens the page itself on a click. No `timeout` and no `wait`, either of which would close the banner after seconds.
 */
export async function createMacHelperChannel(
  toPageUrl: (opens: ClickTarget) => string,
  sound: boolean,
  clock: Clock,
  { customPath }: VendoredOptions = {},
): Promise<OpenChannel> {
  const { default: notifier } = await import('node-notifier');
  const center = new notifier.NotificationCenter(customPath === undefined ? {} : { customPath });
  return createHelperChannel(clock, {
    by: 'node-notifier (terminal-notifier)',
    show: ({ key, title, body, opens }, answer) => {
      const request = {
        title: escapeArgument(title),
        message: escapeArgument(body === '' ? title : body),
        group: toGroupId(key),
        open: toPageUrl(opens),
        timeout: false,
        sound,
      } as const;
      center.notify(request, answer);
    },
    remove: (key) => {
      const request = { remove: toGroupId(key), timeout: false } as const;
      center.notify(request, () => {}); // it answers when it is done, and nothing follows from it
    },
    // The page is opened already, so a click is only somebody taking note.
    interpretResponse: (response) => (response === 'activate' || response === 'closed' ? 'dismissed' : 'gone'),
  });
}

/**
 * Windows by the SnoreToast inside node-notifier, which we start ourselves: node-notifier takes a helper that crashed for one that
 * showed its banner. Without an `appID`, since with one no click is reported. A toast that has gone to the Action Centre reports nothing any more.
 */
export async function createToasterChannel(
  sound: boolean,
  clock: Clock,
  { customPath }: VendoredOptions = {},
): Promise<OpenChannel> {
  const file = customPath ?? findSnoreToast(process.arch);
  return createHelperChannel(clock, {
    by: 'node-notifier (SnoreToast)',
    show: ({ key, title, body }, answer) => {
      const texts = ['-t', toToastText(title), '-m', toToastText(body === '' ? ' ' : body)];
      const soundArgs = sound ? ['-s', 'Notification.Default'] : ['-silent'];
      showToast(file, [...texts, '-id', String(toToastId(key)), ...soundArgs], answer);
    },
    remove: (key) => closeToast(file, toToastId(key)),
    interpretResponse: (action) => {
      if (action === 'clicked') return 'clicked';
      return action === 'dismissed' ? 'dismissed' : 'gone'; // no answer says nothing, least of all "read"
    },
  });
}

/** Windows refuses a toast with an escape character (0xC00CE508), and no argument can hold a NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these two are what it is about
const toToastText = (text: string): string => escapeArgument(text.replace(/[\0\x1b]/g, ''));

function createHelperChannel(clock: Clock, helper: NotifierHelper): OpenChannel {
  return (listener) => {
    listener.state({ is: 'ready', by: helper.by });
    return new HelperChannel(clock, helper, listener);
  };
}

class HelperChannel implements NotifyChannel {
  readonly #clock: Clock;
  readonly #helper: NotifierHelper;
  readonly #listener: ChannelListener;
  /** Each banner as an object of its own, so that a late answer is known for what it is. */
  readonly #open = new OpenBanners<object>(MOST_OPEN);

  constructor(clock: Clock, helper: NotifierHelper, listener: ChannelListener) {
    this.#clock = clock;
    this.#helper = helper;
    this.#listener = listener;
  }

  show(banner: Banner): Promise<void> {
    const { key } = banner;
    const bannerToken = {};
    for (const [removedKey, , why] of this.#open.add(key, bannerToken)) {
      if (why === 'replaced') continue; // the same group takes its place by itself
      this.#helper.remove(removedKey);
      this.#listener.closed(removedKey, 'desktop');
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
        else this.#listener.closed(key, meaning === 'dismissed' ? 'person' : 'desktop');
      });
    });
  }

  async withdraw(key: BannerKey): Promise<void> {
    if (this.#open.remove(key) !== undefined) this.#helper.remove(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of this.#open.keys()) await this.withdraw(key);
  }
}

/** SnoreToast's id for the key: 32 bits of its hash. */
function toToastId(key: BannerKey): number {
  return Number.parseInt(toGroupId(key).slice(-8), 16);
}
