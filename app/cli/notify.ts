import { defineCommand } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { unwrapResponse } from './act.ts';
import { askTray } from './tray-request.node.ts';

/** The answer of the action `notify-test`. */
interface BannerTestResult {
  readonly taken: boolean;
  readonly by: string;
  /** The channels that were tried. */
  readonly channels?: readonly string[];
  readonly why?: string;
  readonly silent?: 'paused' | 'quiet-hours' | null;
}

/** The channel that everybody has. */
const DESKTOP = 'desktop';

export const command = defineCommand(
  {
    name: 'notify',
    about: [
      'Hivebar cannot know whether a banner was seen: in do-not-disturb mode a desktop accepts it without showing it.',
    ],
    verbs: {
      test: {
        help: 'show a test banner, even while notifications are paused, and print what the desktop answered',
      },
    },
    examples: [{ run: 'hivebar notify test', does: 'show a test banner' }],
  },
  async (_values, io) => {
    const response = await askTray({ method: 'POST', path: '/api/v1/actions/notify-test', body: '{}' }, io.env);
    const body = unwrapResponse(response, io);
    if (body === null) return 1;
    const { result } = JSON.parse(body) as { result: BannerTestResult };
    const by = displayName(result.by);
    if (!result.taken) {
      io.err(`the banner was refused: ${displayName(result.why ?? by)} (notifications: ${by})\n`);
      io.err('run `hivebar doctor` to see what is missing\n');
      return 1;
    }
    const { channels = [DESKTOP] } = result;
    io.out(
      channels.every((name) => name === DESKTOP)
        ? `the desktop accepted the banner (${by}); whether it shows it is up to the desktop\n`
        : `these channels accepted the notification: ${channels.map(displayName).join(', ')} (${by})\n`,
    );
    if (result.silent === 'paused')
      io.out('notifications are paused: no other banner is shown until they are resumed\n');
    if (result.silent === 'quiet-hours') io.out('quiet hours are on: other banners wait until they end\n');
    return 0;
  },
);
