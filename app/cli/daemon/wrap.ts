import type { Io } from '../../../core/command/index.ts';
import { retire } from './retire.ts';

/** `daemon wrap`: ends daemons until they are installed again; unit, configuration and tokens stay. @throws Fault `usage` */
export async function run(args: readonly string[], io: Io): Promise<number> {
  return await retire('wrap', args, io, () => ({ unit: 'paused', config: 'kept' }));
}
