import { type Disk, openForAppend, toIoFault } from '../../state/index.ts';
import { writeAll } from './bytes.ts';

/** The file of bad lines starts again when it would be larger than this. */
const MOST_BYTES = 1024 * 1024;
const MOST_CHARS = 64 * 1024;

export interface BadLine {
  readonly line: string;
  readonly why: string;
}

/**
 * Appends bad lines to `FILE.bad` (0600), unchanged except that they are cut at 64 Ki characters. The file is bounded: it starts
 * again at 1 MiB. A failure is only logged, because later lines must not wait for a bad one.
 */
export function putAside(disk: Disk, queue: string, lines: readonly BadLine[]): void {
  if (lines.length === 0) return;
  const path = `${queue}.bad`;
  const { log } = disk;
  const first = lines[0]?.why ?? '';
  log.warn(`${queue}: ${lines.length} bad lines, put aside in ${path}; the first: ${first}`, { path: queue });
  try {
    const { fd, stat } = openForAppend(disk, path);
    try {
      let size = stat.size;
      for (const { line } of lines) {
        const bytes = Buffer.from(`${line.slice(0, MOST_CHARS)}\n`);
        if (size + bytes.length > MOST_BYTES) {
          disk.files.ftruncate(fd, 0);
          size = 0;
        }
        writeAll(disk, fd, bytes);
        size += bytes.length;
      }
    } finally {
      disk.files.close(fd);
    }
  } catch (error) {
    log.warn(`${toIoFault(error, path, 'unwritable').message}; bad lines are lost`, { path: queue });
  }
}
