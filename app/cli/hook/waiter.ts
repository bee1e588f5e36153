import { join } from 'node:path';
import { openItems } from '../../../core/inbox/index.ts';
import { type Log, realClock } from '../../../core/ports/index.ts';
import { createRealDisk, findOwnDirs, openStore, toStem } from '../../../core/state/index.ts';
import {
  formatWakeWords,
  hasRunningDaemon,
  isFollowed,
  isPrompted,
  isWaiterAllowed,
  listPersonaForms,
  locateInbox,
  openNudgeClaims,
} from '../../hook/index.ts';
import { openSessionStore } from '../../open/index.ts';
import { DATABASE } from '../open-local-hive.ts';
import { getSurroundings } from '../session-surroundings.node.ts';
import { findAnnouncedPersona, findStatedPersona } from './call.ts';

// This file is loaded only for a waiter, because an agent waits for each file that a hook loads.

/** The sender commits soon after it rang; a database that stays locked is asked again a second later. */
const BUSY_MS = 5000;

type WaiterEnv = Readonly<Record<string, string | undefined>>;

/**
 * Decides what the waiter of a session does now (see the script of the hooks). The answer is one line:
 *
 * - `wake STEM WORDS`: the waiter wakes the agent with these words. That the agent was nudged is stored by then.
 * - `wait STEM`: nothing to wake it for; the next ring is waited for. `busy STEM`: the same, as the agent is at work.
 * - `later STEM SECONDS`: decide again then.
 * - `leave`: there is nobody to wait for.
 *
 * STEM names the folder in which the waiter is rung.
 *
 * @param flag the persona of the command line
 * @throws Fault, and then the waiter leaves
 */
export function decideForWaiter(flag: string | null, session: string, env: WaiterEnv, log: Log): string {
  const { state, run, config } = findOwnDirs({ ...env });
  if (!isWaiterAllowed(config)) return 'leave';
  using db = openStore(join(state, DATABASE), { busyMs: BUSY_MS, compiles: 'when used', log });
  const caller = { session, cwd: getSurroundings().cwd, persona: null };
  const persona = findStatedPersona(caller, env, flag) ?? findPersona();
  if (persona === null) return 'leave';
  const stem = toStem(persona);
  const { name } = locateInbox(persona, config);
  const disk = createRealDisk(log);
  if (isFollowed(disk, state, persona) || hasRunningDaemon({ disk, state, env }, persona, name)) return `wait ${stem}`;
  if (listPersonaForms(persona, config).some((form) => isPrompted(run, form, [session]))) return `busy ${stem}`;
  const dirs = { state, run, config };
  const claims = openNudgeClaims({ db, items: openItems({ db, clock: realClock }), dirs, clock: realClock });
  const { nudge, facts } = claims.claim(persona, session);
  switch (nudge.is) {
    case 'nudge':
      return `wake ${stem} ${formatWakeWords(facts.pending, name, session)}`;
    case 'later':
      return `later ${stem} ${Math.ceil(nudge.ms / 1000)}`;
    case 'none':
      return `${nudge.why === 'working' ? 'busy' : 'wait'} ${stem}`;
  }

  function findPersona(): string | null {
    const known = findAnnouncedPersona(caller, openSessionStore(db), config, null);
    return known.is === 'known' ? known.persona : null;
  }
}
