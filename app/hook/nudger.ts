import { join } from 'node:path';
import { type Awaited, type Nudged, nudgeFor, nudgeText } from '../../core/hooks/index.ts';
import type { Items } from '../../core/inbox/index.ts';
import { ownDaemonPlaces } from '../../core/link/index.ts';
import { faultOf, type PersonaId } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { type Database, type Dirs, type Disk, errnoOf, isLocked, stemOf } from '../../core/state/index.ts';
import { activityOf } from './activity.node.ts';
import { daemonsOf } from './daemon-of.ts';
import { inboxesOf } from './inboxes.node.ts';
import { formsOf } from './sessions-of.ts';
import { keptWakes, postNudge } from './wakes.node.ts';

export interface NudgerNeeds {
  readonly db: Database;
  readonly items: Pick<Items, 'pending' | 'list'>;
  readonly dirs: Dirs;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What became of a look; `later`: worth another one in so many milliseconds. */
export type Nudging = { readonly is: 'nudged' | 'not' } | { readonly is: 'later'; readonly ms: number };

/**
 * Nudges an idle agent for which something was staged, by the wake that is registered for it: an address on this machine.
 * Nothing is typed into a terminal: a key meant for an empty prompt approves a permission prompt or sends a person's draft. One whose events are followed is woken by that, and one with a daemon
 * that lives by none but the daemon: its doorbells have a pace of their own (persona daemon, contract 4).
 */
export function createNudger(needs: NudgerNeeds) {
  const { db, items, dirs, disk, clock, env } = needs;
  const wakes = keptWakes(db);
  const given = new Map<PersonaId, Nudged>();
  const busy = new Set<PersonaId>();

  function wakeOf(persona: PersonaId): ((text: string) => Promise<void>) | null {
    if (isFollowed(disk, dirs.state, persona) || hasDaemon(persona)) return null;
    const url =
      formsOf(persona, dirs.config)
        .map(wakes.of)
        .find((one) => one !== null) ?? null;
    return url === null ? null : (text) => postNudge(url, text);
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
        const wake = wakeOf(persona);
        if (wake === null) return { is: 'not' };
        // Before it is given: one that fails half-way may have been seen.
        given.set(persona, { waiting: awaited.waiting, at: awaited.now });
        await wake(nudgeText(pending));
        return { is: 'nudged' };
      } catch (error) {
        throw faultOf(error, { is: 'persona', key: persona });
      } finally {
        busy.delete(persona);
      }
    },
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
