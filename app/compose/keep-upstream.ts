import { join } from 'node:path';
import type { LocalHive } from '../../core/inbox/index.ts';
import { type Agent, keepRegistrations, keepSignals } from '../../core/inbox/signals/index.ts';
import { installedDaemons } from '../../core/link/index.ts';
import type { Database, Dirs } from '../../core/state/index.ts';
import { inboxesOf } from '../hook/index.ts';
import { keptSessions, lifeOf, type Session } from '../open/index.ts';
import type { DaemonKeys, SignalsApi } from '../status/index.ts';
import { daemonKeys } from './daemon-keys.ts';
import type { Machine } from './machine.ts';

export interface Upstream extends SignalsApi, Disposable {
  readonly keys: DaemonKeys;
}

/** The local hive as the upstream of the persona daemons of this machine (persona daemon, contract 2). */
export function keepUpstream(
  { db, local, dirs }: { readonly db: Database; readonly local: LocalHive; readonly dirs: Dirs },
  { disk, clock, random, os, log }: Machine,
): Upstream {
  const directory = join(dirs.state, 'daemons');
  const signals = keepSignals({ db, local, clock, log });
  const kept = keptSessions(db);
  const agentOf = (session: Session, address: string): Agent => {
    const { id, pane, cwd, runner, announcedAt, endedAt } = session;
    return {
      id: id ?? `pid-${runner.pid}`,
      address,
      surface: pane === null ? 'terminal' : 'tmux',
      project: cwd,
      since: announcedAt,
      left: leftOf(session, endedAt),
    };
  };
  const leftOf = ({ runner, announcedAt }: Session, endedAt: number | null): Agent['left'] => {
    if (endedAt !== null) return { reason: 'wrap', at: endedAt };
    return lifeOf(runner, os) === 'gone' ? { reason: 'expire', at: announcedAt } : null;
  };
  const expected = installedDaemons(disk, directory).flatMap((one) => {
    if (one.is === 'bad' || one.config.paused) return [];
    const { identity, address, surface } = one.config;
    return [{ kind: 'daemon' as const, identity, address, surface }];
  });
  const registrations = keepRegistrations({
    clock,
    newId: () => random.hex(8),
    expected,
    sessions: (asked) =>
      kept.all().flatMap((session) => {
        const address = inboxesOf(session.persona, dirs.config).name;
        return asked === null || asked === address ? [agentOf(session, address)] : [];
      }),
  });
  return {
    signals,
    registrations,
    keys: daemonKeys(disk, directory, log),
    [Symbol.dispose]() {
      registrations[Symbol.dispose]();
      signals[Symbol.dispose]();
    },
  };
}
