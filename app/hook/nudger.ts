import { join } from 'node:path';
import { type Awaited, type Nudged, nudgeFor, nudgeText } from '../../core/hooks/index.ts';
import type { Items } from '../../core/inbox/index.ts';
import { ownDaemonPlaces } from '../../core/link/index.ts';
import { faultOf, type PersonaId } from '../../core/model/index.ts';
import type { Clock, Spawn } from '../../core/ports/index.ts';
import { type Database, type Dirs, type Disk, errnoOf, isLocked, stemOf } from '../../core/state/index.ts';
import { finishWords, keptSessions, lifeOf, pasteWords, readPane, type Session } from '../open/index.ts';
import { activityOf } from './activity.node.ts';
import { readHarnessState } from './claude-session.node.ts';
import { isThread, queueMessage } from './codex-queue.ts';
import { daemonsOf } from './daemon-of.ts';
import { inboxesOf } from './inboxes.node.ts';
import { isPrompted } from './prompts.node.ts';
import { formsOf, sessionsOf } from './sessions-of.ts';
import { type Keys, typeNudge } from './type-nudge.ts';
import { keptWakes, postNudge } from './wakes.node.ts';

/** Which ways may be used beside an address that an agent registered: the setting `nudge`. */
export interface NudgeWays {
  /** Words are typed into a tmux pane. */
  readonly tmux: boolean;
  /** `codex queue`. */
  readonly codexQueue: boolean;
}

export interface NudgerNeeds {
  readonly db: Database;
  readonly items: Pick<Items, 'pending' | 'list'>;
  readonly dirs: Dirs;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly os: NodeJS.Platform;
  readonly spawn: Spawn;
  readonly stop: AbortSignal;
  readonly ways: NudgeWays;
}

/** What became of a look; `later`: worth another one in so many milliseconds; `wait`: at the next, for `why`. */
export type Nudging =
  | { readonly is: 'nudged' | 'not' }
  | { readonly is: 'later'; readonly ms: number }
  | { readonly is: 'wait'; readonly why: string };

/** One way to an agent; `began` is called before anything of the nudge can be seen. */
type Way = (text: string, began: () => void) => Promise<Nudging>;

/**
 * Nudges an idle agent for which something was staged, by the first way there is: the address that was registered for it, the
 * queue of Codex, the tmux pane of Claude Code (`typeNudge`, only where a person allowed it). Never by keys because some time has
 * passed: a key meant for an empty prompt approves a permission prompt, or sends a person's draft. One whose events are followed
 * is woken by that, and one with a daemon that lives by none but the daemon: its doorbells have a pace of their own (persona
 * daemon, contract 4). One of whose agents asks its person for something is left alone.
 */
export function createNudger(needs: NudgerNeeds) {
  const { db, items, dirs, disk, clock, env, os, stop, ways } = needs;
  const wakes = keptWakes(db);
  const find = sessionsOf(keptSessions(db), dirs.config);
  const given = new Map<PersonaId, Nudged>();
  const busy = new Set<PersonaId>();

  function wayTo(persona: PersonaId, moment: string): Way | null {
    if (isFollowed(disk, dirs.state, persona) || hasDaemon(persona)) return null;
    const forms = formsOf(persona, dirs.config);
    const live = find(persona).filter(({ endedAt, runner }) => endedAt === null && lifeOf(runner, os) !== 'gone');
    const ids = live.flatMap(({ id }) => (id === null ? [] : [id]));
    const isAtPrompt = (): boolean => forms.some((form) => isPrompted(dirs.run, form, ids));
    if (isAtPrompt()) return null;
    const url = forms.map(wakes.of).find((one) => one !== null) ?? null;
    if (url !== null) return byAddress(url);
    const [session] = live;
    if (session === undefined || lifeOf(session.runner, os) !== 'live') return null;
    if (session.harness?.name === 'codex') return byQueue(session, moment);
    return session.harness?.name === 'claude' ? byKeys(session, isAtPrompt) : null;
  }

  function byQueue({ id, runner, harness }: Session, moment: string): Way | null {
    // Without a lock nothing tells that somebody runs the thread: a message would wait until it is resumed.
    const isRun = typeof runner.lock === 'string' && (moment === 'Stop' || moment === 'SessionStart');
    if (!ways.codexQueue || !isRun || !isThread(id) || harness === undefined || harness === null) return null;
    return async (text, began) => {
      began();
      await queueMessage(needs, id, harness.home, text);
      return { is: 'nudged' };
    };
  }

  function byKeys({ id, pane, runner, harness }: Session, isAtPrompt: () => boolean): Way | null {
    if (!ways.tmux || pane === null || harness === undefined || harness === null) return null;
    const keys: Keys = {
      async look() {
        const shown = await readPane(pane, runner.pid, env, os);
        const state = lifeOf(runner, os) === 'live' ? readHarnessState(harness.home, runner.pid, id) : 'unknown';
        return { pane: shown, isAtPrompt: isAtPrompt(), harness: state };
      },
      paste: (words, at) => pasteWords(pane, words, at, env, os),
      finish: (words, way, at) => finishWords(pane, words, way, at, env, os),
      pause: (ms) => clock.sleep(ms, stop),
    };
    return (_, began) => typeNudge(keys, began);
  }

  function hasDaemon(persona: PersonaId): boolean {
    const { name } = inboxesOf(persona, dirs.config);
    const all = daemonsOf(disk, dirs.state, persona, name);
    return all.some((config) => isLocked(disk, `${ownDaemonPlaces(config, env).locked}.lock`));
  }

  return {
    /** Looks at one persona now. @throws Fault when a nudge that was due was not delivered */
    async look(persona: PersonaId): Promise<Nudging> {
      if (busy.has(persona)) return { is: 'not' };
      busy.add(persona);
      try {
        const { name } = inboxesOf(persona, dirs.config);
        const forms = formsOf(persona, dirs.config);
        const pending = items.pending(name, null);
        const awaited: Awaited = {
          pending,
          waiting: items
            .list(name, 'pending', 1)
            .map(({ id }) => id)
            .join(),
          last: newest(forms.map((one) => activityOf(dirs.run, one))),
          before: given.get(persona) ?? null,
          now: clock.now(),
        };
        const nudge = nudgeFor(awaited);
        if (nudge.is === 'none') return { is: 'not' };
        if (nudge.is === 'later') return nudge;
        const way = wayTo(persona, awaited.last?.moment ?? '');
        if (way === null) return { is: 'not' };
        // Before it is given: one that fails half-way may have been seen.
        const done = await way(nudgeText(pending), () => {
          given.set(persona, { waiting: awaited.waiting, at: awaited.now });
        });
        if (done.is === 'wait') given.delete(persona);
        return done;
      } catch (error) {
        throw faultOf(error, { is: 'persona', key: persona });
      } finally {
        busy.delete(persona);
      }
    },
  };
}

function byAddress(url: string): Way {
  return async (text, began) => {
    began();
    await postNudge(url, text);
    return { is: 'nudged' };
  };
}

/** The agent notes it by the form that its environment has. */
function newest<T extends { readonly at: number }>(all: readonly (T | null)[]): T | null {
  return all.filter((one) => one !== null).toSorted((a, b) => b.at - a.at)[0] ?? null;
}

/** A `hivebar follow` of the persona runs: it is told of every event there. */
function isFollowed(disk: Disk, state: string, persona: PersonaId): boolean {
  const folder = join(state, 'follow', stemOf(persona));
  try {
    const locks = disk.files.readdir(folder).filter((name) => name.endsWith('.lock'));
    return locks.some((name) => isLocked(disk, join(folder, name)));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
