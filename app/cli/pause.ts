import { defineCommand } from '../../core/command/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { act } from './act.ts';
import { formatSpan, parseSpan, SPAN_FLAGS } from './span.ts';

export const command = defineCommand(
  {
    name: 'pause',
    about: ['No notifications. Mail is still counted and events are still written.'],
    flags: SPAN_FLAGS,
    examples: [
      { run: 'hivebar pause --for 30m', does: 'quiet for half an hour' },
      { run: 'hivebar pause', does: 'quiet until hivebar resume' },
    ],
  },
  async (flags, io) => {
    if ((await act(io, 'pause', parseSpan(flags, realClock.now()))) === null) return 1;
    io.out(`notifications are paused${formatSpan(flags, ' until they are resumed')}\n`);
    return 0;
  },
);
