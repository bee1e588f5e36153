import { accessSync, constants, lstatSync, type Stats, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getMaxSocketPathBytes, resolveOwnerSocketPath } from '../../owner-socket.ts';
import type { DirectoryProbe } from './directory.ts';
import type { DoctorContext } from './doctor-context.ts';
import type { SocketProbe } from './owner-socket.ts';
import type { FileProbe } from './private-file.ts';

export function probeDirectory(path: string, me: number | null): DirectoryProbe {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) {
      const parent = findExistingParent(path);
      return { is: 'absent', path, parent, canMake: mayWrite(parent) };
    }
    if (!stat.isDirectory()) return { is: 'other', path, kind: getKind(stat) };
    const { bavail, bsize } = statfsSync(path);
    return { is: 'directory', path, ...getOwner(stat, me), isWritable: mayWrite(path), freeBytes: bavail * bsize };
  } catch (error) {
    return { is: 'failed', path, why: error instanceof Error ? error.message : String(error) };
  }
}

export function probeFile(path: string, me: number | null): FileProbe {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, is: 'absent', mode: null, uid: null, me };
  return { path, is: stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'symlink' : 'other', ...getOwner(stat, me) };
}

export async function probeSocket({ os, dirs, uid, tray }: DoctorContext): Promise<SocketProbe> {
  const path = resolveOwnerSocketPath(os, dirs.run, uid);
  const most = getMaxSocketPathBytes(os);
  const answer = await tray();
  if (os === 'win32') return { path, is: 'pipe', mode: null, most, answer };
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, is: 'absent', mode: null, most, answer };
  return { path, is: stat.isSocket() ? 'socket' : 'other', mode: getOwner(stat, uid).mode, most, answer };
}

export const getStatePath = ({ dirs }: DoctorContext, ...names: string[]): string => join(dirs.state, ...names);

function getOwner(stat: Stats, me: number | null): { mode: number | null; uid: number | null; me: number | null } {
  return me === null ? { mode: null, uid: null, me } : { mode: stat.mode & 0o777, uid: stat.uid, me };
}

function getKind(stat: Stats): 'file' | 'symlink' | 'other' {
  return stat.isSymbolicLink() ? 'symlink' : stat.isFile() ? 'file' : 'other';
}

function findExistingParent(path: string): string {
  let parent = dirname(path);
  while (lstatSync(parent, { throwIfNoEntry: false }) === undefined && parent !== dirname(parent))
    parent = dirname(parent);
  return parent;
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false; // the answer is no
  }
}
