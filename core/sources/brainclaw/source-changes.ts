import { basename, join } from 'node:path';
import type { Clock } from '../../ports/index.ts';
import { type DirectoryObserver, watchDirectories } from '../directories.node.ts';

/** Receives notices of what may have changed in a store. */
export interface ProjectStoreListener {
  journal(): void;
  /** Null: any inbox may have changed, and the list of inboxes too. */
  inbox(agent: string | null): void;
}

export interface ProjectChangesOptions {
  readonly store: string;
  /** False: nothing outside the journal is watched. */
  readonly mail: boolean;
  readonly clock: Clock;
  readonly listener: ProjectStoreListener;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly: boolean;
}

/** Reports changes of a store. It never modifies the store. */
export interface ProjectChanges extends Disposable {
  /**
   * Watches the inboxes of exactly these agents from now on. Returns those that were not watched before: their earlier changes
   * were not reported.
   */
  follow(agents: Iterable<string>): readonly string[];
}

/** `meta.json` is written with each batch of records, and its change means no more than that (brainclaw contract 7). */
const JOURNAL_FILE = /^(seg-.*\.jsonl|meta\.json|checkpoints)$/;

/**
 * Watches a store down to each inbox, and the directories in between: a journal is switched off and on again by a rename.
 * The directory that holds the store is not watched, because people work in it. The timer finds a store that comes back.
 */
export function watchStore({ store, mail, clock, listener, statOnly }: ProjectChangesOptions): ProjectChanges {
  const directories = watchDirectories({ clock, statOnly });
  const inboxes = new Map<string, DirectoryObserver>();
  const directoriesByPath = new Map<string, DirectoryObserver>();
  const inbox = join(store, 'coordination', 'inbox');

  /** Watches a directory. `names` lists its subdirectories that are checked again when a notice names them. */
  const add = (path: string, names: Readonly<Record<string, string>>): void => {
    const onChange = (name: string | null): void => {
      if (path === store && name === basename(store)) directoriesByPath.get(store)?.renew(); // the store itself was moved
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
      if (name?.endsWith('.json')) return; // the file is a candidate
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
