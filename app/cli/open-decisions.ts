import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { type Decisions, openDecisions } from '../../core/inbox/decisions/index.ts';
import { createGatesForDecisions, createGitCheck, NO_OPEN_DECISIONS, openGates } from '../../core/inbox/gates/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { createRealDisk, type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { DATABASE, tellTray } from './open-local-hive.ts';
import { createStderrLog } from './stderr-log.ts';

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
