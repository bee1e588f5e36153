import { parseArgs } from 'node:util';
import { displayName } from '../../core/format/index.ts';
import { act } from './act.ts';
import type { Command } from './command.ts';
import { toUsageFault } from './outcome.ts';

export const command: Command = {
  usage: 'poll [PERSONA]',
  about: ['Without PERSONA all of them are looked at. Nothing is marked read.'],
  examples: [
    { run: 'hivebar poll', does: 'look everywhere' },
    { run: 'hivebar poll ada', does: 'look for mail of ada' },
  ],
  async run(args, io) {
    const persona = parsePersona(args);
    if ((await act(io, 'poll', persona === null ? {} : { persona })) === null) return 1;
    io.out(persona === null ? 'looking into every inbox\n' : `looking for mail of ${displayName(persona)}\n`);
    return 0;
  },
};

function parsePersona(args: readonly string[]): string | null {
  try {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    if (positionals.length > 1) throw new Error(`one persona at a time, or none for all; not ${positionals.join(' ')}`);
    return positionals[0] ?? null;
  } catch (error) {
    throw toUsageFault(error);
  }
}
