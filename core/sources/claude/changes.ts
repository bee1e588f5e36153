import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../ports/index.ts';
import { type DirectoryObserver, watchDirectories } from '../directories.node.ts';
import { type ConfigDirectory, toBoxName } from './directory.ts';

interface ChangesOptions {
  readonly store: ConfigDirectory;
  readonly clock: Clock;
  readonly statOnly: boolean;
  /** Runs `read` very soon, once for all requests with the same key, and then lists anew who is there. */
  readonly soon: (key: string, read: () => void) => void;
}

/**
 * Watches a config directory, `sessions/`, `teams/`, each team and its inboxes. What changed is read at once, because a message is
 * taken within 200 ms (contract 3). Locks and files that are being written are ignored.
 */
export function watchConfigDirectory({ store, clock, statOnly, soon }: ChangesOptions): Disposable {
  const { root } = store;
  const [sessions, teams] = [join(root, 'sessions'), join(root, 'teams')];
  const directories = watchDirectories({ clock, statOnly });
  /** The directories of each team: its own, and that of its inboxes. */
  const watched = new Map<string, readonly DirectoryObserver[]>();

  directories.add(
    dirname(root),
    (name) => {
      if (name === null || name === basename(root)) top.renew();
    },
    'always',
  );
  const top: DirectoryObserver = directories.add(
    root,
    (name) => {
      if (name === null || name === 'sessions') renew(sessionsObserver, `${root} sessions`);
      if (name === null || name === 'teams') renew(teamsObserver, `${root} teams`);
    },
    'always',
  );
  const sessionsObserver = directories.add(
    sessions,
    (name) => {
      if (name === null) soon(`${root} all`, store.scan);
      else if (name.endsWith('.json')) soon(`${root} ${name}`, () => store.readSession(name));
    },
    'always',
  );
  const teamsObserver = directories.add(
    teams,
    (name) => {
      soon(`${root} teams`, () => {
        if (name === null || !store.teams.has(name)) store.scanTeams();
        else store.readTeam(name);
        follow();
      });
    },
    'always',
  );

  function renew(observer: DirectoryObserver, key: string): void {
    observer.renew();
    soon(key, () => {
      store.scan();
      follow();
    });
  }

  function follow(): void {
    for (const [name, { goneAt }] of store.teams) {
      if (goneAt === null) watchTeam(name);
    }
    for (const [name, observers] of watched) {
      if (store.teams.get(name)?.goneAt === null) continue;
      for (const observer of observers) observer[Symbol.dispose]();
      watched.delete(name);
    }
  }

  function watchTeam(name: string): void {
    if (watched.has(name)) return;
    const directory = join(teams, name);
    const inboxes = directories.add(
      join(directory, 'inboxes'),
      (file) => {
        if (file === null) {
          soon(`${root} team ${name}`, () => store.readTeam(name));
          return;
        }
        for (const box of toBoxName(file)) soon(`${root} box ${name} ${box}`, () => store.readBox(name, box));
      },
      'deaf',
    );
    const own = directories.add(
      directory,
      (file) => {
        if (file === null || file === 'inboxes') inboxes.renew();
        if (file === null || file === 'inboxes' || file === 'config.json')
          soon(`${root} team ${name}`, () => store.readTeam(name));
      },
      'deaf',
    );
    watched.set(name, [inboxes, own]);
    soon(`${root} team ${name}`, () => store.readTeam(name)); // what came since it was listed
  }

  follow();
  return directories;
}
