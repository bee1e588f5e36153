import { join } from 'node:path';
import { createOpenDecisionLookup } from '../../core/inbox/decisions/index.ts';
import { openGates } from '../../core/inbox/gates/index.ts';
import { createUndeliveredCheck } from '../../core/inbox/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { Clock, Random } from '../../core/ports/index.ts';
import { type Database, type Dirs, type Disk, toStem } from '../../core/state/index.ts';
import { openSessionStore } from '../open/index.ts';
import { findQuietMoments } from './stamp-text.ts';
import { locateInbox, type StampResult, stampPending } from './stamps.node.ts';

export interface StamperNeeds {
  readonly db: Database;
  readonly dirs: Dirs;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  /** Returns whether something may wait for the persona that only one of its daemons knows of, at an upstream elsewhere. */
  readonly isElsewhere: (persona: PersonaId, name: string) => boolean;
}

/**
 * Creates the function that reads what waits for a persona and writes the stamp for the shell hook. It is called after each hook
 * that started the program, and by the tray process on its ticks.
 *
 * @throws Fault; then there is no stamp of this persona
 */
export function createPendingStamper({
  db,
  dirs,
  disk,
  clock,
  random,
  isElsewhere,
}: StamperNeeds): (persona: PersonaId) => StampResult {
  const { state, run, config } = dirs;
  const checkUndelivered = createUndeliveredCheck(db);
  const sessions = openSessionStore(db);
  const findOpenDecisions = createOpenDecisionLookup(db, clock);
  const gates = openGates({
    disk,
    random,
    clock,
    state,
    items: null,
    git: async () => ({ is: 'clear' }),
    findOpenDecisions,
  });
  return (persona) => {
    const { name, isFollowed } = locateInbox(persona, config);
    // A daemon elsewhere must be told of every turn boundary, so no moment is quiet.
    const isUnknown = isFollowed || isElsewhere(persona, name);
    return stampPending({ run, clock, random }, db, persona, () => {
      const gateStates = gates.listHookGates(name).map(({ gate }) => gate);
      return {
        quiet: findQuietMoments({
          items: checkUndelivered(name, clock.now()),
          gates: gateStates,
          isFollowed: isUnknown,
        }),
        gates: join(state, 'gates', toStem(name)),
        folders: [...new Set([...sessions.list(persona), ...sessions.list(name)].map(({ cwd }) => cwd))],
      };
    });
  };
}
