import type { ProcessEnd, Spawn } from '../../core/ports/index.ts';
import type { ClickTarget } from '../open/index.ts';
import type { Banner, BannerKey } from './banner.ts';
import type { NotifyChannel, OpenChannel } from './channel.ts';
import { toGroupId } from './open-banners.ts';
import { escapeArgument } from './text.ts';

const LIMIT_MS = 5000;

/**
 * Shows notifications on macOS with the user's own `terminal-notifier`, version 3 or newer. It opens the page itself on a click,
 * so neither clicks nor closings are reported.
 */
export function createTerminalNotifierChannel(
  file: string,
  env: Readonly<Record<string, string>>,
  spawn: Spawn,
  toPageUrl: (opens: ClickTarget) => string,
  sound: boolean,
): OpenChannel {
  return (listener) => {
    listener.state({ is: 'ready', by: 'terminal-notifier' });
    const stop = new AbortController();
    const run = async (args: readonly string[]): Promise<void> => {
      const ended = await spawn.run({ file, args, env, timeoutMs: LIMIT_MS }, stop.signal);
      if (ended.is !== 'exited' || ended.code !== 0) throw new Error(formatFailure('terminal-notifier', ended));
    };
    const channel: NotifyChannel = {
      show: ({ key, title, body, opens }: Banner) =>
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
      withdraw: (key: BannerKey) => run(['-remove', toGroupId(key)]),
      [Symbol.asyncDispose]: async () => stop.abort(), // what stays on the screen still opens the page
    };
    return channel;
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
