import type { Io } from '../../../core/command/index.ts';
import { retire } from './retire.ts';

/** `daemon archive`: ends daemons and removes them from the launcher; configuration and tokens stay. @throws Fault `usage` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  return await retire('archive', args, io, () => ({ unit: 'removed', config: 'kept' }));
}
