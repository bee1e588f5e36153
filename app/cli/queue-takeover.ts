import type { TakeOver } from '../../core/inbox/drain/index.ts';
import type { Items } from '../../core/inbox/index.ts';
import { takeOverAll } from '../../core/inbox/queue/index.ts';
import { type Log, realClock, realRandom } from '../../core/ports/index.ts';
import { createRealDisk, type Database, type Dirs } from '../../core/state/index.ts';
import { toNamedSessions } from '../hook/index.ts';
import { openSessionStore } from '../open/index.ts';

/** In milliseconds. Files that stay locked longer wait for the next drain. */
export const LOCK_WAIT_MS = 250;

/**
 * Moves the queue files of every session that a persona announced into the store; see `takeOverAll`.
 * @param waitMs for all locks together
 */
export function createTakeOver(
  db: Database,
  { state, config }: Pick<Dirs, 'state' | 'config'>,
  items: Items,
  log: Log,
  waitMs = LOCK_WAIT_MS,
): TakeOver {
  return (persona) => {
    const { held, faults } = takeOverAll({
      machine: { disk: createRealDisk(log), clock: realClock, random: realRandom },
      state,
      sessions: toNamedSessions(openSessionStore(db).listAll(), config),
      persona,
      insert: items.push,
      waitMs,
    });
    const [fault] = faults;
    if (fault !== undefined) throw fault;
    if (held[0] !== undefined) throw new Error(`${held[0]} is locked by another process`);
  };
}
