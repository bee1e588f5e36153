import '../compose/small-heap.node.ts'; // first: what is loaded from here on is what it is for
import { COMMANDS } from './commands.ts';
import { main } from './main.node.ts';

export const run = (args: readonly string[]): Promise<void> => main(args, COMMANDS);
