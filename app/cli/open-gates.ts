import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { createOpenDecisionLookup } from '../../core/inbox/decisions/index.ts';
import { createGitCheck, type Gates, openGates } from '../../core/inbox/gates/index.ts';
import { type Items, openItems } from '../../core/inbox/index.ts';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { createRealDisk, type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { locateInbox } from '../hook/index.ts';
import { type CallerEvidence, type GateCaller, identifyCaller, listLiveSessions } from './caller-persona.ts';
import { DATABASE, tellTray } from './open-local-hive.ts';
import { createStderrLog } from './process.node.ts';

/** Limit for git in milliseconds. A command may take longer than a hook. */
const GIT_MS = 3000;

export interface GateAccess {
  readonly gates: Gates;
  /** @throws Fault `database` */
  findCaller(evidence: Omit<CallerEvidence, 'env' | 'resolveName'>): GateCaller;
}

/**
 * Runs `work` on the gates, which are files. The database is opened only when a resolved gate has to be announced, or when only
 * the database can identify the caller. Afterwards the tray process is told about changes.
 */
export async function runWithGates<T>(io: Io, work: (access: GateAccess) => Promise<T> | T): Promise<T> {
  const { state, config } = findOwnDirs({ ...io.env });
  const resolveName = (persona: string): string => locateInbox(persona, config).name;
  using stack = new DisposableStack();
  let opened: Database | null = null;
  let hasChanged = false;
  const noteChange = (): void => {
    hasChanged = true;
  };
  const openDatabase = (): Database => {
    opened ??= stack.use(openStore(join(state, DATABASE), { log: createStderrLog(io, 'hivebar gate') }));
    return opened;
  };
  const items = (): Pick<Items, 'pushOwn'> => ({
    pushOwn(item) {
      const pushed = openItems({ db: openDatabase(), clock: realClock }).pushOwn(item);
      noteChange();
      return pushed;
    },
  });
  const disk = createRealDisk(createStderrLog(io, 'hivebar gate'));
  const findOpenDecisions = (persona: string) => createOpenDecisionLookup(openDatabase(), realClock)(persona);
  const gates = openGates({
    disk,
    random: realRandom,
    clock: realClock,
    state,
    items,
    git: createGitCheck(GIT_MS),
    findOpenDecisions,
  });
  const answer = await work({
    gates: notifyOnChange(gates, noteChange),
    findCaller: (evidence) =>
      identifyCaller({ ...evidence, resolveName, env: io.env }, () => listLiveSessions(openDatabase())),
  });
  if (hasChanged) await tellTray(io);
  return answer;
}

/** Wraps the gates so that changes are noted. The board shows them, and waiting callers may have mail. */
function notifyOnChange(gates: Gates, noteChange: () => void): Gates {
  return {
    ...gates,
    register(...gate) {
      gates.register(...gate);
      noteChange();
    },
    remove(...gate) {
      const isRemoved = gates.remove(...gate);
      if (isRemoved) noteChange();
      return isRemoved;
    },
    mark(...request) {
      const gateState = gates.mark(...request);
      if (gateState !== null) noteChange();
      return gateState;
    },
    clear(...which) {
      const ids = gates.clear(...which);
      if (ids.length > 0) noteChange();
      return ids;
    },
  };
}
