import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Files, realFiles } from '../../core/ports/index.ts';

/** The real disk, on which permissions can be taken away, also where the tests are run by root. */
export interface GuardedFiles {
  readonly files: Files;
  /** What is at these paths and below can neither be listed nor opened; none: everything can. */
  deny(...paths: readonly string[]): void;
}

export function createGuardedFiles(): GuardedFiles {
  let denied: readonly string[] = [];
  const check = (path: string, isEntered: boolean): void => {
    const isDenied = denied.some((each) => path.startsWith(`${each}/`) || (isEntered && path === each));
    if (isDenied) throw Object.assign(new Error(`EACCES: permission denied, '${path}'`), { code: 'EACCES' });
  };
  const files: Files = {
    ...realFiles,
    open(path, flags, mode) {
      check(path, true);
      return realFiles.open(path, flags, mode);
    },
    readdir(path) {
      check(path, true);
      return realFiles.readdir(path);
    },
    lstat(path) {
      check(path, false);
      return realFiles.lstat(path);
    },
  };
  return {
    files,
    deny: (...paths) => {
      denied = paths;
    },
  };
}

/** Everything below a directory that reading must not change, by path. */
export function captureTree(directory: string): Readonly<Record<string, string>> {
  const names = ['', ...(readdirSync(directory, { recursive: true }) as string[]).sort()];
  return Object.fromEntries(
    names.map((name) => {
      const path = join(directory, name);
      const stat = lstatSync(path, { bigint: true });
      const bytes = stat.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      const target = stat.isSymbolicLink() ? readlinkSync(path) : '';
      const { mode, mtimeNs, ctimeNs, ino, size, nlink } = stat;
      return [name, [mode, mtimeNs, ctimeNs, ino, size, nlink, bytes, target].join(' ')];
    }),
  );
}

/** What this process holds open, by kind; where the system has no such list, what keeps its event loop busy. */
export function listHandles(): readonly string[] {
  const busy = process.getActiveResourcesInfo().filter((name) => name !== 'Immediate' && name !== 'Timeout');
  if (process.platform !== 'linux') return busy.sort();
  const descriptors = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`).replace(/\d+/g, 'N')];
    } catch {
      return []; // the list itself
    }
  });
  return [...busy, ...descriptors].sort();
}
