import { join } from 'node:path';
import type { Random } from '../ports/index.ts';
import { type Disk, ensurePrivateDir, getErrno, readPrivate, writeAtomically } from '../state/index.ts';
import { createDaemonConfigFault, type DaemonConfig, formatDaemonConfig, parseDaemonConfig } from './config.ts';
import { type DaemonPlaces, toJoinedName } from './places.ts';

/** An upper bound: a configuration has a few hundred bytes, a token 64. */
const MOST_BYTES = 64 * 1024;
/** Tokens of Hivebar are 64 hex digits. Other upstreams may use whatever a header can carry (RFC 6750, section 2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]{16,4096}=*$/;

/** A daemon as it was installed, or the reason why its configuration cannot be read. */
export type DaemonInstallation =
  | { readonly is: 'good'; readonly name: string; readonly config: DaemonConfig }
  | { readonly is: 'bad'; readonly name: string; readonly why: string };

/**
 * Reads the configuration of a daemon; null: no daemon is installed.
 * @throws Fault `daemon-config` if the file is invalid, `unreadable` if we may not read it
 */
export function readDaemonConfig(disk: Disk, { config: path }: Pick<DaemonPlaces, 'config'>): DaemonConfig | null {
  const text = readTextFile(disk, path);
  return text === null ? null : parseDaemonConfig(text, path);
}

/** Writes the configuration durably, and creates its directory with mode 0700. @throws Fault `unwritable` or `no-space` */
export function writeDaemonConfig(
  disk: Disk,
  random: Random,
  { dir, config: path }: Pick<DaemonPlaces, 'dir' | 'config'>,
  config: DaemonConfig,
): void {
  ensurePrivateDir(disk, dir);
  writeAtomically(disk, random, path, formatDaemonConfig(config));
}

/** Reads a token file; null: the file is missing. @throws Fault `daemon-config` or `unreadable` */
export function readDaemonToken(disk: Disk, path: string): string | null {
  const token = readTextFile(disk, path)?.trim() ?? null;
  if (token !== null && !TOKEN.test(token)) throw createDaemonConfigFault(path, 'holds no token');
  return token;
}

/** Writes a new token of 32 bytes to a file of mode 0600. @throws Fault `unwritable` or `no-space` */
export function writeDaemonToken(disk: Disk, random: Random, path: string): string {
  const token = random.hex(32);
  writeAtomically(disk, random, path, `${token}\n`);
  return token;
}

/** All daemons installed under `toDaemonsDir`, by name. A daemon that cannot be read is listed with the reason. */
export function loadInstalledDaemons(disk: Disk, dir: string): readonly DaemonInstallation[] {
  return listNames(disk, dir).flatMap((name): readonly DaemonInstallation[] => {
    try {
      const config = readDaemonConfig(disk, { config: join(dir, name, 'daemon.json') });
      if (config === null) return [];
      if (toJoinedName(config) === name) return [{ is: 'good', name, config }];
      return [{ is: 'bad', name, why: `${join(dir, name)} holds the daemon ${toJoinedName(config)}` }];
    } catch (error) {
      return [{ is: 'bad', name, why: error instanceof Error ? error.message : String(error) }];
    }
  });
}

function listNames(disk: Disk, dir: string): readonly string[] {
  try {
    return disk.files.readdir(dir).toSorted();
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw error;
  }
}

function readTextFile(disk: Disk, path: string): string | null {
  const bytes = readPrivate(disk, path, MOST_BYTES);
  if (bytes === null) return null;
  if (bytes.length > MOST_BYTES) throw createDaemonConfigFault(path, `is longer than ${MOST_BYTES} bytes`);
  return Buffer.from(bytes).toString('utf8');
}
