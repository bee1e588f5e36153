import { defineCommand } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { act } from './act.ts';

export const command = defineCommand(
  {
    name: 'poll',
    about: ['Without PERSONA it polls all of them. Nothing is marked as read.'],
    examples: [
      { run: 'hivebar poll', does: 'look everywhere' },
      { run: 'hivebar poll ada', does: 'look for mail of ada' },
    ],
    positionals: { persona: { value: 'PERSONA', optional: true, completes: 'persona' } },
  },
  async ({ persona }, io) => {
    if ((await act(io, 'poll', persona === undefined ? {} : { persona })) === null) return 1;
    io.out(persona === undefined ? 'polling every inbox\n' : `polling ${displayName(persona)}\n`);
    return 0;
  },
);
