import { type FileId, isSameFile, type OpenEventFile } from './event-files.ts';

export interface NextFiles {
  /** Those to read next, oldest first. */
  readonly unread: readonly OpenEventFile[];
  /** Files that nobody read may have gone: between the last one read and the first unread one there may be a gap. */
  readonly mayLack: boolean;
}

/**
 * What follows after the files that were read. `read` are some of them, the newest last; they must still be open, since
 * only then is an equal number the same file. All that is listed before one of them was read as well.
 */
export function findNextFiles(read: readonly FileId[], listed: readonly OpenEventFile[]): NextFiles {
  const known = listed.findLastIndex(({ id }) => read.some((readId) => isSameFile(readId, id)));
  const unread = listed.slice(known + 1);
  // While one that was read is listed, none that is newer was rotated away. A live file alone was made anew after somebody
  // deleted the last one. An archive that nobody read was rotated away after it, and others may have been before.
  const isAnyListed = read.length === 0 || known !== -1;
  return { unread, mayLack: !isAnyListed && unread.some(({ is }) => is === 'archive') };
}
