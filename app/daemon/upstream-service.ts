import { join } from 'node:path';
import type { LocalHive } from '../../core/inbox/index.ts';
import { type AnnouncedAgent, createRegistrations, openSignals } from '../../core/inbox/signals/index.ts';
import { loadInstalledDaemons } from '../../core/link/index.ts';
import type { Database, Dirs } from '../../core/state/index.ts';
import { locateInbox } from '../hook/index.ts';
import type { Machine } from '../host/machine.ts';
import { checkLiveness, openSessionStore, type Session } from '../open/index.ts';
import type { DaemonKeys, SignalsApi } from '../status/index.ts';
import { openDaemonKeys } from './daemon-keys.ts';

export interface UpstreamService extends SignalsApi, Disposable {
  readonly keys: DaemonKeys;
}

/** Runs the local hive as the upstream of the persona daemons of this machine (persona daemon, contract 2). */
export function startUpstreamService(
  { db, local, dirs }: { readonly db: Database; readonly local: LocalHive; readonly dirs: Dirs },
  { disk, clock, random, os, log }: Machine,
): UpstreamService {
  const directory = join(dirs.state, 'daemons');
  const signals = openSignals({ db, local, clock, log });
  const sessionStore = openSessionStore(db);
  const toAgent = (session: Session, address: string): AnnouncedAgent => {
    const { id, pane, cwd, runner, announcedAt, endedAt } = session;
    return {
      id: id ?? `pid-${runner.pid}`,
      address,
      surface: pane === null ? 'terminal' : 'tmux',
      project: cwd,
      since: announcedAt,
      left: findDeparture(session, endedAt),
    };
  };
  const findDeparture = ({ runner, announcedAt }: Session, endedAt: number | null): AnnouncedAgent['left'] => {
    if (endedAt !== null) return { reason: 'wrap', at: endedAt };
    return checkLiveness(runner, os) === 'gone' ? { reason: 'expire', at: announcedAt } : null;
  };
  const expected = loadInstalledDaemons(disk, directory).flatMap((entry) => {
    if (entry.is === 'bad' || entry.config.paused) return [];
    const { identity, address, surface } = entry.config;
    return [{ kind: 'daemon' as const, identity, address, surface }];
  });
  const registrations = createRegistrations({
    clock,
    newId: () => random.hex(8),
    expected,
    sessions: (requestedAddress) =>
      sessionStore.listAll().flatMap((session) => {
        const address = locateInbox(session.persona, dirs.config).name;
        return requestedAddress === null || requestedAddress === address ? [toAgent(session, address)] : [];
      }),
  });
  return {
    signals,
    registrations,
    keys: openDaemonKeys(disk, directory, log),
    [Symbol.dispose]() {
      registrations[Symbol.dispose]();
      signals[Symbol.dispose]();
    },
  };
}
