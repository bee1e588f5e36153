import { join } from 'node:path';
import type { Stat } from '../../../ports/index.ts';
import { listNames, type ReadFiles, readStat } from './read-files.ts';

/** Eight digits exactly: then the order of names is that of the records (observer protocol 2). */
const NAME = /^seg-(\d{8})\.jsonl$/;

export interface SegmentFile {
  readonly name: string;
  /** The seq of its first record, as its name says. */
  readonly first: number;
  readonly stat: Stat;
}

export interface Segments {
  /** In replay order. */
  readonly files: readonly SegmentFile[];
  /** What looks like a segment and is none: by its name, or because it is no file. */
  readonly decoys: readonly string[];
}

/**
 * The segments of a journal; null when the directory is not there: the journal is off.
 * @throws Fault `unreadable` when it cannot be looked into
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
    if (stat === null) continue; // gone since the listing
    if (stat.kind === 'file') segments.push({ name, first: Number(match[1]), stat });
    else decoys.push(name);
  }
  return { files: segments, decoys };
}

/** Two stats with one stamp are of one file with nothing changed between them that the disk tells. */
export const toStamp = ({ dev, ino, size, ctimeMs }: Stat): string => `${dev}:${ino}:${size}:${ctimeMs}`;
