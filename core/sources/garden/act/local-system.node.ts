import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Instant } from '../../../model/index.ts';

/** `YYYYMMDDTHHMMSS` in the time zone of this machine (garden contract 1). */
export function formatLocalStamp(at: Instant): string {
  const then = new Date(at);
  const date = `${pad(then.getFullYear(), 4)}${pad(then.getMonth() + 1, 2)}${pad(then.getDate(), 2)}`;
  return `${date}T${pad(then.getHours(), 2)}${pad(then.getMinutes(), 2)}${pad(then.getSeconds(), 2)}`;
}

function pad(n: number, width: number): string {
  return String(n).padStart(width, '0');
}

/** Resolves the symlinks of a path. Of a path that does not exist yet, the existing part is resolved. */
export function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) throw error;
    return join(resolveRealPath(parent), basename(path));
  }
}
