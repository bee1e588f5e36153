import { basename, join } from 'node:path';
import type { Clock } from '../../ports/index.ts';
import { type DirectoryWatch, watchDirectories } from '../directories.node.ts';

/** Who is told of what may have changed in a store. */
export interface ProjectStoreListener {
  journal(): void;
  /** Null: any of the inboxes, and who has one. */
  inbox(agent: string | null): void;
}

export interface ProjectChangesOptions {
  readonly store: string;
  /** False: nothing is asked of what lies outside the journal. */
  readonly mail: boolean;
  readonly clock: Clock;
  readonly listener: ProjectStoreListener;
  /** Nothing is watched, as on a disk that tells nothing: it is looked at every 10 s. */
  readonly statOnly: boolean;
}

/** Notices of a store's changes. Nothing in it is touched. */
export interface ProjectChanges extends Disposable {
  /** The inboxes of these from now on. Returns those that were not followed before: what came meanwhile was not heard. */
  follow(agents: Iterable<string>): readonly string[];
}

/** `meta.json` is written with each batch of records, and says no more than that (brainclaw contract 7). */
const JOURNAL_FILE = /^(seg-.*\.jsonl|meta\.json|checkpoints)$/;

/**
 * Watches a store down to each inbox, and what holds these: a journal is parked by a rename, and comes back by one. What holds
 * the store is a directory in which somebody works, and is not watched: a store that comes back is found by the timer.
 */
export function watchStore({ store, mail, clock, listener, statOnly }: ProjectChangesOptions): ProjectChanges {
  const directories = watchDirectories({ clock, statOnly });
  const inboxes = new Map<string, DirectoryWatch>();
  const directoriesByPath = new Map<string, DirectoryWatch>();
  const inbox = join(store, 'coordination', 'inbox');

  /** A directory, and those in it that are looked at again when their name is told. */
  const add = (path: string, names: Readonly<Record<string, string>>): void => {
    const onChange = (name: string | null): void => {
      if (path === store && name === basename(store)) directoriesByPath.get(store)?.renew(); // it was moved itself
      for (const [child, at] of Object.entries(names))
        if (name === null || name === child) directoriesByPath.get(at)?.renew();
      if (path === store && (name === null || name === 'config.yaml')) listener.journal();
    };
    directoriesByPath.set(path, directories.add(path, onChange, 'always'));
  };
  add(store, { events: join(store, 'events'), ...(mail ? { coordination: join(store, 'coordination') } : {}) });
  const onJournalChange = (name: string | null): void => {
    if (name === null || JOURNAL_FILE.test(name)) listener.journal();
  };
  directoriesByPath.set(join(store, 'events'), directories.add(join(store, 'events'), onJournalChange, 'always'));
  if (mail) {
    add(join(store, 'coordination'), { inbox });
    const onInboxChange = (name: string | null): void => {
      if (name?.endsWith('.json')) return; // a candidate
      for (const [agent, directory] of inboxes) if (name === null || name === agent) directory.renew();
      listener.inbox(name);
    };
    directoriesByPath.set(inbox, directories.add(inbox, onInboxChange, 'always'));
  }

  return {
    follow(agents) {
      if (!mail) return [];
      const followedAgents = new Set(agents);
      for (const [agent, directory] of inboxes) {
        if (followedAgents.has(agent)) continue;
        directory[Symbol.dispose]();
        inboxes.delete(agent);
      }
      const fresh = [...followedAgents].filter((agent) => !inboxes.has(agent));
      for (const agent of fresh) {
        const onMessageChange = (name: string | null): void => {
          if (name === null || name.endsWith('.json')) listener.inbox(agent);
        };
        inboxes.set(agent, directories.add(join(inbox, agent), onMessageChange, 'deaf'));
      }
      return fresh;
    },
    [Symbol.dispose]() {
      directories[Symbol.dispose]();
      inboxes.clear();
      directoriesByPath.clear();
    },
  };
}
