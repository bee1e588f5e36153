import type { Io } from '../../../core/command/index.ts';
import { retire } from './retire.ts';

/** `daemon uninstall`: reverses `daemon install`, but leaves lingering on. @throws Fault `usage` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  return await retire('uninstall', args, io, (leavesFiles) => ({
    unit: 'removed',
    config: leavesFiles ? 'kept' : 'removed',
  }));
}
