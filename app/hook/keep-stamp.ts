import { join } from 'node:path';
import { askedIn } from '../../core/inbox/decisions/index.ts';
import { openGates } from '../../core/inbox/gates/index.ts';
import { undeliveredOf } from '../../core/inbox/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { Clock, Random } from '../../core/ports/index.ts';
import { type Database, type Dirs, type Disk, stemOf } from '../../core/state/index.ts';
import { keptSessions } from '../open/index.ts';
import { inboxesOf } from './inboxes.node.ts';
import { quietMoments } from './quiet.ts';
import { type Stamped, stampPending } from './stamps.node.ts';

export interface StamperNeeds {
  readonly db: Database;
  readonly dirs: Dirs;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether what waits for the persona may wait where only a daemon of it knows: at an upstream elsewhere. */
  readonly isElsewhere: (persona: PersonaId, name: string) => boolean;
}

/**
 * Looks at what there is for a persona and says it to the shell hook: called after each hook that was asked, and by the
 * tray process on its ticks.
 *
 * @throws Fault: there is no stamp of this persona then
 */
export function stamper({ db, dirs, disk, clock, random, isElsewhere }: StamperNeeds): (persona: PersonaId) => Stamped {
  const { state, run, config } = dirs;
  const waits = undeliveredOf(db);
  const sessions = keptSessions(db);
  const asked = askedIn(db, clock);
  const gates = openGates({ disk, random, clock, state, items: null, git: async () => ({ is: 'clear' }), asked });
  return (persona) => {
    const { name, isFollowed } = inboxesOf(persona, config);
    // Such a daemon is told of every boundary.
    const isUnknown = isFollowed || isElsewhere(persona, name);
    return stampPending({ run, clock, random }, db, persona, () => {
      const standings = gates.asked(name).map(({ gate }) => gate);
      return {
        quiet: quietMoments({
          items: waits(name, clock.now()),
          gates: standings,
          isFollowed: isUnknown,
        }),
        gates: join(state, 'gates', stemOf(name)),
        folders: [...new Set([...sessions.of(persona), ...sessions.of(name)].map(({ cwd }) => cwd))],
      };
    });
  };
}
