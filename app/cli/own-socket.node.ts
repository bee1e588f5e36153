import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { findOwnDirs } from '../../core/state/dirs.node.ts';
import { resolveOwnerSocketPath } from '../owner-socket.ts';

/** Returns the socket of this user's tray process; null when the folder belongs to another user, who must not be asked. */
export function findOwnSocket(env: Readonly<Record<string, string | undefined>>): string | null {
  const uid = process.geteuid?.() ?? null;
  const path = resolveOwnerSocketPath(process.platform, findOwnDirs({ ...env }).run, uid);
  if (uid === null) return path;
  const folder = lstatSync(dirname(path), { throwIfNoEntry: false });
  return folder === undefined || folder.uid === uid ? path : null;
}
