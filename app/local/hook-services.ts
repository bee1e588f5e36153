import type { LocalHive } from '../../core/inbox/index.ts';
import { type PersonaId, toFault } from '../../core/model/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import {
  clearStamps,
  type Database,
  type Dirs,
  dismissWaiter,
  listWaitingSessions,
  toPendingDir,
  toWaitersDir,
} from '../../core/state/index.ts';
import type { Settings } from '../config/tray/index.ts';
import { createElsewhereCheck, createNudger, createPendingStamper, type NudgeWays } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { checkLiveness, openSessionStore, type Session } from '../open/index.ts';

/** An agent that was busy when mail came is idle later, and nothing announces that. */
const EVERY_MS = 10_000;
/** Mail that comes together leads to one look at all sessions. */
const GATHER_MS = 50;

/** Returns which nudges are allowed. Only a person may allow typing into a terminal. */
export function toNudgeWays({ nudge }: Pick<Settings, 'nudge'>): NudgeWays {
  return { tmux: nudge.tmux ?? false, codexQueue: nudge.codexQueue ?? true, socket: nudge.socket ?? true };
}

interface NudgeServiceOptions {
  readonly db: Database;
  readonly local: LocalHive;
  readonly dirs: Dirs;
  readonly ways: NudgeWays;
}

/** Nudges idle agents of open sessions, soon after something was staged for them. */
export function createNudgeService({ db, local, dirs, ways }: NudgeServiceOptions, machine: Machine): Service {
  const { disk, clock, env, os, spawn, log, stop } = machine;
  const nudger = createNudger({ db, items: local.items, dirs, disk, clock, env, os, spawn, stop, ways });
  const sessions = openSessionStore(db);
  const waiters = toWaitersDir(db.path);
  const failing = new Set<PersonaId>();
  /** The reason why an agent is not woken, which is logged once. */
  const waiting = new Map<PersonaId, string>();
  const name = 'nudges';

  async function nudge(persona: PersonaId): Promise<void> {
    try {
      const done = await nudger.nudgeIfDue(persona);
      if (done.is === 'nudged') log.info(`${persona} was nudged: items wait for it`);
      if (done.is === 'nudged') failing.delete(persona);
      const why = done.is === 'wait' ? done.why : null;
      if (why !== null && waiting.get(persona) !== why) log.info(`${persona} is not woken yet: ${why}`);
      if (why === null) waiting.delete(persona);
      else waiting.set(persona, why);
    } catch (error) {
      if (!failing.has(persona))
        log.warn(`${persona} was not nudged: ${toFault(error, { is: 'persona', key: persona }).message}`);
      failing.add(persona);
    }
  }

  /** A session that was killed reported no end, and left its waiter behind. */
  function dismissOrphans(persona: PersonaId, open: readonly Session[]): void {
    const waiting = listWaitingSessions(waiters, [persona]);
    for (const { id, runner } of waiting.length === 0 ? [] : open)
      if (id !== null && waiting.includes(id) && checkLiveness(runner, os) === 'gone')
        dismissWaiter(waiters, [persona], id);
  }

  const rounds = every({
    name,
    firstMs: EVERY_MS,
    ms: EVERY_MS,
    clock,
    round() {
      const open = sessions.listAll().filter(({ endedAt }) => endedAt === null);
      for (const persona of new Set(open.map((session) => session.persona))) {
        dismissOrphans(persona, open);
        void nudge(persona); // none waits for another
      }
    },
  });
  return {
    name,
    async run(signal) {
      let isDue = false;
      // Runs after the commit and its effects: the stamps are removed and the mail is stored before an agent is woken.
      using _ = local.hints(() => {
        if (isDue) return;
        isDue = true;
        clock.after(GATHER_MS, () => {
          isDue = false;
          rounds.wake();
        });
      });
      await rounds.run(signal);
    },
  };
}

/**
 * Writes the stamps that tell the shell hooks of all open sessions that nothing is waiting, so that they need not ask. Stamps of
 * an earlier process are removed first, because the machine may have lost its power since.
 */
export function createHookStampsService(db: Database, dirs: Dirs, { disk, clock, random }: Machine): Service {
  let elsewhere = createElsewhereCheck(disk, dirs.state);
  const isElsewhere: typeof elsewhere = (persona, name) => elsewhere(persona, name);
  const stamp = createPendingStamper({ db, dirs, disk, clock, random, isElsewhere });
  const sessions = openSessionStore(db);
  const name = 'hook stamps';
  const stamps = every({
    name,
    ms: EVERY_MS,
    clock,
    round() {
      elsewhere = createElsewhereCheck(disk, dirs.state); // the daemons are read once per round, for all personas
      const open = sessions.listAll().filter(({ endedAt }) => endedAt === null);
      for (const persona of new Set(open.map((session) => session.persona))) stamp(persona);
    },
  });
  return {
    name,
    async run(signal) {
      clearStamps(toPendingDir(db.path), 'everyone');
      await stamps.run(signal);
    },
  };
}
