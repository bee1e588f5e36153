import { askedIn, type Decisions, openDecisions } from '../../core/inbox/decisions/index.ts';
import { gatesForDecisions, openGates, realGit } from '../../core/inbox/gates/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { Database } from '../../core/state/index.ts';
import type { Machine } from './machine.ts';

/** What another process left undone is found within this time. */
const LOOK_EVERY_MS = 30_000;
const GIT_MS = 1000;

export interface KeptDecisions extends Disposable {
  readonly decisions: Decisions;
  /** Looks now: another process may have asked, with a time that is over sooner. */
  look(): void;
}

/** The decisions in the tray process: closed when their time is over, and told where a crash came between. */
export function keepDecisions(
  { db, local, state }: { readonly db: Database; readonly local: LocalHive; readonly state: string },
  { disk, random, clock, log }: Machine,
): KeptDecisions {
  const gates = openGates({ disk, random, clock, state, items: null, git: realGit(GIT_MS), asked: askedIn(db, clock) });
  const decisions = openDecisions({
    db,
    items: local.items,
    gates: gatesForDecisions(gates),
    wake: () => {}, // the push itself is seen by the watch of this inbox
    emit: ({ id, persona, outcome }) => log.info(`decision ${id} of ${persona} is ${outcome.is}`),
    clock,
    log,
  });
  let next: Disposable | null = null;
  const look = (): void => {
    next?.[Symbol.dispose]();
    let due: number | null = null;
    try {
      decisions.reconcile();
      due = decisions.nextDue();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn(`decisions could not be looked at: ${error.explain()}`);
    }
    const inMs = due === null ? LOOK_EVERY_MS : Math.max(0, due - clock.now());
    next = clock.after(Math.min(LOOK_EVERY_MS, inMs), look);
  };
  look();
  return { decisions, look, [Symbol.dispose]: () => next?.[Symbol.dispose]() };
}
