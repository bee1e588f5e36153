import { join } from 'node:path';
import type { Stat } from '../../../ports/index.ts';
import { listNames, type ReadFiles, readStat } from './read-files.ts';

/** Names have exactly eight digits, so that they sort in the order of their records (observer protocol 2). */
const NAME = /^seg-(\d{8})\.jsonl$/;

export interface SegmentFile {
  readonly name: string;
  /** The seq of its first record, according to its name. */
  readonly first: number;
  readonly stat: Stat;
}

export interface Segments {
  /** In replay order. */
  readonly files: readonly SegmentFile[];
  /** Names that look like segments and are none, because of their spelling or because they are no files. */
  readonly decoys: readonly string[];
}

/**
 * The segments of a journal; null when the directory does not exist, which means that the journal is off.
 * @throws Fault `unreadable` when the directory cannot be read
 */
export function readSegments(files: ReadFiles, directory: string): Segments | null {
  const names = listNames(files, directory);
  if (names === null) return null;
  const segments: SegmentFile[] = [];
  const decoys: string[] = [];
  for (const name of names) {
    const match = NAME.exec(name);
    if (match === null) {
      if (name.startsWith('seg-')) decoys.push(name);
      continue;
    }
    const stat = readStat(files, join(directory, name));
    if (stat === null) continue; // deleted since the listing
    if (stat.kind === 'file') segments.push({ name, first: Number(match[1]), stat });
    else decoys.push(name);
  }
  return { files: segments, decoys };
}

/** Two equal stamps mean the same file, without any change in between that the disk reports. */
export const toStamp = ({ dev, ino, size, ctimeMs }: Stat): string => `${dev}:${ino}:${size}:${ctimeMs}`;
