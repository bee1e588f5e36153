import { readFileSync } from 'node:fs';

/** The locks on files of this machine, as proc_locks(5) lists them. Null where there is no such list. Reading it takes no lock. */
export function readLockTable(platform: NodeJS.Platform = process.platform): string | null {
  if (platform !== 'linux') return null;
  try {
    return readFileSync('/proc/locks', 'latin1');
  } catch {
    return null; // a system without /proc
  }
}

/** Returns whether a table in the form of proc_locks(5) has a flock(2) lock on the file with this inode. */
export function isFlocked(table: string, inode: number): boolean {
  return table.split('\n').some((line) => {
    const [, kind, , , , file = ''] = line.trim().split(/\s+/);
    return kind === 'FLOCK' && file.split(':')[2] === `${inode}`;
  });
}
