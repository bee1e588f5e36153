import { defineCommand } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { act } from './act.ts';
import { formatExcessPersonas, ONE_PERSONA } from './persona-action.ts';
import { formatSpan, parseSpan, SPAN_FLAGS } from './span.ts';

export const command = defineCommand(
  {
    name: 'mute',
    about: ['No notifications of this persona. Its mail is still counted and its events are still written.'],
    positionals: ONE_PERSONA,
    flags: SPAN_FLAGS,
    examples: [
      { run: 'hivebar mute ada --for 1h', does: 'quiet for an hour' },
      { run: 'hivebar mute ada', does: 'quiet until hivebar unmute ada' },
    ],
    messages: { excess: formatExcessPersonas },
  },
  async ({ persona, ...flags }, io) => {
    const span = parseSpan(flags, realClock.now());
    if ((await act(io, 'mute', { persona, ...span })) === null) return 1;
    io.out(`${displayName(persona)} is muted${formatSpan(flags, ' until it is unmuted')}\n`);
    return 0;
  },
);
