import { type FileId, isSameFile, type OpenEventFile } from './event-files.ts';

export interface NextFiles {
  /** The files to read next, oldest first. */
  readonly unread: readonly OpenEventFile[];
  /** Files that nobody read may be gone. There may be a gap between the last file read and the first unread one. */
  readonly mayLack: boolean;
}

/**
 * Finds the files that come after those that were read. `read` holds some of these, the newest last. They must still be open,
 * since only then does an equal number mean the same file. Every file that is listed before one of them was read as well.
 */
export function findNextFiles(read: readonly FileId[], listed: readonly OpenEventFile[]): NextFiles {
  const known = listed.findLastIndex(({ id }) => read.some((readId) => isSameFile(readId, id)));
  const unread = listed.slice(known + 1);
  // While a file that was read is listed, no newer file was rotated away. A live file alone means that somebody deleted the last
  // one and it was created anew. An unread archive was rotated away after the last file read, and so may others before it.
  const isAnyListed = read.length === 0 || known !== -1;
  return { unread, mayLack: !isAnyListed && unread.some(({ is }) => is === 'archive') };
}
