import type { LocalHive } from '../../core/inbox/index.ts';
import { strayQueues, takeOverAll } from '../../core/inbox/queue/index.ts';
import { faultOf } from '../../core/model/index.ts';
import type { Database } from '../../core/state/index.ts';
import { handOverEnded, namedSessions } from '../hook/index.ts';
import { isProcessGone, keptSessions, type Session } from '../open/index.ts';
import type { Machine } from './machine.ts';

const EVERY_MS = 5000;

/**
 * Takes lines of foreign writers over while the tray process runs, so that an agent which is idle, and so asks for nothing,
 * hears of them. A file that somebody has locked is left to the next look. What goes wrong is logged once for each
 * cause, and again after a look at which it did not.
 */
export function keepQueues(
  {
    db,
    local,
    state,
    config,
  }: { readonly db: Database; readonly local: LocalHive; readonly state: string; readonly config: string },
  { disk, clock, random, log }: Machine,
): Disposable {
  const kept = keptSessions(db);
  let told = new Set<string>();
  let next: Disposable | null = null;
  const look = (): void => {
    const wrong = new Set<string>();
    try {
      const sessions = namedSessions(kept.all(), config);
      const insert = local.items.push;
      const { faults } = takeOverAll({
        machine: { disk, clock, random },
        state,
        sessions,
        persona: null,
        insert,
        waitMs: 0,
      });
      for (const fault of faults) wrong.add(fault.explain());
      for (const path of strayQueues(disk, state, sessions)) {
        wrong.add(`${path} holds lines of a session that nobody announced; announce it with hivebar session set`);
      }
    } catch (error) {
      wrong.add(faultOf(error, { is: 'machine', key: 'queue' }).explain());
    }
    try {
      const isGone = ({ runner }: Session): boolean => isProcessGone(runner);
      const ended = handOverEnded({ items: local.items, sessions: () => kept, config, now: clock.now(), isGone });
      for (const { persona, session, count } of ended)
        log.info(
          `session ${session} of ${persona} is over: ${count} items for it go to the next session of ${persona}`,
        );
    } catch (error) {
      wrong.add(faultOf(error, { is: 'machine', key: 'queue' }).explain());
    }
    for (const what of wrong) if (!told.has(what)) log.warn(`queue: ${what}`);
    told = wrong;
    next = clock.after(EVERY_MS, look);
  };
  look();
  return { [Symbol.dispose]: () => next?.[Symbol.dispose]() };
}
