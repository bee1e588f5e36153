import { join } from 'node:path';
import { type Items, openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { type Database, openStore, ownDirs } from '../../core/state/index.ts';
import type { Io } from './command.ts';
import { stderrLog } from './stderr-log.ts';
import { DATABASE, tellTray } from './with-hive.ts';

/** Runs `work` on the items in the database itself, as `withHive` does; then tells the tray process of what changed. */
export async function withItems<T>(
  io: Io,
  does: 'changes' | 'looks',
  work: (items: Items, db: Database) => T,
): Promise<T> {
  let answer: T;
  {
    using db = openStore(join(ownDirs({ ...io.env }).state, DATABASE), { log: stderrLog(io, 'hivebar inbox') });
    answer = work(openItems({ db, clock: realClock }), db);
  }
  if (does === 'changes') await tellTray(io);
  return answer;
}
