import { join } from 'node:path';
import { askedIn } from '../../core/inbox/decisions/index.ts';
import { type Gates, openGates, realGit } from '../../core/inbox/gates/index.ts';
import { type Items, openItems } from '../../core/inbox/index.ts';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { type Database, openStore, ownDirs, realDisk } from '../../core/state/index.ts';
import { inboxesOf } from '../hook/index.ts';
import { keptSessions, type Session } from '../open/index.ts';
import type { Io } from './command.ts';
import { type Told, type Who, whoIs } from './gate-who.ts';
import { lifeHere } from './session-surroundings.node.ts';
import { stderrLog } from './stderr-log.ts';
import { DATABASE, tellTray } from './with-hive.ts';

/** A command may take its time where a hook may not. */
const GIT_MS = 3000;

export interface Hall {
  readonly gates: Gates;
  /** @throws Fault `database` */
  who(told: Omit<Told, 'env' | 'nameOf'>): Who;
}

/**
 * Runs `work` on the gates. They are files: the database is opened only when a gate that resolved is to be told of, or when
 * only it can say who asks. Then the tray process hears of what changed.
 */
export async function withGates<T>(io: Io, work: (hall: Hall) => Promise<T> | T): Promise<T> {
  const { state, config } = ownDirs({ ...io.env });
  const nameOf = (persona: string): string => inboxesOf(persona, config).name;
  using stack = new DisposableStack();
  let opened: Database | null = null;
  let hasChanged = false;
  const changed = (): void => {
    hasChanged = true;
  };
  const database = (): Database => {
    opened ??= stack.use(openStore(join(state, DATABASE), { log: stderrLog(io, 'hivebar gate') }));
    return opened;
  };
  const items = (): Pick<Items, 'pushOwn'> => ({
    pushOwn(given) {
      const pushed = openItems({ db: database(), clock: realClock }).pushOwn(given);
      changed();
      return pushed;
    },
  });
  const disk = realDisk(stderrLog(io, 'hivebar gate'));
  const asked = (persona: string) => askedIn(database(), realClock)(persona);
  const gates = openGates({ disk, random: realRandom, clock: realClock, state, items, git: realGit(GIT_MS), asked });
  const answer = await work({
    gates: noting(gates, changed),
    who: (told) => whoIs({ ...told, nameOf, env: io.env }, () => liveIn(database())),
  });
  if (hasChanged) await tellTray(io);
  return answer;
}

/** What these change is on the board, and who waits for it may have mail. */
function noting(gates: Gates, changed: () => void): Gates {
  return {
    ...gates,
    register(...gate) {
      gates.register(...gate);
      changed();
    },
    remove(...gate) {
      const isRemoved = gates.remove(...gate);
      if (isRemoved) changed();
      return isRemoved;
    },
    mark(...mark) {
      const standing = gates.mark(...mark);
      if (standing !== null) changed();
      return standing;
    },
    clear(...which) {
      const ids = gates.clear(...which);
      if (ids.length > 0) changed();
      return ids;
    },
  };
}

function liveIn(db: Database): readonly Session[] {
  const kept = keptSessions(db).all();
  const live = kept.filter(({ endedAt, runner }) => endedAt === null && lifeHere(runner) !== 'gone');
  return live.toSorted((a, b) => b.announcedAt - a.announcedAt);
}
