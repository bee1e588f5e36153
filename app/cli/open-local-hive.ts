import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { type Decisions, openDecisions } from '../../core/inbox/decisions/index.ts';
import { createGatesForDecisions, createGitCheck, NO_OPEN_DECISIONS, openGates } from '../../core/inbox/gates/index.ts';
import { type Items, type LocalHive, openItems, openLocalHive } from '../../core/inbox/index.ts';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { createRealDisk, type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { createStderrLog } from './process.node.ts';
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
  work: (hive: LocalHive, db: Database) => T,
): Promise<T> {
  const log = createStderrLog(io, name);
  using db = openStore(join(findOwnDirs({ ...io.env }).state, DATABASE), { log });
  let answer: T;
  {
    using hive = openLocalHive({ db, clock: realClock, log, contentChars });
    answer = work(hive, db);
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

/** Required by `openGates`; nothing here asks git. */
const GIT_MS = 1000;

export interface DecisionAccess {
  readonly decisions: Decisions;
  readonly db: Database;
  /** Tells the tray process now what changed so far, for callers that wait. At the end it is told anyway. */
  tell(): Promise<void>;
}

/**
 * Runs `work` on the decisions in the database itself, so that questions can be asked and answered while the tray process is
 * closed. Work that an earlier crash left undone is finished first. Afterwards a running tray process is told about changes.
 */
export async function runWithDecisions<T>(io: Io, work: (access: DecisionAccess) => T | Promise<T>): Promise<T> {
  const log = createStderrLog(io, 'hivebar decision');
  const { state } = findOwnDirs({ ...io.env });
  let changed = false;
  let answer: T;
  {
    using db = openStore(join(state, DATABASE), { log });
    const store = openGates({
      disk: createRealDisk(log),
      random: realRandom,
      clock: realClock,
      state,
      items: null,
      git: createGitCheck(GIT_MS),
      findOpenDecisions: NO_OPEN_DECISIONS,
    });
    const gates = createGatesForDecisions(store);
    const note = (): void => {
      changed = true;
    };
    const items = openItems({ db, clock: realClock });
    const decisions = openDecisions({ db, items, gates, wake: note, emit: note, clock: realClock, log });
    decisions.reconcile();
    const tell = (): Promise<void> => {
      changed = false;
      return tellTray(io);
    };
    answer = await work({ decisions, db, tell });
  }
  if (changed) await tellTray(io);
  return answer;
}

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
