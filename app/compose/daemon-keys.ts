import { join } from 'node:path';
import { type DaemonConfig, installedDaemons, readDaemonToken } from '../../core/link/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { type Disk, errnoOf } from '../../core/state/index.ts';
import { type DaemonKey, type DaemonKeys, digestOf } from '../status/index.ts';

const SCOPES = ['observe', 'act'] as const;
const FILES = ['daemon.json', 'observe.token', 'act.token'] as const;

/** The tokens that `hivebar daemon install` minted, read again as soon as one of their files is another. */
export function daemonKeys(disk: Disk, directory: string, log: Log): DaemonKeys {
  let looked = '';
  let keys: readonly DaemonKey[] = [];
  const failing = new Set<string>();

  function keysOf({ tenant, identity, address }: DaemonConfig, name: string): readonly DaemonKey[] {
    return SCOPES.flatMap((scope): readonly DaemonKey[] => {
      const path = join(directory, name, `${scope}.token`);
      try {
        const token = readDaemonToken(disk, path);
        return token === null ? [] : [{ scope, digest: digestOf(token), tenant, identity, address }];
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
      const now = looksOf(disk, directory);
      if (now === looked) return keys;
      looked = now;
      failing.clear();
      keys = installedDaemons(disk, directory).flatMap((one) =>
        one.is === 'good' ? keysOf(one.config, one.name) : [],
      );
      return keys;
    },
  };
}

/** Another text when one of the files is another. */
function looksOf({ files }: Disk, directory: string): string {
  return namesIn(files, directory)
    .flatMap((name) => FILES.map((file) => join(directory, name, file)))
    .map((path) => {
      const stat = files.lstat(path);
      return stat === null ? path : `${path}:${stat.ino}:${stat.size}:${stat.ctimeMs}`;
    })
    .join('\n');
}

function namesIn(files: Disk['files'], directory: string): readonly string[] {
  try {
    return files.readdir(directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []; // none was ever installed
    throw error;
  }
}
