import { basename, dirname, join } from 'node:path';
import { createStamper, type Event, isMail, readTail, repairTail } from '../events/index.ts';
import { type Fault, toFault } from '../model/index.ts';
import type { Clocks } from '../ports/index.ts';
import { createTroubleLog } from '../services/index.ts';
import { type Disk, openForAppend, openForRead, syncDirectory, toIoFault } from '../state/index.ts';
import { type Ack, EMPTY_TAIL, type Sink, type Tail } from './sink.ts';

export interface FileSinkOptions {
  readonly disk: Disk;
  readonly clocks: Clocks;
  /** The absolute path. */
  readonly path: string;
  /** `--max-bytes`; 0 or less disables rotation. */
  readonly maxBytes: number;
  /** `--keep-logs`, at least 1. */
  readonly keep: number;
}

// A kill between the sink and the checkpoint leaves at most one batch unmarked. This size holds thousands of events.
const TAIL_BYTES = 1024 * 1024;

/**
 * Writes events as lines of a file that this process owns and rotates (Kijito spec 14.3, contract e). The first event
 * creates the file. `take` returns when the lines are on the disk. If the file is refused, `take` fails and the next
 * call tries again. Several watchers may share one sink (`--events-file`): it writes one batch at a time.
 */
export function createFileSink({ disk, clocks, path, maxBytes, keep }: FileSinkOptions): Sink<unknown> {
  const file = createRotatingFile({ disk, path, maxBytes, keep });
  let tail: Tail | null = null;
  return {
    savesState: false,
    async open() {
      if (tail !== null) return tail;
      file.tighten();
      try {
        const mail = file.tail(TAIL_BYTES).filter(isMail);
        tail = { eventIds: new Set(mail.map((event) => event.event_id)) };
      } catch (error) {
        // `take` fails for a refused file and reports why. Until then the content of the file is unknown.
        const fault = toFault(error, { is: 'machine', key: `file:${path}` });
        disk.log.warn(`${fault.message}: events that it already holds may be written again`);
        tail = EMPTY_TAIL;
      }
      return tail;
    },
    async take(events: readonly Event[]) {
      const formatStamped = createStamper(clocks.read());
      return file.append(events.map((event) => `${formatStamped(event)}\n`));
    },
    async [Symbol.asyncDispose]() {
      file[Symbol.dispose]();
    },
  };
}

export interface RotatingFileOptions {
  readonly disk: Disk;
  /** The absolute path. The archives are `PATH.1`, the newest, to `PATH.KEEP`. */
  readonly path: string;
  /** Rotate when the file has at least this many bytes after a line; 0 or less: never. */
  readonly maxBytes: number;
  /** How many archives are kept, at least 1. */
  readonly keep: number;
}

/** An event file that this process owns: private, append-only, rotated by size, followed by name (`tail -F`). */
export interface RotatingFile extends Disposable {
  /**
   * Appends whole lines, each with its newline. The acknowledged lines are on the disk. Never throws. A line that was
   * written only in part is cut off, so nothing ever follows half a line. Every call tries again. So a refused file
   * (symlink, pipe, foreign owner), a full disk or a deleted file recovers with the first call after its cause is gone.
   */
  append(lines: readonly string[]): Ack;
  /** Restricts the modes of the file and of all archives, also beyond `keep`. A refusal is logged, not thrown. */
  tighten(): void;
  /**
   * Returns the events in the last `maxBytes` of the file and its archives.
   * @throws Fault `unreadable`
   */
  tail(maxBytes: number): readonly Event[];
}

interface LiveFile {
  readonly fd: number;
  readonly dev: number;
  readonly ino: number;
  /** The size of the whole lines. Bytes after them are a torn line. */
  size: number;
}

/** How far one write came: the whole lines that are written, and why it stopped. */
type WriteResult = { readonly is: 'all' } | { readonly is: 'stopped'; readonly lines: number; readonly error: unknown };

