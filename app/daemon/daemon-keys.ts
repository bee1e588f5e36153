import { join } from 'node:path';
import { type DaemonConfig, loadInstalledDaemons, readDaemonToken } from '../../core/link/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { type Disk, getErrno } from '../../core/state/index.ts';
import { type DaemonKey, type DaemonKeys, hashToken } from '../status/index.ts';

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
    if (!failing.has(path)) log.warn(`a token is not taken: ${error instanceof Error ? error.message : String(error)}`);
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
