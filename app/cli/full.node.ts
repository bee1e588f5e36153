import { COMMANDS } from './commands.ts';
import { main } from './main.node.ts';

export const run = (args: readonly string[]): Promise<void> => main(args, COMMANDS);
