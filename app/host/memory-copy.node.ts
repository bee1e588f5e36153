import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A copy of the durable state, to be read while the disk of the original is full. */
export interface MemoryCopy extends Disposable {
  readonly directory: string;
}

/**
 * Copies these files of a directory to another disk, into a folder that only this user can read. Memory is tried before other
 * disks. Returns null when no other disk has room.
 */
export function copyToAnotherDisk(directory: string, names: readonly string[]): MemoryCopy | null {
  const { dev } = statSync(directory);
  for (const place of ['/dev/shm', process.env.XDG_RUNTIME_DIR ?? '', tmpdir()]) {
    if (place === '' || !existsSync(place) || statSync(place).dev === dev) continue;
    const copy = copyInto(place, directory, names);
    if (copy !== null) return copy;
  }
  return null;
}

function copyInto(place: string, directory: string, names: readonly string[]): MemoryCopy | null {
  let to: string | null = null;
  try {
    to = mkdtempSync(join(place, 'hivebar-')); // with mode 0700
    const copy = to;
    for (const name of names)
      if (existsSync(join(directory, name))) copyFileSync(join(directory, name), join(copy, name));
    mkdirSync(join(copy, 'events'), { mode: 0o700 });
    return { directory: copy, [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }) };
  } catch {
    if (to !== null) rmSync(to, { recursive: true, force: true });
    return null; // this place does not exist: the caller does without a copy
  }
}
