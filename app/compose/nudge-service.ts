import type { LocalHive } from '../../core/inbox/index.ts';
import { faultOf, type PersonaId } from '../../core/model/index.ts';
import type { Database, Dirs } from '../../core/state/index.ts';
import type { Settings } from '../config/tray/index.ts';
import { createNudger, type NudgeWays } from '../hook/index.ts';
import { keptSessions } from '../open/index.ts';
import type { Machine } from './machine.ts';

/** An agent that was at work when something came is idle later, and no push says so. */
const EVERY_MS = 10_000;

/** Typing into a terminal is a person's to allow. */
export function nudgeWays({ nudge }: Pick<Settings, 'nudge'>): NudgeWays {
  return { tmux: nudge.tmux ?? false, codexQueue: nudge.codexQueue ?? true };
}

/** Nudges idle agents of the sessions that are not over, soon after something was staged for them. */
export function keepNudges(
  { db, local, dirs, ways }: { db: Database; local: LocalHive; dirs: Dirs; ways: NudgeWays },
  machine: Machine,
): Disposable {
  const { disk, clock, env, os, spawn, log, stop } = machine;
  const nudger = createNudger({ db, items: local.items, dirs, disk, clock, env, os, spawn, stop, ways });
  const sessions = keptSessions(db);
  const failing = new Set<PersonaId>();
  /** Why one is not typed to, which is said once. */
  const waiting = new Map<PersonaId, string>();
  let next: Disposable | null = null;

  async function look(persona: PersonaId): Promise<void> {
    try {
      const done = await nudger.look(persona);
      if (done.is === 'nudged') log.info(`${persona} was nudged: something waits for it`);
      if (done.is === 'nudged') failing.delete(persona);
      const why = done.is === 'wait' ? done.why : null;
      if (why !== null && waiting.get(persona) !== why) log.info(`${persona} is not typed to yet: ${why}`);
      if (why === null) waiting.delete(persona);
      else waiting.set(persona, why);
    } catch (error) {
      if (!failing.has(persona))
        log.warn(`${persona} was not nudged: ${faultOf(error, { is: 'persona', key: persona }).message}`);
      failing.add(persona);
    }
  }

  function lookAtAll(): void {
    next?.[Symbol.dispose]();
    next = clock.after(EVERY_MS, lookAtAll);
    try {
      const open = sessions.all().filter(({ endedAt }) => endedAt === null);
      for (const persona of new Set(open.map((session) => session.persona))) void look(persona);
    } catch (error) {
      log.warn(`nobody is nudged just now: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  let isDue = false;
  const hints = local.hints(() => {
    if (isDue) return;
    isDue = true;
    // After the commit and all it brings: the stamps are gone and the mail is there before anybody is woken.
    clock.after(0, () => {
      isDue = false;
      if (!stop.aborted) lookAtAll();
    });
  });
  next = clock.after(EVERY_MS, lookAtAll);
  return {
    [Symbol.dispose]() {
      hints[Symbol.dispose]();
      next?.[Symbol.dispose]();
    },
  };
}
