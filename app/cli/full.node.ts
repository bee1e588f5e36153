import { keepHeapSmall, keepProgramSmall } from '../compose/small-heap.node.ts';
import { COMMANDS } from './commands.ts';
import { main } from './main.node.ts';

export function run(args: readonly string[]): Promise<void> {
  const [first, second] = args;
  // Before it is loaded.
  if (first === 'watch') keepHeapSmall({ storms: false });
  if (first === 'daemon' && second === 'run') keepProgramSmall();
  return main(args, COMMANDS);
}
