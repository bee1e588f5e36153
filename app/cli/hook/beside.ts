import type { Moment } from '../../../core/hooks/index.ts';
import type { Items } from '../../../core/inbox/index.ts';
import { type DaemonConfig, drainOf, inboxDrain, LOCAL, workWaits } from '../../../core/link/index.ts';
import { counted } from './texts.ts';

/** What waits for a session of which its daemon knows nothing. */
export interface Beside {
  /** In the local hive, by priority. */
  readonly items: Moment['pending'];
  /** In the event file of another source. */
  readonly events: number;
}

export interface Whose {
  readonly config: DaemonConfig;
  /** In the local hive. */
  readonly name: string;
  readonly session: string | null;
}

/**
 * The items of the local hive that no daemon counts: those for this session alone; and all of them where the upstream of the
 * daemon is elsewhere.
 */
export function uncounted(items: Items, { config, name, session }: Whose): Moment['pending'] {
  const all = items.pending(name, session);
  if (config.upstream !== LOCAL) return all;
  const own = items.pending(name, null);
  const beside = (priority: 0 | 1 | 2 | 3 | 4): number => Math.max(0, all[priority] - own[priority]);
  return [beside(0), beside(1), beside(2), beside(3), beside(4)];
}

/** The line for all that waits. @param isRung the daemon rings as well */
export function lineFor({ config, name, session }: Whose, { items, events }: Beside, isRung: boolean): string {
  const isBeside = items.some((count) => count > 0);
  const isOne = isRung && config.upstream === LOCAL;
  const commands = [
    ...(isRung ? [drainOf(config, isBeside ? session : null)] : []),
    ...(isBeside && !isOne ? [inboxDrain(name, session)] : []),
    ...(events === 0 ? [] : [`${counted(events)} in the inbox of its own system`]),
  ];
  return workWaits(config, commands);
}
