import type { LocalHive } from '../../core/inbox/index.ts';
import { findStrayQueues, takeOverAll } from '../../core/inbox/queue/index.ts';
import { toFault } from '../../core/model/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import type { Database, Dirs } from '../../core/state/index.ts';
import { handOverEnded, toNamedSessions } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { isProcessGone, openSessionStore, type Session } from '../open/index.ts';

const EVERY_MS = 5000;
const SCOPE = { is: 'machine', key: 'queue' } as const;

export interface QueueServiceOptions {
  readonly db: Database;
  readonly local: LocalHive;
  readonly dirs: Pick<Dirs, 'state' | 'config'>;
}

/**
 * Takes over the lines that other programs wrote into queue files, so that an idle agent, which asks for nothing, learns of them.
 * Hands the items of closed sessions to their personas. A file that somebody has locked is left to the next round. Each cause is
 * logged once, and again after a round without it.
 */
export function createQueueService({ db, local, dirs }: QueueServiceOptions, machine: Machine): Service {
  const { disk, clock, random, log } = machine;
  const sessions = openSessionStore(db);
  let logged: ReadonlySet<string> = new Set();

  function* takeOver(): Iterable<string> {
    const named = toNamedSessions(sessions.listAll(), dirs.config);
    const { faults } = takeOverAll({
      machine: { disk, clock, random },
      state: dirs.state,
      sessions: named,
      persona: null,
      insert: local.items.push,
      waitMs: 0,
    });
    for (const fault of faults) yield fault.explain();
    for (const path of findStrayQueues(disk, dirs.state, named))
      yield `${path} holds lines for an unknown session; announce the session with hivebar session set`;
  }

  function* handOver(): Iterable<string> {
    const isGone = ({ runner }: Session): boolean => isProcessGone(runner);
    const { config } = dirs;
    const ended = handOverEnded({ items: local.items, sessions: () => sessions, config, now: clock.now(), isGone });
    for (const { persona, session, count } of ended)
      log.info(`session ${session} of ${persona} has ended: its items (${count}) go to the next session of ${persona}`);
  }

  return every({
    name: 'queue files',
    ms: EVERY_MS,
    clock,
    round() {
      const causes = new Set<string>();
      for (const work of [takeOver, handOver]) {
        try {
          for (const cause of work()) causes.add(cause);
        } catch (error) {
          causes.add(toFault(error, SCOPE).explain()); // the other task runs all the same
        }
      }
      for (const cause of causes) if (!logged.has(cause)) log.warn(`queue: ${cause}`);
      logged = causes;
    },
  });
}
