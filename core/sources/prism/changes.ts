import { basename, dirname, join } from 'node:path';
import type { DaemonPlaces } from '../../link/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type Directory, watchDirectories } from '../directories.node.ts';

export interface Heard {
  /** What is installed may be another. */
  installed(): void;
  /** The process may have come, gone, or be another. */
  process(name: string): void;
  /** It exported its numbers. */
  exported(name: string): void;
}

/** Notices of what changes with the daemons. Nothing of theirs is touched. */
export interface Changes extends Disposable {
  /** These from now on, and no others. Null: what is installed there can not be read, so that it has no process to watch. */
  follow(daemons: ReadonlyMap<string, Watched | null>): void;
}

type Watched = Pick<DaemonPlaces, 'runtime' | 'socket' | 'token' | 'metrics'>;

/** Watches where daemons are installed, what is installed there, and the runtime directory of each. */
export function watchDaemons(dir: string, clock: Clock, heard: Heard): Changes {
  const directories = watchDirectories({ clock, statOnly: false });
  const followed = new Map<string, { readonly runtime: string | null; readonly stack: DisposableStack }>();
  const processes = new Map<string, Directory>();
  const parents = new Set<string>();
  directories.add(dir, () => heard.installed(), 'always');

  function begin(name: string, places: Watched | null): DisposableStack {
    const stack = new DisposableStack();
    const config = (file: string | null): void => {
      if (file === null || file === 'daemon.json') heard.installed();
    };
    stack.use(directories.add(join(dir, name), config, 'deaf'));
    if (places === null) return stack;
    const { runtime, socket, token, metrics } = places;
    const running = (file: string | null): void => {
      const path = file === null ? null : join(runtime, file);
      if (path === metrics) heard.exported(name);
      else if (path === null || path === socket || path === token) heard.process(name);
    };
    const folder = stack.use(directories.add(runtime, running, 'always'));
    processes.set(runtime, folder);
    stack.defer(() => processes.delete(runtime));
    watchParent(dirname(runtime));
    return stack;
  }

  /** A process makes its directory when it begins. */
  function watchParent(parent: string): void {
    if (parents.has(parent)) return;
    parents.add(parent);
    const came = (name: string | null): void => {
      for (const [runtime, directory] of processes)
        if (dirname(runtime) === parent && (name === null || name === basename(runtime))) directory.renew();
    };
    directories.add(parent, came, 'always');
  }

  return {
    follow(daemons) {
      for (const [name, { runtime, stack }] of followed) {
        const places = daemons.get(name);
        if (places !== undefined && (places?.runtime ?? null) === runtime) continue;
        stack.dispose();
        followed.delete(name);
      }
      for (const [name, places] of daemons) {
        if (!followed.has(name)) followed.set(name, { runtime: places?.runtime ?? null, stack: begin(name, places) });
      }
    },
    [Symbol.dispose]() {
      directories[Symbol.dispose]();
      followed.clear();
    },
  };
}
