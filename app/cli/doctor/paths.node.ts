import { accessSync, constants, lstatSync, type Stats, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { longestSocketPath, ownerSocketOf } from '../../owner-socket.ts';
import type { DirectorySeen } from './directory.ts';
import type { SocketSeen } from './owner-socket.ts';
import type { FileSeen } from './private-file.ts';
import type { Scene } from './scene.ts';

export function directorySeen(path: string, me: number | null): DirectorySeen {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) {
      const parent = nearest(path);
      return { is: 'absent', path, parent, canMake: mayWrite(parent) };
    }
    if (!stat.isDirectory()) return { is: 'other', path, kind: kindOf(stat) };
    const { bavail, bsize } = statfsSync(path);
    return { is: 'directory', path, ...ownerOf(stat, me), isWritable: mayWrite(path), freeBytes: bavail * bsize };
  } catch (error) {
    return { is: 'failed', path, why: error instanceof Error ? error.message : String(error) };
  }
}

export function fileSeen(path: string, me: number | null): FileSeen {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, is: 'absent', mode: null, uid: null, me };
  return { path, is: stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'symlink' : 'other', ...ownerOf(stat, me) };
}

export async function socketSeen({ os, dirs, uid, tray }: Scene): Promise<SocketSeen> {
  const path = ownerSocketOf(os, dirs.run, uid);
  const most = longestSocketPath(os);
  const answer = await tray();
  if (os === 'win32') return { path, is: 'pipe', mode: null, most, answer };
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, is: 'absent', mode: null, most, answer };
  return { path, is: stat.isSocket() ? 'socket' : 'other', mode: ownerOf(stat, uid).mode, most, answer };
}

export const inState = ({ dirs }: Scene, ...names: string[]): string => join(dirs.state, ...names);

function ownerOf(stat: Stats, me: number | null): { mode: number | null; uid: number | null; me: number | null } {
  return me === null ? { mode: null, uid: null, me } : { mode: stat.mode & 0o777, uid: stat.uid, me };
}

function kindOf(stat: Stats): 'file' | 'symlink' | 'other' {
  return stat.isSymbolicLink() ? 'symlink' : stat.isFile() ? 'file' : 'other';
}

function nearest(path: string): string {
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
    return false; // that is the answer
  }
}
