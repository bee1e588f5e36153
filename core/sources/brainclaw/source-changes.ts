import { basename, join } from 'node:path';
import type { Clock } from '../../ports/index.ts';
import { type Directory, watchDirectories } from '../directories.node.ts';

/** Who is told of what may have changed in a store. */
export interface Heard {
  journal(): void;
  /** Null: any of the inboxes, and who has one. */
  inbox(agent: string | null): void;
}

export interface ChangesOptions {
  readonly store: string;
  /** False: nothing is asked of what lies outside the journal. */
  readonly mail: boolean;
  readonly clock: Clock;
  readonly heard: Heard;
  /** Nothing is watched, as on a disk that tells nothing: it is looked at every 10 s. */
  readonly statOnly: boolean;
}

/** Notices of a store's changes. Nothing in it is touched. */
export interface Changes extends Disposable {
  /** The inboxes of these from now on. Returns those that were not followed before: what came meanwhile was not heard. */
  follow(agents: Iterable<string>): readonly string[];
}

/** `meta.json` is written with each batch of records, and says no more than that (brainclaw contract 7). */
const OF_THE_JOURNAL = /^(seg-.*\.jsonl|meta\.json|checkpoints)$/;

/**
 * Watches a store down to each inbox, and what holds these: a journal is parked by a rename, and comes back by one. What holds
 * the store is a directory in which somebody works, and is not watched: a store that comes back is found by the timer.
 */
export function watchStore({ store, mail, clock, heard, statOnly }: ChangesOptions): Changes {
  const directories = watchDirectories({ clock, statOnly });
  const inboxes = new Map<string, Directory>();
  const below = new Map<string, Directory>();
  const inbox = join(store, 'coordination', 'inbox');

  /** A directory, and those in it that are looked at again when their name is told. */
  const add = (path: string, names: Readonly<Record<string, string>>): void => {
    const told = (name: string | null): void => {
      if (path === store && name === basename(store)) below.get(store)?.renew(); // it was moved itself
      for (const [one, at] of Object.entries(names)) if (name === null || name === one) below.get(at)?.renew();
      if (path === store && (name === null || name === 'config.yaml')) heard.journal();
    };
    below.set(path, directories.add(path, told, 'always'));
  };
  add(store, { events: join(store, 'events'), ...(mail ? { coordination: join(store, 'coordination') } : {}) });
  const journal = (name: string | null): void => {
    if (name === null || OF_THE_JOURNAL.test(name)) heard.journal();
  };
  below.set(join(store, 'events'), directories.add(join(store, 'events'), journal, 'always'));
  if (mail) {
    add(join(store, 'coordination'), { inbox });
    const told = (name: string | null): void => {
      if (name?.endsWith('.json')) return; // a candidate
      for (const [agent, one] of inboxes) if (name === null || name === agent) one.renew();
      heard.inbox(name);
    };
    below.set(inbox, directories.add(inbox, told, 'always'));
  }

  return {
    follow(agents) {
      if (!mail) return [];
      const wanted = new Set(agents);
      for (const [agent, one] of inboxes) {
        if (wanted.has(agent)) continue;
        one[Symbol.dispose]();
        inboxes.delete(agent);
      }
      const fresh = [...wanted].filter((agent) => !inboxes.has(agent));
      for (const agent of fresh) {
        const told = (name: string | null): void => {
          if (name === null || name.endsWith('.json')) heard.inbox(agent);
        };
        inboxes.set(agent, directories.add(join(inbox, agent), told, 'deaf'));
      }
      return fresh;
    },
    [Symbol.dispose]() {
      directories[Symbol.dispose]();
      inboxes.clear();
      below.clear();
    },
  };
}
