import { basename, dirname } from 'node:path';
import { type Clock, O, type Stat } from '../../ports/index.ts';
import { type Disk, getErrno, readRegular, toIoFault } from '../../state/index.ts';
import type { Directories } from '../directories.node.ts';
import { toReadOnlyFiles } from '../source-tools.ts';
import { SourceFault } from './faults.ts';
import { LINE_LIMITS, parseLines } from './lines.ts';
import { EXTERNAL } from './settings.ts';
import type { DataLine, Transport, TransportListener, TransportOutcome } from './transport.ts';

interface FileOptions {
  readonly name: string;
  readonly path: string;
  /** How old the file may be, in milliseconds; null for any age. */
  readonly staleMs: number | null;
  readonly contentChars: number;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly directories: Directories;
  readonly listener: TransportListener;
}

/** A file that another program puts in place by a rename. It is read completely or not at all. */
export function createFileTransport(options: FileOptions): Transport {
  const { name, path, staleMs, contentChars, disk, clock, listener } = options;
  const files = toReadOnlyFiles(disk.files, EXTERNAL);
  const title = { kind: name, label: name, can: [] };
  const observer = options.directories.add(
    dirname(path),
    (changed) => {
      if (changed === null || changed === basename(path)) listener.hint();
    },
    'always',
  );

  /** The file that was read last; null when a poll at it failed. */
  let lastRead: string | null = null;

  function poll(): TransportOutcome {
    const before = lastRead;
    lastRead = null;
    const stat = readStat();
    if (stat === null) throw new SourceFault('source-down', name, `there is no file ${path}`);
    const ageMs = clock.now() - stat.ctimeMs;
    if (staleMs !== null && ageMs > staleMs)
      throw new SourceFault('source-stale', name, `stale: ${path} was written ${Math.round(ageMs / 1000)} s ago`);
    const identity = `${stat.dev} ${stat.ino} ${stat.size} ${stat.ctimeMs}`;
    if (identity === before) {
      lastRead = before;
      return { is: 'kept' };
    }
    const bytes = readRegular(files, path, LINE_LIMITS.resultBytes);
    const { readings, broken } = parseLines(bytes === null ? '' : Buffer.from(bytes).toString('utf8'), contentChars);
    if (broken !== null) throw new SourceFault('source-schema', name, `schema: ${path}: ${broken}`);
    const lines: DataLine[] = [];
    for (const reading of readings) {
      if (reading.is === 'refused') listener.diagnose(reading.why);
      if (reading.is !== 'line') continue;
      for (const defect of reading.defects) listener.diagnose(defect);
      const { line } = reading;
      if (line.op === 'persona' || line.op === 'item') lines.push(line);
    }
    lastRead = identity;
    return { is: 'answered', lines, cursor: null, full: true, more: false };
  }

  /** It is opened, so that a lost permission shows. @throws Fault `unreadable` */
  function readStat(): Stat | null {
    try {
      const fd = files.open(path, O.RDONLY | O.NONBLOCK, 0);
      try {
        return files.fstat(fd);
      } finally {
        files.close(fd);
      }
    } catch (error) {
      if (getErrno(error) === 'ENOENT') return null;
      throw toIoFault(error, path, 'unreadable');
    }
  }

  return {
    ...{ pid: null, isCheap: true },
    start: async () => title,
    poll: async () => poll(),
    [Symbol.asyncDispose]: async () => observer[Symbol.dispose](),
  };
}
