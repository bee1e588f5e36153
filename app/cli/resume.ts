import { defineCommand } from '../../core/command/index.ts';
import { act } from './act.ts';

export const command = defineCommand(
  {
    name: 'resume',
    about: ['Ends a pause. Personas that are muted stay so.'],
    examples: [{ run: 'hivebar resume', does: 'notifications come again' }],
  },
  async (_values, io) => {
    if ((await act(io, 'resume', {})) === null) return 1;
    io.out('notifications come again\n');
    return 0;
  },
);
