import type { ProcessEnd, Spawn } from '../../../core/ports/index.ts';
import type { ClickTarget } from '../../open/index.ts';
import type { Notification, NotificationKey } from './channel.ts';
import { type DesktopBackend, escapeArgument, type OpenBackend, toGroupId } from './desktop.ts';

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
    const script = ['on run argv', sound ? WITH_SOUND : SHOW, 'end run'];
    return {
      can: { replace: false, withdraw: false, buttons: 0 },
      show: async ({ title, body }: Notification) => {
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
      show: ({ key, title, body, opens }: Notification) =>
        run([
          '-title',
          escapeArgument(title),
          '-message',
          escapeArgument(body === '' ? title : body), // an empty message is read as "take it from stdin"
          '-group', // a later one with the same group replaces it
          toGroupId(key),
          '-open',
          toPageUrl(opens),
          ...(sound ? ['-sound', 'default'] : []),
        ]),
      withdraw: (key: NotificationKey) => run(['-remove', toGroupId(key)]),
      [Symbol.asyncDispose]: async () => stop.abort(), // what stays on the screen still opens the page
    };
    return backend;
  };
}

export function formatFailure(program: string, ended: ProcessEnd): string {
  switch (ended.is) {
    case 'exited':
      return `${program} ended with ${ended.code}: ${ended.stderr.trim()}`;
    case 'killed':
      return `${program} was ended by ${ended.signal}`;
    case 'timeout':
      return `${program} did not end in ${LIMIT_MS / 1000} s`;
    case 'not-started':
      return `${program} could not be started: ${ended.why}`;
  }
}
