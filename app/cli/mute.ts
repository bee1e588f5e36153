import { parseArgs } from 'node:util';
import { displayName } from '../../core/format/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { act } from './act.ts';
import type { Command } from './command.ts';
import { toUsageFault } from './outcome.ts';
import { requireOnePersona } from './persona-action.ts';
import { formatSpan, parseSpan, SPAN_FLAGS, SPAN_HELP } from './span.ts';

export const command: Command = {
  usage: 'mute PERSONA [--for 30m|1h|2d | --until tomorrow|TIME]',
  about: [
    'No notifications of this persona; its mail is counted and its events are written as ever.',
    '',
    ...SPAN_HELP,
  ],
  examples: [
    { run: 'hivebar mute ada --for 1h', does: 'quiet for an hour' },
    { run: 'hivebar mute ada', does: 'quiet until hivebar unmute ada' },
  ],
  async run(args, io) {
    const { persona, span, words } = parseArguments(args);
    if ((await act(io, 'mute', { persona, ...span })) === null) return 1;
    io.out(`${displayName(persona)} is muted${words}\n`);
    return 0;
  },
};

function parseArguments(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: SPAN_FLAGS, allowPositionals: true });
    const persona = requireOnePersona(positionals);
    return { persona, span: parseSpan(values, realClock.now()), words: formatSpan(values, ' until it is unmuted') };
  } catch (error) {
    throw toUsageFault(error);
  }
}
