import { every, type Service } from '../../core/services/index.ts';
import { clearStamps, type Database, type Dirs, toPendingDir } from '../../core/state/index.ts';
import { createElsewhereCheck, createPendingStamper } from '../hook/index.ts';
import type { Machine } from '../host/machine.ts';
import { openSessionStore } from '../open/index.ts';

const EVERY_MS = 10_000;

/**
 * Writes the stamps that tell the shell hooks of all open sessions that nothing is waiting, so that they need not ask. Stamps of
 * an earlier process are removed first, because the machine may have lost its power since.
 */
export function createHookStampsService(db: Database, dirs: Dirs, { disk, clock, random }: Machine): Service {
  let elsewhere = createElsewhereCheck(disk, dirs.state);
  const isElsewhere: typeof elsewhere = (persona, name) => elsewhere(persona, name);
  const stamp = createPendingStamper({ db, dirs, disk, clock, random, isElsewhere });
  const sessions = openSessionStore(db);
  const name = 'hook stamps';
  const stamps = every({
    name,
    ms: EVERY_MS,
    clock,
    round() {
      elsewhere = createElsewhereCheck(disk, dirs.state); // the daemons are read once per round, for all personas
      const open = sessions.listAll().filter(({ endedAt }) => endedAt === null);
      for (const persona of new Set(open.map((session) => session.persona))) stamp(persona);
    },
  });
  return {
    name,
    async run(signal) {
      clearStamps(toPendingDir(db.path), 'everyone');
      await stamps.run(signal);
    },
  };
}
