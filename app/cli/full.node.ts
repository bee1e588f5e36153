import { limitHeap, limitProgramMemory } from '../host/machine.node.ts';
import { COMMANDS } from './commands.ts';
import { main } from './main.node.ts';

export function run(args: readonly string[]): Promise<void> {
  const [first, second] = args;
  // The limit must be set before the command is loaded.
  if (first === 'watch') limitHeap({ storms: false });
  if (first === 'daemon' && second === 'run') limitProgramMemory();
  return main(args, COMMANDS);
}
