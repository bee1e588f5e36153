import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { type LocalHive, openLocalHive } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { findOwnDirs, openStore } from '../../core/state/index.ts';
import { createStderrLog } from './stderr-log.ts';
import { askTray } from './tray-request.node.ts';

/**
 * Runs `work` on the local hive in the database itself, so that mail is accepted while the tray process is closed. Then it
 * tells a running tray process that mail may have changed.
 */
export async function runWithHive<T>(
  io: Io,
  name: string,
  contentChars: number | null,
  changes: boolean,
  work: (hive: LocalHive) => T,
): Promise<T> {
  const log = createStderrLog(io, name);
  using db = openStore(join(findOwnDirs({ ...io.env }).state, DATABASE), { log });
  let answer: T;
  {
    using hive = openLocalHive({ db, clock: realClock, log, contentChars });
    answer = work(hive);
  }
  if (changes) await tellTray(io);
  return answer;
}

/** The file that holds the truth of this machine: mail, outbox, checkpoints, announcements. */
export const DATABASE = 'hivebar.sqlite';

/** Request that tells the tray process that mail may have changed. */
const HIVE_CHANGED = { method: 'POST', path: '/api/v1/actions/hive-changed', body: '{}' } as const;

/** The mail is already on disk, so a busy or stopped tray process does not hold up the command for long. */
const TELL_WITHIN_MS = 1000;

/**
 * Tells a running tray process that mail may have changed. Without one nothing is lost: it reads the database when it starts.
 */
export async function tellTray(io: Io, withinMs: number = TELL_WITHIN_MS): Promise<void> {
  try {
    await askTray(HIVE_CHANGED, io.env, withinMs);
  } catch (error) {
    // The mail is stored and safe; the tray process finds it on its next tick.
    io.err(
      `the running hivebar was not notified at once (${error instanceof Error ? error.message : String(error)})\n`,
    );
  }
}
