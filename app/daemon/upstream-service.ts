import { join } from 'node:path';
import type { LocalHive } from '../../core/inbox/index.ts';
import { type AnnouncedAgent, createRegistrations, openSignals } from '../../core/inbox/signals/index.ts';
import { type DaemonConfig, loadInstalledDaemons, readDaemonToken } from '../../core/link/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { type Database, type Dirs, type Disk, getErrno } from '../../core/state/index.ts';
import { locateInbox } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { checkLiveness, openSessionStore, type Session } from '../open/index.ts';
import { type DaemonKey, type DaemonKeys, hashToken, type SignalsApi } from '../status/index.ts';

interface UpstreamService extends SignalsApi, Disposable {
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

const SCOPES = ['observe', 'act'] as const;
const FILES = ['daemon.json', 'observe.token', 'act.token'] as const;

/** Opens the tokens that `hivebar daemon install` created. They are read again when one of their files changed. */
export function openDaemonKeys(disk: Disk, directory: string, log: Log): DaemonKeys {
  let lastStamp = '';
  let keys: readonly DaemonKey[] = [];
  const failing = new Set<string>();

  function readKeys({ tenant, identity, address }: DaemonConfig, name: string): readonly DaemonKey[] {
    return SCOPES.flatMap((scope): readonly DaemonKey[] => {
      const path = join(directory, name, `${scope}.token`);
      try {
        const token = readDaemonToken(disk, path);
        return token === null ? [] : [{ scope, digest: hashToken(token), tenant, identity, address }];
      } catch (error) {
        failed(path, error);
        return [];
      }
    });
  }

  function failed(path: string, error: unknown): void {
    if (!failing.has(path)) log.warn(`a token is ignored: ${error instanceof Error ? error.message : String(error)}`);
    failing.add(path);
  }

  return {
    all() {
      const now = readFileStamps(disk, directory);
      if (now === lastStamp) return keys;
      lastStamp = now;
      failing.clear();
      keys = loadInstalledDaemons(disk, directory).flatMap((entry) =>
        entry.is === 'good' ? readKeys(entry.config, entry.name) : [],
      );
      return keys;
    },
  };
}

/** Returns a text that changes when one of the files changes. */
function readFileStamps({ files }: Disk, directory: string): string {
  return listNames(files, directory)
    .flatMap((name) => FILES.map((file) => join(directory, name, file)))
    .map((path) => {
      const stat = files.lstat(path);
      return stat === null ? path : `${path}:${stat.ino}:${stat.size}:${stat.ctimeMs}`;
    })
    .join('\n');
}

function listNames(files: Disk['files'], directory: string): readonly string[] {
  try {
    return files.readdir(directory);
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return []; // no daemon was ever installed
    throw error;
  }
}
