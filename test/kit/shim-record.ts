import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a stand-in shim noted of itself. */
export interface ShimNote {
  readonly pid: number;
  readonly is: 'started' | 'asked' | 'asked to end' | 'end of stdin';
  readonly cwd?: string;
  readonly child?: number | null;
  readonly asked?: { readonly id: number; readonly call: string; readonly payload?: unknown };
}

/** The command of a shim that records into `record` and behaves as the words say. */
export function standInShim(record: string, ...words: readonly string[]): readonly string[] {
  return [process.execPath, join(import.meta.dirname, 'stand-in-shim.mjs'), record, ...words];
}

/** What all shims that record there noted so far. */
export function shimNotes(record: string): readonly ShimNote[] {
  if (!existsSync(record)) return [];
  return readFileSync(record, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ShimNote);
}

/** A process is there and is no zombie. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false; // there is no such process
  }
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return !/\) Z /.test(stat);
}
