import { createHash } from 'node:crypto';
import type { ProcessEnd, Spawn } from '../../../core/ports/index.ts';
import type { ClickTarget } from '../../open/index.ts';
import type { Channel, ChannelListener, ChannelModule, Notification, NotificationKey } from './channel.ts';

/** Banners on the desktop of this machine. The settings `notifications` and `sound` are about it. */
export const desktop: ChannelModule = {
  name: 'desktop',
  place: 'desktop',
  settings: null,
  open: (_settings, host) => host.openDesktop(host.listener),
};

/**
 * One way to show banners on a desktop. Calls for one key are made one after the other, never at the same time. Disposing removes
 * the banners that could no longer answer a click.
 */
export interface DesktopBackend extends AsyncDisposable {
  /** What it can do; by default everything. */
  readonly can?: Channel['can'];
  /**
   * Shows the banner, or replaces the banner with the same key if that is on the screen. Resolves when the desktop accepted it,
   * which does not mean that anybody saw it. @throws Error when the desktop refused it or there is none.
   */
  show(notification: Notification): Promise<void>;
  /** Removes the banner if it is on the screen. @throws Error when the desktop refused. */
  withdraw(key: NotificationKey): Promise<void>;
}

/** How the desktop knows Hivebar. */
export interface DesktopIdentity {
  /** The name of our .desktop file, without the suffix. */
  readonly desktopEntry: string;
  /** The absolute path of an image. */
  readonly icon: string;
}

/** Opens a backend that reports to `listener`. */
export type OpenBackend = (listener: ChannelListener) => DesktopBackend;

/** Opens the channel `desktop` over a backend. */
export function createDesktopChannel(open: OpenBackend, listener: ChannelListener): Channel {
  const backend = open(listener);
  return {
    name: 'desktop',
    can: backend.can ?? ALL,
    send: (notification) => backend.show(notification),
    withdraw: (key) => backend.withdraw(key),
    close: async () => await backend[Symbol.asyncDispose](),
  };
}

const ALL: Channel['can'] = { replace: true, withdraw: true, buttons: 3 };

