import { O } from '../../ports/index.ts';
import { type Disk, getErrno, openForAppend, openForRead, toIoFault } from '../../state/index.ts';
import { readPiecesFromEnd } from './lines-from-end.ts';

export interface Rotation {
  /** The file is rotated once it is this large, in bytes; 0 or less: never. */
  readonly maxBytes: number;
  /** How many archives stay: `.1` is the newest. At least 1. */
  readonly keep: number;
}

/** What the end of a file says about what it holds. */
export interface FileEnding {
  /** The newest whole line that `known` recognised; `foreign`: it has whole lines but none of them; `empty`: it has none. */
  readonly last: { readonly is: 'known'; readonly seq: number } | { readonly is: 'foreign' | 'empty' };
  /** What stands behind the last newline: the beginning of a line whose writer was cut off. */
  readonly torn: Uint8Array;
}

/** One persona's event file, with its archives; opened by name for every write, so that a deleted one comes back. */
export interface PersonaEventFile {
  /**
   * Appends whole lines in one write, then rotates if the file is large enough (Kijito contract e). `unsure`: somebody
   * else changed the file and it ends inside a line; nothing was written, look at its ending first.
   *
   * @throws Fault `unwritable` or `no-space`. What of the lines was written is cut off again where the disk allows.
   */
  append(lines: Uint8Array): 'appended' | 'unsure';
  /** Looks at the live file, and leaves it as it is. Creates it. @throws Fault */
  readEnding(known: (line: string) => number | null): FileEnding;
  /** The newest archive's last known line, null when it has none or cannot be read. */
  readArchivedSeq(known: (line: string) => number | null): number | null;
  /** Cuts the last `bytes` bytes off. @throws Fault */
  cut(bytes: number): void;
  /** Makes what was appended durable; a file that somebody deleted needs nothing. @throws Fault */
  sync(): void;
}

export function createEventFile(
  disk: Disk,
  path: string,
  rotation: Rotation,
  namesChanged: () => void,
): PersonaEventFile {
  const { files, log } = disk;
  /** The size as this writer left it; null: not known. */
  let size: number | null = null;
  let rotationFailed = false;

  function open(): { fd: number; size: number } {
    const { fd, stat, created } = openForAppend(disk, path);
    if (created) namesChanged();
    return { fd, size: stat.size };
  }

  /** The open file, closed again whatever happens; an error names the path. */
  function withFile<T>(use: (fd: number, size: number) => T): T {
    const file = open();
    try {
      return use(file.fd, file.size);
    } catch (error) {
      size = null;
      throw toIoFault(error, path, 'unwritable');
    } finally {
      files.close(file.fd);
    }
  }

  function hasTornEnd(fd: number, end: number): boolean {
    if (end === 0 || end === size) return false;
    const last = new Uint8Array(1);
    files.read(fd, last, end - 1);
    return last[0] !== NEWLINE;
  }

  function write(fd: number, lines: Uint8Array, end: number): void {
    let written = 0;
    try {
      while (written < lines.length) {
        const n = files.write(fd, written === 0 ? lines : lines.subarray(written));
        if (n === 0) throw new Error('the disk took no byte');
        written += n;
      }
    } catch (error) {
      if (written > 0) files.ftruncate(fd, end);
      throw error;
    }
  }

  /** A rotation that fails loses nothing: the live file grows on, and it is tried again after the next lines. */
  function rotate(): void {
    try {
      const has = (n: number): boolean => files.lstat(`${path}.${n}`) !== null;
      // Without a `.1` a rotation stopped half-way: shifting again would push archives out for nothing.
      if (has(1)) {
        if (has(rotation.keep)) files.unlink(`${path}.${rotation.keep}`);
        for (let n = rotation.keep - 1; n >= 1; n -= 1) if (has(n)) files.rename(`${path}.${n}`, `${path}.${n + 1}`);
      }
      files.rename(path, `${path}.1`);
      namesChanged();
      files.close(open().fd);
      size = 0;
      rotationFailed = false;
    } catch (error) {
      size = null;
      if (!rotationFailed)
        log.warn(`${path} cannot be rotated`, { reason: toIoFault(error, path, 'unwritable').message });
      rotationFailed = true;
    }
  }

  return {
    append(lines) {
      let due = false;
      const done = withFile((fd, end) => {
        if (hasTornEnd(fd, end)) return 'unsure';
        write(fd, lines, end);
        size = end + lines.length;
        due = rotation.maxBytes > 0 && size >= rotation.maxBytes;
        // From here on only the live file is synced, so what moves away is synced first.
        if (due) files.fdatasync(fd);
        return 'appended';
      });
      if (due) rotate();
      return done;
    },
    readEnding: (known) =>
      withFile((fd, end) => {
        const ending = findEnding(readPiecesFromEnd(files, fd, end), known);
        size = end;
        return ending;
      }),
    readArchivedSeq(known) {
      const archive = `${path}.1`;
      try {
        const opened = files.lstat(archive) === null ? null : openForRead(disk, archive);
        if (opened === null) return null;
        try {
          const { last } = findEnding(readPiecesFromEnd(files, opened.fd, opened.stat.size), known);
          return last.is === 'known' ? last.seq : null;
        } finally {
          files.close(opened.fd);
        }
      } catch (error) {
        // An archive only helps to tell what was published; without it the durable watermark does.
        log.warn('an archived event file cannot be read', { reason: toIoFault(error, archive, 'unreadable').message });
        return null;
      }
    },
    cut: (bytes) =>
      withFile((fd, end) => {
        files.ftruncate(fd, end - bytes);
        size = end - bytes;
      }),
    sync() {
      try {
        const fd = files.open(path, O.RDWR | O.NOFOLLOW | O.NONBLOCK, 0);
        try {
          files.fdatasync(fd);
        } finally {
          files.close(fd);
        }
      } catch (error) {
        if (getErrno(error) !== 'ENOENT') throw toIoFault(error, path, 'unwritable');
      }
    },
  };
}

const NEWLINE = 10;

function findEnding(pieces: Iterable<Buffer>, known: (line: string) => number | null): FileEnding {
  let torn: Uint8Array | null = null;
  let lines = 0;
  for (const piece of pieces) {
    if (torn === null) {
      torn = piece;
      continue;
    }
    lines += 1;
    const seq = known(piece.toString('utf8'));
    if (seq !== null) return { last: { is: 'known', seq }, torn };
  }
  return { last: { is: lines > 0 ? 'foreign' : 'empty' }, torn: torn ?? new Uint8Array() };
}
