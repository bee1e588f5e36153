import { faultOf } from '../../core/model/index.ts';
import { clearStamps, type Database, type Dirs, pendingDirOf } from '../../core/state/index.ts';
import { listensElsewhere, stamper } from '../hook/index.ts';
import { keptSessions } from '../open/index.ts';
import type { Machine } from './machine.ts';

const EVERY_MS = 10_000;

/**
 * Says for the shell hooks of all sessions that are not over when there is nothing for them, again and again while the tray
 * process runs. What an earlier process left is not trusted: the machine may have lost its power since.
 */
export function keepStamps(db: Database, dirs: Dirs, { disk, clock, random, log }: Machine): Disposable {
  let next: Disposable | null = null;
  let failed = false;
  /** As of this tick: of all personas the daemons are looked through once. */
  let elsewhere = listensElsewhere(disk, dirs.state);
  const isElsewhere: typeof elsewhere = (persona, name) => elsewhere(persona, name);
  const stamp = stamper({ db, dirs, disk, clock, random, isElsewhere });
  const sessions = keptSessions(db);
  const tick = (): void => {
    try {
      elsewhere = listensElsewhere(disk, dirs.state);
      const open = sessions.all().filter(({ endedAt }) => endedAt === null);
      for (const persona of new Set(open.map((session) => session.persona))) stamp(persona);
      failed = false;
    } catch (error) {
      if (!failed) log.warn(`hooks ask each time: ${faultOf(error, { is: 'machine', key: 'hook' }).explain()}`);
      failed = true;
    }
    next = clock.after(EVERY_MS, tick);
  };
  try {
    clearStamps(pendingDirOf(db.path), 'everyone');
    tick();
  } catch (error) {
    log.warn(faultOf(error, { is: 'machine', key: 'hook' }).explain());
  }
  return { [Symbol.dispose]: () => next?.[Symbol.dispose]() };
}
