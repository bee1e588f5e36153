import { basename, dirname, join, resolve } from 'node:path';
import type { Disk } from '../../../state/index.ts';
import { createRefusal, toIoFault } from '../../../state/index.ts';
import { type Project, readConfig, STORE } from '../index.ts';

/**
 * Finds the project of a directory: the directory contains `.brainclaw`, is `.brainclaw`, or is below a folder that contains
 * it. Null when the path is not a directory.
 * @throws Fault `unreadable` when there is no project; it names the folders that were searched
 */
export function findProjectAt(disk: Disk, directory: string): Project | null {
  const from = resolve(directory);
  if (!isDirectory(disk, from)) return null;
  for (let at = from; ; at = dirname(at)) {
    const root = basename(at) === STORE ? dirname(at) : at;
    const store = join(root, STORE);
    if (isDirectory(disk, store)) {
      const { projectId } = readConfig(disk.files, join(store, 'config.yaml'));
      return { root, store, id: projectId ?? basename(root) };
    }
    if (at === dirname(at)) break;
  }
  const why = `neither it nor a directory above it has a ${STORE}, so it is in no project: name one with --project`;
  throw createRefusal(from, why, 'unreadable');
}

/** Whether the path is a directory, also through a symlink: a worktree may share the store of another. */
function isDirectory(disk: Disk, path: string): boolean {
  try {
    return disk.files.lstat(`${path}/.`)?.kind === 'directory';
  } catch (error) {
    const fault = toIoFault(error, path, 'unreadable');
    if (isNoDirectory(error)) return false;
    throw fault;
  }
}

const isNoDirectory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOTDIR';
