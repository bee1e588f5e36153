import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { type Items, openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { DATABASE, tellTray } from './open-local-hive.ts';
import { createStderrLog } from './stderr-log.ts';

/** Runs `work` on the items in the database itself, as `runWithHive` does. Then it tells the tray process about changes. */
export async function runWithItems<T>(
  io: Io,
  does: 'changes' | 'looks',
  work: (items: Items, db: Database) => T,
): Promise<T> {
  let answer: T;
  {
    using db = openStore(join(findOwnDirs({ ...io.env }).state, DATABASE), {
      log: createStderrLog(io, 'hivebar inbox'),
    });
    answer = work(openItems({ db, clock: realClock }), db);
  }
  if (does === 'changes') await tellTray(io);
  return answer;
}
