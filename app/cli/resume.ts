import { parseArgs } from 'node:util';
import { act } from './act.ts';
import type { Command } from './command.ts';
import { toUsageFault } from './outcome.ts';

export const command: Command = {
  usage: 'resume',
  about: ['Ends a pause. Personas that are muted stay so.'],
  examples: [{ run: 'hivebar resume', does: 'notifications come again' }],
  async run(args, io) {
    try {
      parseArgs({ args: [...args], options: {} });
    } catch (error) {
      throw toUsageFault(error);
    }
    if ((await act(io, 'resume', {})) === null) return 1;
    io.out('notifications come again\n');
    return 0;
  },
};
