import type { Spawn } from '../../core/ports/index.ts';
import type { Banner } from './banner.ts';
import type { OpenChannel } from './channel.ts';
import { formatFailure } from './terminal-notifier.ts';
import { escapeArgument } from './text.ts';

const LIMIT_MS = 5000;
/** The texts are passed as arguments of the script and are never part of it. */
const SHOW = 'display notification (item 2 of argv) with title (item 1 of argv)';
/** Uses a sound that every macOS has. */
const WITH_SOUND = `${SHOW} sound name "Glass"`;

/**
 * Shows notifications on macOS without anything installed: text only. Clicks are not reported, and a shown banner cannot be
 * replaced or removed.
 */
export function createOsascriptChannel(
  file: string,
  env: Readonly<Record<string, string>>,
  spawn: Spawn,
  sound: boolean,
): OpenChannel {
  return (listener) => {
    listener.state({ is: 'ready', by: 'osascript, without clicks' });
    const stop = new AbortController();
    const script = ['on run argv', sound ? WITH_SOUND : SHOW, 'end run'];
    return {
      show: async ({ title, body }: Banner) => {
        const args = [...script.flatMap((line) => ['-e', line]), escapeArgument(title), escapeArgument(body)];
        const ended = await spawn.run({ file, args, env, timeoutMs: LIMIT_MS }, stop.signal);
        if (ended.is !== 'exited' || ended.code !== 0) throw new Error(formatFailure('osascript', ended));
      },
      withdraw: async () => {},
      [Symbol.asyncDispose]: async () => stop.abort(),
    };
  };
}
