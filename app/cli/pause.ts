import { parseArgs } from 'node:util';
import { realClock } from '../../core/ports/index.ts';
import { act } from './act.ts';
import type { Command } from './command.ts';
import { usage } from './outcome.ts';
import { SPAN_FLAGS, SPAN_HELP, spanOf, spanWords } from './span.ts';

export const command: Command = {
  usage: 'pause [--for 30m|1h|2d | --until tomorrow|TIME]',
  about: ['No notifications at all; mail is counted and events are written as ever.', '', ...SPAN_HELP],
  examples: [
    { run: 'hivebar pause --for 30m', does: 'quiet for half an hour' },
    { run: 'hivebar pause', does: 'quiet until hivebar resume' },
  ],
  async run(args, io) {
    const { span, words } = parsed(args);
    if ((await act(io, 'pause', span)) === null) return 1;
    io.out(`notifications are paused${words}\n`);
    return 0;
  },
};

function parsed(args: readonly string[]) {
  try {
    const { values } = parseArgs({ args: [...args], options: SPAN_FLAGS });
    return { span: spanOf(values, realClock.now()), words: spanWords(values, ' until they are resumed') };
  } catch (error) {
    throw usage(error);
  }
}
