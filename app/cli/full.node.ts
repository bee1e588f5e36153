import { keepHeapSmall } from '../compose/small-heap.node.ts';
import { COMMANDS } from './commands.ts';
import { main } from './main.node.ts';

export function run(args: readonly string[]): Promise<void> {
  if (args[0] === 'watch') keepHeapSmall({ storms: false }); // before it is loaded
  return main(args, COMMANDS);
}
