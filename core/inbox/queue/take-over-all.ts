import type { Fault } from '../../model/index.ts';
import { toIoFault } from '../../state/index.ts';
import type { QueueMachine } from './machine.ts';
import { hasQueues, listQueueFiles, type QueueSession } from './queue-files.ts';
import { type Insert, takeOver } from './take-over.ts';

export interface TakeOverAllOptions {
  readonly machine: QueueMachine;
  /** Hivebar's state directory. */
  readonly state: string;
  /** All stored sessions of every persona, and the asking session if it is not stored yet. */
  readonly sessions: readonly QueueSession[];
  /** Whose queues; null: everybody's. */
  readonly persona: string | null;
  readonly insert: Insert;
  /** For all locks together: 250 for a hook; 0 for the tray, which tries again at its next tick. */
  readonly waitMs: number;
}

export interface TakeOverAllResult {
  readonly items: number;
  readonly bad: number;
  /** Files whose lock was held; they are unchanged. */
  readonly held: readonly string[];
  /** Failures; the other files were processed anyway. */
  readonly faults: readonly Fault[];
}

/**
 * Takes over every queue of one persona or of all. It runs before a drain, and once per tick of the tray. Without lines it costs
 * two `lstat` calls per file. Never throws for a file. A failing `insert` is also one of the faults, and its lines wait for the
 * next time.
 */
export function takeOverAll({
  machine,
  state,
  sessions,
  persona,
  insert,
  waitMs,
}: TakeOverAllOptions): TakeOverAllResult {
  const { clock, disk } = machine;
  const until = clock.monotonic() + waitMs;
  const held: string[] = [];
  const faults: Fault[] = [];
  let items = 0;
  let bad = 0;
  const orFault = <T>(path: string, instead: T, attempt: () => T): T => {
    try {
      return attempt();
    } catch (error) {
      faults.push(toIoFault(error, path, 'unreadable'));
      return instead;
    }
  };
  const folders = new Map<string, boolean>();
  const isThere = (folder: string): boolean => {
    const known = folders.get(folder) ?? orFault(folder, false, () => hasQueues(disk, folder));
    folders.set(folder, known);
    return known;
  };
  for (const { path, persona: whose, folder } of listQueueFiles(state, sessions)) {
    if (persona !== null && whose !== persona) continue;
    if (folder !== null && !isThere(folder)) continue;
    const result = orFault(path, null, () =>
      takeOver(machine, { path, persona: whose }, insert, Math.max(0, until - clock.monotonic())),
    );
    if (result === null) continue;
    items += result.items;
    bad += result.bad;
    if (result.isHeld) held.push(path);
  }
  return { items, bad, held, faults };
}