export function createRotatingFile({ disk, path, maxBytes, keep }: RotatingFileOptions): RotatingFile {
  const { files, log } = disk;
  const directory = dirname(path);
  const trouble = createTroubleLog(log);
  const rotationTrouble = createTroubleLog(log);
  let live: LiveFile | null = null;

  /** Returns the file that has the name now. A deleted or replaced file is closed (D10). */
  function openCurrent(): LiveFile {
    if (live !== null) {
      const named = files.lstat(path);
      if (named?.ino === live.ino && named.dev === live.dev) {
        live.size = named.size;
        return live;
      }
      log.warn(`${path} was deleted or replaced; opening it again by its name`);
      closeCurrent();
    }
    const { fd, stat, created } = openForAppend(disk, path);
    try {
      const grew = created ? 0 : repairTail(files, fd);
      if (grew < 0) log.warn(`${path} ended in a torn line; cut ${-grew} bytes`);
      if (grew > 0) log.warn(`${path} ended in a torn line; it is closed, and its event is delivered again`);
      if (!created) files.fdatasync(fd); // their writer may have died before its sync, and from now on they count as delivered
      syncDirectory(disk, directory); // always: whoever created the name may have died before its sync
      live = { fd, dev: stat.dev, ino: stat.ino, size: stat.size + grew };
      return live;
    } catch (error) {
      files.close(fd);
      throw error;
    }
  }

  /** Repairs the end before it is read. A last line that lacks only its newline counts as whole from now on. */
  function mend(): void {
    try {
      if (files.lstat(path) !== null) openCurrent();
    } catch (error) {
      log.info(`${toIoFault(error, path, 'unwritable').message}: its end is repaired with its next event`);
    }
  }

  function closeCurrent(): void {
    const fd = live?.fd;
    live = null;
    if (fd === undefined) return;
    try {
      files.close(fd);
    } catch (error) {
      // The descriptor is closed anyway, and every acknowledged line was synced before.
      log.warn(toIoFault(error, path, 'unwritable').message);
    }
  }

  function put(file: LiveFile, lines: readonly Uint8Array[]): WriteResult {
    const bytes = Buffer.concat(lines);
    let done = 0;
    try {
      while (done < bytes.length) {
        const wrote = files.write(file.fd, bytes.subarray(done));
        if (wrote === 0) throw new Error('the disk accepts no more bytes');
        done += wrote;
      }
      files.fdatasync(file.fd);
      file.size += done;
      return { is: 'all' };
    } catch (error) {
      // After a failed sync the kernel may have dropped any of the bytes and call the rest clean, so none of them
      // counts.
      const whole = done < bytes.length ? countWholeLines(lines, done) : { lines: 0, bytes: 0 };
      return { is: 'stopped', lines: cutBack(file, whole), error };
    }
  }

  /** Keeps only the whole lines of a short write. Returns how many lines are in the file. */
  function cutBack(file: LiveFile, whole: { lines: number; bytes: number }): number {
    try {
      files.ftruncate(file.fd, file.size + whole.bytes);
      if (whole.lines > 0) files.fdatasync(file.fd);
      file.size += whole.bytes;
      return whole.lines;
    } catch (error) {
      // Reopening repairs the torn end. Lines that may be in the file are offered again: twice is better than never.
      log.warn(`${toIoFault(error, path, 'unwritable').message}; its end is repaired when it is opened again`);
      closeCurrent();
      return 0;
    }
  }

  /**
   * Rotates the file (Kijito contract e). The lines are already written, so after a failure the file keeps growing and
   * the next append tries again.
   */
  function rotate(file: LiveFile): void {
    try {
      files.fsync(file.fd);
      closeCurrent();
      // Without a `.1` a rotation failed half-way. Another shift would delete an archive for nothing.
      if (files.lstat(`${path}.1`) !== null) shiftArchives();
      files.rename(path, `${path}.1`);
      openCurrent(); // at once, because followers look for the name
      rotationTrouble.clear(`${path} is rotated again`);
    } catch (error) {
      rotationTrouble.raise(`${path} cannot be rotated: ${toIoFault(error, path, 'unwritable').message}`);
    }
  }

  function shiftArchives(): void {
    const has = (n: number): boolean => files.lstat(`${path}.${n}`) !== null;
    if (has(keep)) files.unlink(`${path}.${keep}`);
    for (let n = keep - 1; n >= 1; n -= 1) if (has(n)) files.rename(`${path}.${n}`, `${path}.${n + 1}`);
  }

  /** Makes one write per file: as many lines as fit until one reaches the limit. Returns how many lines are written. */
  function appendSome(lines: readonly string[]): WriteResult & { readonly tried: number } {
    const file = openCurrent();
    const chunk: Uint8Array[] = [];
    let size = file.size;
    for (const line of lines) {
      const bytes = Buffer.from(line, 'utf8');
      chunk.push(bytes);
      size += bytes.length;
      if (maxBytes > 0 && size >= maxBytes) break;
    }
    const result = put(file, chunk);
    if (result.is === 'all' && maxBytes > 0 && size >= maxBytes) rotate(file);
    return { ...result, tried: chunk.length };
  }

  function toStoppedAck(count: number, error: unknown): Ack {
    const fault: Fault = toIoFault(error, path, 'unwritable');
    trouble.raise(fault.explain());
    return { is: 'stopped', count, fault };
  }

  return {
    append(lines) {
      let count = 0;
      while (count < lines.length) {
        try {
          const result = appendSome(lines.slice(count));
          if (result.is === 'stopped') return toStoppedAck(count + result.lines, result.error);
          count += result.tried;
        } catch (error) {
          return toStoppedAck(count, error);
        }
      }
      if (count > 0) trouble.clear(`${path} accepts events again`);
      return { is: 'all' };
    },

    tighten() {
      const own = basename(path);
      for (const name of readNames(disk, directory)) {
        if (!name.startsWith(own) || !/^(\.[0-9]+)?$/.test(name.slice(own.length))) continue;
        try {
          const opened = openForRead(disk, join(directory, name));
          if (opened !== null) files.close(opened.fd);
        } catch (error) {
          trouble.raise(toIoFault(error, join(directory, name), 'unreadable').explain());
        }
      }
    },

    tail(maxBytes) {
      mend();
      const newestFirst: Event[][] = [];
      let left = maxBytes;
      for (let n = 0; n <= keep && left > 0; n += 1) {
        const name = n === 0 ? path : `${path}.${n}`;
        try {
          const stat = files.lstat(name);
          if (stat === null) continue;
          newestFirst.push([...readTail(files, name, left)]);
          left -= stat.size;
        } catch (error) {
          throw toIoFault(error, name, 'unreadable');
        }
      }
      return newestFirst.reverse().flat();
    },

    [Symbol.dispose]: closeCurrent,
  };
}

function countWholeLines(lines: readonly Uint8Array[], done: number): { lines: number; bytes: number } {
  let count = 0;
  let bytes = 0;
  for (const line of lines) {
    if (bytes + line.length > done) break;
    bytes += line.length;
    count += 1;
  }
  return { lines: count, bytes };
}

function readNames(disk: Disk, directory: string): readonly string[] {
  try {
    return disk.files.readdir(directory);
  } catch {
    return []; // missing or not ours to list: the first append reports the cause
  }
}
