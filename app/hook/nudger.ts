import { formatNudge } from '../../core/hooks/index.ts';
import type { Items } from '../../core/inbox/index.ts';
import { type PersonaId, toFault } from '../../core/model/index.ts';
import type { Clock, Spawn } from '../../core/ports/index.ts';
import { type Database, type Dirs, type Disk, ringWaiters, toWaitersDir } from '../../core/state/index.ts';
import { checkLiveness, openSessionStore, type Session } from '../open/index.ts';
import { hasRunningDaemon } from './daemon-hooks.ts';
import { createSessionFinder, listPersonaForms } from './ended-sessions.ts';
import { isFollowed, openNudgeClaims } from './nudge-claims.ts';
import { isPrompted } from './prompts.node.ts';
import { locateInbox, openWakeStore, postNudge } from './stamps.node.ts';
import { createQueueWake } from './wake-queue.ts';
import { createSocketWake } from './wake-socket.ts';
import { createTmuxWake } from './wake-tmux.ts';
import { type NudgeResult, WAKE_WAYS, type Wake, type WakeWay } from './wake-ways.ts';

/** The ways that are allowed besides an address that an agent registered, from the setting `nudge`. */
export interface NudgeWays {
  /** Whether words may be typed into a tmux pane. */
  readonly tmux: boolean;
  /** Whether `codex queue` may be used. */
  readonly codexQueue: boolean;
  /** Whether the inbox socket of a session of Claude Code may be used. */
  readonly socket: boolean;
}

export interface NudgerNeeds {
  readonly db: Database;
  readonly items: Pick<Items, 'pending' | 'list' | 'shownAt'>;
  readonly dirs: Dirs;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly os: NodeJS.Platform;
  readonly spawn: Spawn;
  readonly stop: AbortSignal;
  readonly ways: NudgeWays;
}

/** An idle agent for which something waits. */
interface IdleAgent {
  readonly persona: PersonaId;
  /** Its name in the local hive. */
  readonly name: string;
  /** The ids that it may be announced by. */
  readonly forms: readonly PersonaId[];
  /** Its newest session, when that certainly lives. */
  readonly session: Session | null;
  /** Its last moment. */
  readonly moment: string;
  readonly isAtPrompt: () => boolean;
}

/** `itself`: what wakes the agent runs, and decides by itself, so nobody else does. Null: the agent does not have this way. */
type WakeAttempt = Wake | 'itself' | null;

/**
 * Nudges an idle agent for which something was staged, by the first of `WAKE_WAYS` that it has. It never types only because some
 * time has passed: a key meant for an empty prompt could approve a permission prompt, or send a person's draft. A persona with a
 * running daemon is woken by that only, because doorbells have a pace of their own (persona daemon, contract 4). If one of its
 * agents is asking its person for something, it is left alone.
 */
export function createNudger(needs: NudgerNeeds) {
  const { db, dirs, disk, env, os, ways } = needs;
  const wakes = openWakeStore(db);
  const findSessions = createSessionFinder(openSessionStore(db), dirs.config);
  const claims = openNudgeClaims(needs);
  const waiters = toWaitersDir(db.path);
  const busy = new Set<PersonaId>();

  /** A way without an entry rings in a process of its own, which claims what it rings for. */
  const attempts: Readonly<Partial<Record<WakeWay, (agent: IdleAgent) => WakeAttempt | Promise<WakeAttempt>>>> = {
    follow: ({ persona }) => (isFollowed(disk, dirs.state, persona) ? 'itself' : null),
    waiter: ({ forms }) => (ringWaiters(waiters, forms).length > 0 ? 'itself' : null),
    socket: async ({ session, name }) =>
      ways.socket && session !== null ? await createSocketWake(session, name, { ...needs, run: dirs.run }) : null,
    queue: ({ session, name, moment }) =>
      ways.codexQueue && session !== null ? createQueueWake(session, name, moment, needs) : null,
    address({ forms }) {
      const url = forms.map(wakes.find).find((address) => address !== null) ?? null;
      return url === null ? null : createAddressWake(url);
    },
    tmux: ({ session, isAtPrompt }) =>
      ways.tmux && session !== null ? createTmuxWake(session, isAtPrompt, needs) : null,
  };

  /** Finds the ways that an agent has, in their order. None: it has none, or is woken without us, or must not be woken. */
  async function findWakes(persona: PersonaId, moment: string): Promise<readonly Wake[]> {
    const { name } = locateInbox(persona, dirs.config);
    if (hasRunningDaemon({ disk, env, state: dirs.state }, persona, name)) return [];
    const forms = listPersonaForms(persona, dirs.config);
    const live = findSessions(persona).filter(
      ({ endedAt, runner }) => endedAt === null && checkLiveness(runner, os) !== 'gone',
    );
    const ids = live.flatMap(({ id }) => (id === null ? [] : [id]));
    const isAtPrompt = (): boolean => forms.some((form) => isPrompted(dirs.run, form, ids));
    if (isAtPrompt()) return [];
    const [newest] = live;
    const session = newest !== undefined && checkLiveness(newest.runner, os) === 'live' ? newest : null;
    const found: Wake[] = [];
    for (const way of WAKE_WAYS) {
      const wake = (await attempts[way]?.({ persona, name, forms, session, moment, isAtPrompt })) ?? null;
      if (wake === 'itself') return [];
      if (wake !== null) found.push(wake);
    }
    return found;
  }

  return {
    /** Nudges one persona if it is due. @throws Fault when a nudge that was due was not delivered */
    async nudgeIfDue(persona: PersonaId): Promise<NudgeResult> {
      if (busy.has(persona)) return { is: 'not' };
      busy.add(persona);
      try {
        const { nudge, facts } = claims.decide(persona, null);
        if (nudge.is === 'none') return { is: 'not' };
        if (nudge.is === 'later') return nudge;
        const found = await findWakes(persona, facts.last?.moment ?? '');
        if (found.length === 0) return { is: 'not' };
        // Claimed before the nudge, because one that fails half-way may have been seen.
        const claimed = claims.claim(persona, null);
        if (claimed.nudge.is !== 'nudge') return { is: 'not' };
        let result: NudgeResult = { is: 'not' };
        for (const wake of found) {
          result = await wake(claimed.facts);
          if (result.is !== 'wait') return result;
        }
        claims.release(persona, claimed);
        return result;
      } catch (error) {
        throw toFault(error, { is: 'persona', key: persona });
      } finally {
        busy.delete(persona);
      }
    },
  };
}

function createAddressWake(url: string): Wake {
  return async ({ pending }) => {
    await postNudge(url, formatNudge(pending));
    return { is: 'nudged' };
  };
}
