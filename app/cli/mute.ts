import { parseArgs } from 'node:util';
import { realClock } from '../../core/ports/index.ts';
import { printable } from '../printable.ts';
import { act } from './act.ts';
import type { Command } from './command.ts';
import { usage } from './outcome.ts';
import { onePersona } from './persona-action.ts';
import { SPAN_FLAGS, SPAN_HELP, spanOf, spanWords } from './span.ts';

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
    const { persona, span, words } = parsed(args);
    if ((await act(io, 'mute', { persona, ...span })) === null) return 1;
    io.out(`${printable(persona)} is muted${words}\n`);
    return 0;
  },
};

function parsed(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: SPAN_FLAGS, allowPositionals: true });
    const persona = onePersona(positionals);
    return { persona, span: spanOf(values, realClock.now()), words: spanWords(values, ' until it is unmuted') };
  } catch (error) {
    throw usage(error);
  }
}
