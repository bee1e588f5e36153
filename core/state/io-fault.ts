import { dirname } from 'node:path';
import { Fault, type Scope } from '../model/index.ts';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'is missing',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  ELOOP: 'is a symlink, which is never followed',
  EISDIR: 'is a directory',
  ENOTDIR: 'a part of the path is not a directory',
  ENXIO: 'is a pipe or device, not a file',
  ENAMETOOLONG: 'the name is too long for the disk',
  EMFILE: 'this process has too many open files',
  EIO: 'the disk reports an input/output error',
};

/** The `code` of an error of node:fs; '' for anything else. */
export function getErrno(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * Turns a failed file operation into a Fault that names the path and the reason. A full or read-only disk is one cause for all
 * files in that directory; any other failure concerns the one file.
 */
export function toIoFault(error: unknown, path: string, is: 'unreadable' | 'unwritable'): Fault {
  if (error instanceof Fault) return error;
  const code = getErrno(error);
  const why = WORDS[code] ?? (error instanceof Error ? error.message : String(error));
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const scope: Scope = { is: 'machine', key: full || code === 'EROFS' ? `disk:${dirname(path)}` : `file:${path}` };
  return new Fault(full ? 'no-space' : is, `${path}: ${why}`, scope, { cause: error });
}

/** A Fault for a path that is refused because of what it is, not because of a system error. */
export function createRefusal(path: string, why: string, is: 'unreadable' | 'unwritable'): Fault {
  return new Fault(is, `${path}: ${why}`, { is: 'machine', key: `file:${path}` });
}
