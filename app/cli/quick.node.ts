import { main } from './main.node.ts';
import { QUICK_COMMANDS } from './quick-commands.ts';

export const run = (args: readonly string[]): Promise<void> => main(args, QUICK_COMMANDS);