/** Creates a backend that shows nothing, and reports why. */
export function createOffBackend(why: string): OpenBackend {
  return (listener) => {
    listener.state({ is: 'off', why });
    return {
      show: () => Promise.reject(new Error(why)),
      withdraw: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  };
}

/**
 * The open banners of a channel that needs one process per banner. Their number is limited, and the oldest goes first. A process
 * that was replaced may still report something; `isLatest` says whether it belongs to the banner on the screen.
 */
export class OpenBanners<T> {
  readonly #most: number;
  readonly #open = new Map<NotificationKey, T>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Adds a banner. Returns those that must go: the one it replaces, and the oldest when there are too many. */
  add(key: NotificationKey, item: T): [NotificationKey, T, 'replaced' | 'crowded'][] {
    const before = this.#open.get(key);
    this.#open.delete(key); // so that it becomes the youngest
    this.#open.set(key, item);
    const going: [NotificationKey, T, 'replaced' | 'crowded'][] =
      before === undefined ? [] : [[key, before, 'replaced']];
    for (const [oldest, old] of this.#open) {
      if (this.#open.size <= this.#most) break;
      this.#open.delete(oldest);
      going.push([oldest, old, 'crowded']);
    }
    return going;
  }

  isLatest(key: NotificationKey, item: T): boolean {
    return this.#open.get(key) === item;
  }

  remove(key: NotificationKey): T | undefined {
    const item = this.#open.get(key);
    this.#open.delete(key);
    return item;
  }

  keys(): NotificationKey[] {
    return [...this.#open.keys()];
  }
}

/** Makes a short name of a key that every desktop accepts, whatever the persona is called. */
export function toGroupId(key: NotificationKey): string {
  return `hivebar-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
}

/** Desktop Notifications 1.2, "Categories". Names of our own begin with `x-`. */
export const CATEGORY: Readonly<Record<Notification['is'], string>> = {
  mail: 'email.arrived',
  outage: 'network.disconnected',
  recovery: 'network.connected',
  decision: 'x-hivebar.decision',
  wait: 'x-hivebar.wait',
  permission: 'x-hivebar.permission',
  question: 'x-hivebar.question',
  failed: 'x-hivebar.failed',
  wake: 'x-hivebar.wake',
  test: 'x-hivebar.test',
};

/** Names of the Sound Naming Specification. */
export const SOUND: Readonly<Record<Notification['is'], string>> = {
  mail: 'message-new-email',
  outage: 'network-connectivity-lost',
  recovery: 'network-connectivity-established',
  decision: 'dialog-question',
  wait: 'dialog-question',
  permission: 'dialog-question',
  question: 'dialog-question',
  failed: 'dialog-error',
  wake: 'message-new-email',
  test: 'message-new-email',
};

/**
 * Escapes plain text for a field that the desktop reads as markup. That is only the `body`, for a notification daemon with the
 * capability `body-markup` (Desktop Notifications 1.2, "Markup"); the summary is never markup.
 */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Makes text safe as the value of a command-line option. The program may take a leading `-` for another option, or a leading
 * bracket or quote for a property list (macOS user defaults). An invisible first character makes it plain text.
 */
export function escapeArgument(text: string): string {
  return /^[-([{<"'\\@/]/u.test(text) ? `\u200b${text}` : text;
}

const LIMIT_MS = 5000;
/** The texts are passed as arguments of the script and are never part of it. */
const SHOW = 'display notification (item 2 of argv) with title (item 1 of argv)';
/** Uses a sound that every macOS has. */
const WITH_SOUND = `${SHOW} sound name "Glass"`;

/**
 * Shows notifications on macOS without anything installed: text only. Clicks are not reported, and a shown banner cannot be
 * replaced or removed.
 */
export function createOsascriptBackend(
  file: string,
  env: Readonly<Record<string, string>>,
  spawn: Spawn,
  sound: boolean,
): OpenBackend {
  return (listener) => {
    listener.state({ is: 'ready', by: 'osascript, without clicks' });
    const stop = new AbortController();
    return {
      can: { replace: false, withdraw: false, buttons: 0 },
      show: async ({ title, body, ...rest }: Notification) => {
        const script = ['on run argv', (rest.sound ?? sound) ? WITH_SOUND : SHOW, 'end run'];
        const args = [...script.flatMap((line) => ['-e', line]), escapeArgument(title), escapeArgument(body)];
        const ended = await spawn.run({ file, args, env, timeoutMs: LIMIT_MS }, stop.signal);
        if (ended.is !== 'exited' || ended.code !== 0) throw new Error(formatFailure('osascript', ended));
      },
      withdraw: async () => {},
      [Symbol.asyncDispose]: async () => stop.abort(),
    };
  };
}

/**
 * Shows notifications with libnotify's `notify-send`, text only, and does not wait for a click: for a program that keeps no
 * connection to the session bus.
 */
export function createTextBackend(file: string, env: Readonly<Record<string, string>>, spawn: Spawn): OpenBackend {
  return (listener) => {
    listener.state({ is: 'ready', by: 'notify-send, without clicks' });
    const stop = new AbortController();
    return {
      can: { replace: false, withdraw: false, buttons: 0 },
      show: async ({ title, body }: Notification) => {
        const args = ['--app-name=Hivebar', '--', title, body];
        const ended = await spawn.run({ file, args, env, timeoutMs: LIMIT_MS }, stop.signal);
        if (ended.is !== 'exited' || ended.code !== 0) throw new Error(formatFailure('notify-send', ended));
      },
      withdraw: async () => {},
      [Symbol.asyncDispose]: async () => stop.abort(),
    };
  };
}

/**
 * Shows notifications on macOS with the user's own `terminal-notifier`, version 3 or newer. It opens the page itself on a click,
 * so neither clicks nor closings are reported.
 */
export function createTerminalNotifierBackend(
  file: string,
  env: Readonly<Record<string, string>>,
  spawn: Spawn,
  toPageUrl: (opens: ClickTarget) => string,
  sound: boolean,
): OpenBackend {
  return (listener) => {
    listener.state({ is: 'ready', by: 'terminal-notifier' });
    const stop = new AbortController();
    const run = async (args: readonly string[]): Promise<void> => {
      const ended = await spawn.run({ file, args, env, timeoutMs: LIMIT_MS }, stop.signal);
      if (ended.is !== 'exited' || ended.code !== 0) throw new Error(formatFailure('terminal-notifier', ended));
    };
    const backend: DesktopBackend = {
      can: { replace: true, withdraw: true, buttons: 0 },
      show: ({ key, title, body, opens, ...rest }: Notification) =>
        run([
          '-title',
          escapeArgument(title),
          '-message',
          escapeArgument(body === '' ? title : body), // an empty message is read as "take it from stdin"
          '-group', // a later one with the same group replaces it
          toGroupId(key),
          '-open',
          toPageUrl(opens),
          ...((rest.sound ?? sound) ? ['-sound', 'default'] : []),
        ]),
      withdraw: (key: NotificationKey) => run(['-remove', toGroupId(key)]),
      [Symbol.asyncDispose]: async () => stop.abort(), // what stays on the screen still opens the page
    };
    return backend;
  };
}

function formatFailure(program: string, ended: ProcessEnd): string {
  switch (ended.is) {
    case 'exited':
      return `${program} ended with ${ended.code}: ${ended.stderr.trim()}`;
    case 'killed':
      return `${program} was killed by ${ended.signal}`;
    case 'timeout':
      return `${program} timed out after ${LIMIT_MS / 1000} s`;
    case 'not-started':
      return `${program} could not be started: ${ended.why}`;
  }
}
