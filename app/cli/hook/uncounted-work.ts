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

/** Work that waits for a session and that its daemon does not count. */
export interface UncountedWork {
  /** Items in the local hive, by priority. */
  readonly items: HookMoment['pending'];
  /** Events of another source, from the event file. */
  readonly events: number;
}

export interface BellTarget {
  readonly config: DaemonConfig;
  /** The persona's name in the local hive. */
  readonly name: string;
  readonly session: string | null;
}

/**
 * Counts the items of the local hive that the daemon does not count: those for this session alone. With an upstream elsewhere
 * it is all of them.
 */
export function countUncounted(items: Items, { config, name, session }: BellTarget): HookMoment['pending'] {
  const pending = items.pending(name, session);
  if (config.upstream !== LOCAL) return pending;
  const own = items.pending(name, null);
  const countBeside = (priority: 0 | 1 | 2 | 3 | 4): number => Math.max(0, pending[priority] - own[priority]);
  return [countBeside(0), countBeside(1), countBeside(2), countBeside(3), countBeside(4)];
}

/** Formats the line for everything that waits. @param hasRung whether the daemon rings as well */
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
