import type { Io } from '../../../core/command/index.ts';
import { retire } from './retire.ts';

/** `daemon destroy`: ends daemons and removes everything of them from this machine. @throws Fault `usage` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  return await retire('destroy', args, io, () => ({ unit: 'removed', config: 'removed' }));
}
