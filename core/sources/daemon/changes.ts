import { basename, dirname, join } from 'node:path';
import type { DaemonPlaces } from '../../link/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type DirectoryWatch, watchDirectories } from '../directories.node.ts';

export interface DaemonListener {
  /** The set of installed daemons, or the configuration of one, may have changed. */
  installed(): void;
  /** The process may have started or ended, or may be another one. */
  process(name: string): void;
  /** The daemon exported its metrics. */
  exported(name: string): void;
}

/** Reports changes of the daemons. It modifies none of their files. */
export interface DaemonChanges extends Disposable {
  /** Watches exactly these daemons from now on. Null: the configuration cannot be read, so no process is known to watch. */
  follow(daemons: ReadonlyMap<string, DaemonWatchPlaces | null>): void;
}

type DaemonWatchPlaces = Pick<DaemonPlaces, 'runtime' | 'socket' | 'token' | 'metrics'>;

/** Watches the directory of installed daemons, each configuration in it, and the runtime directory of each daemon. */
export function watchDaemons(dir: string, clock: Clock, listener: DaemonListener): DaemonChanges {
  const directories = watchDirectories({ clock, statOnly: false });
  const followed = new Map<string, { readonly runtime: string | null; readonly stack: DisposableStack }>();
  const processes = new Map<string, DirectoryWatch>();
  const parents = new Set<string>();
  directories.add(dir, () => listener.installed(), 'always');

  function watchDaemon(name: string, places: DaemonWatchPlaces | null): DisposableStack {
    const stack = new DisposableStack();
    const onConfigChange = (file: string | null): void => {
      if (file === null || file === 'daemon.json') listener.installed();
    };
    stack.use(directories.add(join(dir, name), onConfigChange, 'deaf'));
    if (places === null) return stack;
    const { runtime, socket, token, metrics } = places;
    const onRuntimeChange = (file: string | null): void => {
      const path = file === null ? null : join(runtime, file);
      if (path === metrics) listener.exported(name);
      else if (path === null || path === socket || path === token) listener.process(name);
    };
    const folder = stack.use(directories.add(runtime, onRuntimeChange, 'always'));
    processes.set(runtime, folder);
    stack.defer(() => processes.delete(runtime));
    watchParent(dirname(runtime));
    return stack;
  }

  /** A process creates its runtime directory when it starts. */
  function watchParent(parent: string): void {
    if (parents.has(parent)) return;
    parents.add(parent);
    const onParentChange = (name: string | null): void => {
      for (const [runtime, directory] of processes)
        if (dirname(runtime) === parent && (name === null || name === basename(runtime))) directory.renew();
    };
    directories.add(parent, onParentChange, 'always');
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
        if (!followed.has(name))
          followed.set(name, { runtime: places?.runtime ?? null, stack: watchDaemon(name, places) });
      }
    },
    [Symbol.dispose]() {
      directories[Symbol.dispose]();
      followed.clear();
    },
  };
}
