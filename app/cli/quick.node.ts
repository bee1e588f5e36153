import type { CommandEntry } from '../../core/command/index.ts';
import * as complete from './complete.ts';
import { main } from './main.node.ts';
import { COMPLETE, QUICK_COMMANDS } from './quick-commands.ts';

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  ...QUICK_COMMANDS,
  [COMPLETE]: { summary: 'the names of all personas, for shells', needs: 'bare', load: async () => complete },
};

export const run = (args: readonly string[]): Promise<void> => main(args, COMMANDS);
