import type { HookMoment } from '../../../core/hooks/index.ts';
import type { Items } from '../../../core/inbox/index.ts';
import {
  type DaemonConfig,
  formatDrainCommand,
  formatInboxDrainCommand,
  formatWorkNotice,
  LOCAL,
} from '../../../core/link/index.ts';
import { formatItemCount } from './texts.ts';

/** What waits for a session of which its daemon knows nothing. */
export interface UncountedWork {
  /** In the local hive, by priority. */
  readonly items: HookMoment['pending'];
  /** In the event file of another source. */
  readonly events: number;
}

export interface BellTarget {
  readonly config: DaemonConfig;
  /** In the local hive. */
  readonly name: string;
  readonly session: string | null;
}

/**
 * The items of the local hive that no daemon counts: those for this session alone; and all of them where the upstream of the
 * daemon is elsewhere.
 */
export function countUncounted(items: Items, { config, name, session }: BellTarget): HookMoment['pending'] {
  const pending = items.pending(name, session);
  if (config.upstream !== LOCAL) return pending;
  const own = items.pending(name, null);
  const countBeside = (priority: 0 | 1 | 2 | 3 | 4): number => Math.max(0, pending[priority] - own[priority]);
  return [countBeside(0), countBeside(1), countBeside(2), countBeside(3), countBeside(4)];
}

/** The line for all that waits. @param isRung the daemon rings as well */
export function formatBellLine(
  { config, name, session }: BellTarget,
  { items, events }: UncountedWork,
  hasRung: boolean,
): string {
  const isBeside = items.some((count) => count > 0);
  const isOne = hasRung && config.upstream === LOCAL;
  const commands = [
    ...(hasRung ? [formatDrainCommand(config, isBeside ? session : null)] : []),
    ...(isBeside && !isOne ? [formatInboxDrainCommand(name, session)] : []),
    ...(events === 0 ? [] : [`${formatItemCount(events)} in the inbox of its own system`]),
  ];
  return formatWorkNotice(config, commands);
}
