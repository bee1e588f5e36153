import { parseArgs } from 'node:util';
import { realClock } from '../../core/ports/index.ts';
import { act } from './act.ts';
import type { Command } from './command.ts';
import { toUsageFault } from './outcome.ts';
import { formatSpan, parseSpan, SPAN_FLAGS, SPAN_HELP } from './span.ts';

export const command: Command = {
  usage: 'pause [--for 30m|1h|2d | --until tomorrow|TIME]',
  about: ['No notifications at all; mail is counted and events are written as ever.', '', ...SPAN_HELP],
  examples: [
    { run: 'hivebar pause --for 30m', does: 'quiet for half an hour' },
    { run: 'hivebar pause', does: 'quiet until hivebar resume' },
  ],
  async run(args, io) {
    const { span, words } = parseArguments(args);
    if ((await act(io, 'pause', span)) === null) return 1;
    io.out(`notifications are paused${words}\n`);
    return 0;
  },
};

function parseArguments(args: readonly string[]) {
  try {
    const { values } = parseArgs({ args: [...args], options: SPAN_FLAGS });
    return { span: parseSpan(values, realClock.now()), words: formatSpan(values, ' until they are resumed') };
  } catch (error) {
    throw toUsageFault(error);
  }
}
