import type { Fact } from '../../core/board/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import type { Service, Supervisor } from '../../core/services/index.ts';
import type { WatchedHive } from '../../core/sources/module.ts';
import type { HiveWatchers } from './hive-watchers.ts';

interface HiveGroupOptions {
  readonly hives: readonly WatchedHive[];
  /** What else belongs to them, such as the service that looks for hives that come. */
  readonly services: readonly Service[];
  readonly createWatchers: (hive: WatchedHive) => HiveWatchers;
  /** The watchers of all hives in the process. Those of the group are put in, and taken out at its stop. */
  readonly all: HiveWatchers[];
  readonly supervisor: Supervisor;
  readonly put: (fact: Fact) => void;
  readonly clock: Pick<Clock, 'now'>;
}

/** Hives that are watched from the same settings, and stop and start together. */
export interface HiveGroup {
  start(): void;
  /** Ends the watchers. The saved states of their personas stay. */
  stop(): Promise<void>;
  /** Takes off the board what none of these hives watches now. Called after `stop`. */
  giveWayTo(next: readonly WatchedHive[]): void;
}

export function createHiveGroup(options: HiveGroupOptions): HiveGroup {
  const { hives, services, all, supervisor, put, clock } = options;
  const members = hives.map((hive) => ({ hive, watchers: options.createWatchers(hive) }));
  all.push(...members.map(({ watchers }) => watchers));
  let running: readonly AsyncDisposable[] = [];
  return {
    start() {
      running = [...members.map(({ watchers }) => watchers), ...services].map((service) => supervisor.add(service));
    },
    async stop() {
      await Promise.all(running.map((service) => service[Symbol.asyncDispose]()));
      for (const { watchers } of members) {
        const at = all.indexOf(watchers);
        if (at >= 0) all.splice(at, 1);
      }
    },
    giveWayTo(next) {
      for (const { hive, watchers } of members) {
        const { id } = hive.source;
        const same = next.find(({ source, address }) => source.id === id && address === hive.address);
        watchers.leave((persona) => same?.named(persona.address).id === persona.id);
        if (next.some(({ source }) => source.id === id)) continue;
        put({ is: 'source', at: clock.now(), source: id, address: hive.address, fault: null });
        put({ is: 'withdrawn', at: clock.now(), source: id });
      }
    },
  };
}
