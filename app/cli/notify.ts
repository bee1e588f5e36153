import { parseArgs } from 'node:util';
import type { TextCommand } from '../../core/command/index.ts';
import { toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { unwrapResponse } from './outcome.ts';
import { askTray } from './tray-request.node.ts';

/** The answer of the action `notify-test`. */
interface BannerTestResult {
  readonly taken: boolean;
  readonly by: string;
  readonly why?: string;
  readonly silent?: 'paused' | 'quiet-hours' | null;
}

export const command: TextCommand = {
  usage: 'notify test',
  about: [
    'Shows a banner to try it out, whatever is paused or quiet, and says what the desktop answered.',
    'Whether a banner was seen cannot be known: a desktop that does not disturb keeps it to itself.',
  ],
  examples: [{ run: 'hivebar notify test', does: 'show a banner to try it out' }],
  async run(args, io) {
    requireTest(args);
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
    io.out(`the desktop took the banner (${by}); whether it shows it is up to the desktop\n`);
    if (result.silent === 'paused')
      io.out('notifications are paused: no other banner is shown until they are resumed\n');
    if (result.silent === 'quiet-hours') io.out('it is a quiet hour: other banners wait for its end\n');
    return 0;
  },
};

function requireTest(args: readonly string[]): void {
  try {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    if (positionals.length !== 1 || positionals[0] !== 'test') {
      throw new Error(
        `say what to do: hivebar notify test${positionals.length === 0 ? '' : `; not ${positionals.join(' ')}`}`,
      );
    }
  } catch (error) {
    throw toUsageFault(error);
  }
}
