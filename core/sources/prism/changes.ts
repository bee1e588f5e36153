import { join } from 'node:path';
import type { DaemonPlaces } from '../../link/index.ts';
import type { Clock } from '../../ports/index.ts';
import { watchDirectories } from '../directories.node.ts';

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
    stack.use(directories.add(runtime, running, 'always'));
    return stack;
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
