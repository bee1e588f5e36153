import { type Files, O } from '../../ports/index.ts';
import { type Disk, getErrno, openForAppend, openForRead, toIoFault } from '../../state/index.ts';

export interface Rotation {
  /** The file is rotated when it is at least this large, in bytes; 0 or less: never. */
  readonly maxBytes: number;
  /** How many archives are kept; `.1` is the newest. At least 1. */
  readonly keep: number;
}

/** What the end of an event file shows about its content. */
interface FileEnding {
  /**
   * The newest whole line that `known` recognised; `foreign`: there are only unknown whole lines; `empty`: there is no
   * whole line.
   */
  readonly last: { readonly is: 'known'; readonly seq: number } | { readonly is: 'foreign' | 'empty' };
  /** The bytes after the last newline: the beginning of a line whose writer was interrupted. */
  readonly torn: Uint8Array;
}

/** The event file of one persona and its archives. It is opened by name for every write, so that a deleted file is recreated. */
export interface PersonaEventFile {
  /**
   * Appends whole lines in one write, then rotates if the file is large enough (Kijito contract e). `unsure`: somebody
   * else changed the file and it ends inside a line. Nothing was written; call `readEnding` first.
   * @throws Fault `unwritable` or `no-space`. A partial write is cut off again where the disk allows it.
   */
  append(lines: Uint8Array): 'appended' | 'unsure';
  /**
   * Reads the end of the live file without changing it. Creates the file if it is missing.
   * @throws Fault
   */
  readEnding(known: (line: string) => number | null): FileEnding;
  /** Returns the `seq` of the last known line in the newest archive; null when there is none or it cannot be read. */
  readArchivedSeq(known: (line: string) => number | null): number | null;
  /**
   * Cuts off the last `bytes` bytes.
   * @throws Fault
   */
  cut(bytes: number): void;
  /**
   * Makes the appended lines durable. A file that somebody deleted needs nothing.
   * @throws Fault
   */
  sync(): void;
}

export function createEventFile(
  disk: Disk,
  path: string,
  rotation: Rotation,
  namesChanged: () => void,
): PersonaEventFile {
  return new EventFile(disk, path, rotation, namesChanged);
}

/** A class, because its methods are made once for the files of some thousand personas. */
class EventFile implements PersonaEventFile {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #rotation: Rotation;
  readonly #namesChanged: () => void;
  /** The file size after the last write of this process; null: unknown. */
  #size: number | null = null;
  #rotationFailed = false;
  #archiveFailed = false;

  constructor(disk: Disk, path: string, rotation: Rotation, namesChanged: () => void) {
    this.#disk = disk;
    this.#path = path;
    this.#rotation = rotation;
    this.#namesChanged = namesChanged;
  }

  append(lines: Uint8Array): 'appended' | 'unsure' {
    const { files } = this.#disk;
    let due = false;
    const done = this.#withFile((fd, end) => {
      if (this.#hasTornEnd(fd, end)) return 'unsure';
      this.#write(fd, lines, end);
      this.#size = end + lines.length;
      due = this.#rotation.maxBytes > 0 && this.#size >= this.#rotation.maxBytes;
      // Later only the live file is synced, so a file that is about to be rotated is synced first.
      if (due) files.fdatasync(fd);
      return 'appended';
    });
    if (due) this.#rotate();
    return done;
  }

  readEnding(known: (line: string) => number | null): FileEnding {
    return this.#withFile((fd, end) => {
      const ending = findEnding(readPiecesFromEnd(this.#disk.files, fd, end), known);
      this.#size = end;
      return ending;
    });
  }

  readArchivedSeq(known: (line: string) => number | null): number | null {
    const { files, log } = this.#disk;
    const archive = `${this.#path}.1`;
    try {
      const opened = files.lstat(archive) === null ? null : openForRead(this.#disk, archive);
      if (opened === null) return null;
      try {
        const { last } = findEnding(readPiecesFromEnd(files, opened.fd, opened.stat.size), known);
        this.#archiveFailed = false;
        return last.is === 'known' ? last.seq : null;
      } finally {
        files.close(opened.fd);
      }
    } catch (error) {
      // The archive only helps to find what was published. Without it the durable position is used.
      if (!this.#archiveFailed)
        log.warn('an archived event file cannot be read', {
          reason: toIoFault(error, archive, 'unreadable').message,
        });
      this.#archiveFailed = true;
      return null;
    }
  }

  cut(bytes: number): void {
    this.#withFile((fd, end) => {
      this.#disk.files.ftruncate(fd, end - bytes);
      this.#size = end - bytes;
    });
  }

  sync(): void {
    const { files } = this.#disk;
    try {
      const fd = files.open(this.#path, O.RDWR | O.NOFOLLOW | O.NONBLOCK, 0);
      try {
        files.fdatasync(fd);
      } finally {
        files.close(fd);
      }
    } catch (error) {
      if (getErrno(error) !== 'ENOENT') throw toIoFault(error, this.#path, 'unwritable');
    }
  }

  #open(): { fd: number; size: number } {
    const { fd, stat, created } = openForAppend(this.#disk, this.#path);
    if (created) this.#namesChanged();
    return { fd, size: stat.size };
  }

  /** Opens the file for `use` and always closes it. Errors name the path. */
  #withFile<T>(use: (fd: number, size: number) => T): T {
    const file = this.#open();
    try {
      return use(file.fd, file.size);
    } catch (error) {
      this.#size = null;
      throw toIoFault(error, this.#path, 'unwritable');
    } finally {
      this.#disk.files.close(file.fd);
    }
  }

  #hasTornEnd(fd: number, end: number): boolean {
    if (end === 0 || end === this.#size) return false;
    const last = new Uint8Array(1);
    this.#disk.files.read(fd, last, end - 1);
    return last[0] !== NEWLINE;
  }

  #write(fd: number, lines: Uint8Array, end: number): void {
    const { files } = this.#disk;
    let written = 0;
    try {
      while (written < lines.length) {
        const n = files.write(fd, written === 0 ? lines : lines.subarray(written));
        if (n === 0) throw new Error('the disk accepts no more bytes');
        written += n;
      }
    } catch (error) {
      if (written > 0) files.ftruncate(fd, end);
      throw error;
    }
  }

  /** A failed rotation loses nothing: the live file keeps growing, and the next append tries again. */
  #rotate(): void {
    const { files, log } = this.#disk;
    const { keep } = this.#rotation;
    const path = this.#path;
    try {
      const has = (n: number): boolean => files.lstat(`${path}.${n}`) !== null;
      // Without a `.1` a rotation stopped half-way. Another shift would delete an archive for nothing.
      if (has(1)) {
        if (has(keep)) files.unlink(`${path}.${keep}`);
        for (let n = keep - 1; n >= 1; n -= 1) if (has(n)) files.rename(`${path}.${n}`, `${path}.${n + 1}`);
      }
      files.rename(path, `${path}.1`);
      this.#namesChanged();
      files.close(this.#open().fd);
      this.#size = 0;
      this.#rotationFailed = false;
    } catch (error) {
      this.#size = null;
      if (!this.#rotationFailed)
        log.warn(`${path} cannot be rotated`, { reason: toIoFault(error, path, 'unwritable').message });
      this.#rotationFailed = true;
    }
  }
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

/** The first chunk is enough for most files. The second size is for everything before it. */
const FIRST_CHUNK = 4096;
const CHUNK = 65_536;

/**
 * Reads a file from its end. Yields first the bytes after the last newline (empty in a whole file), then each whole
 * line without its newline, newest first. It reads no further back than the caller asks.
 */
export function* readPiecesFromEnd(files: Files, fd: number, size: number): Iterable<Buffer> {
  let unread = size;
  let rest = Buffer.alloc(0);
  while (unread > 0) {
    const chunk = Buffer.alloc(Math.min(unread === size ? FIRST_CHUNK : CHUNK, unread));
    unread -= chunk.length;
    readFully(files, fd, chunk, unread);
    const bytes = Buffer.concat([chunk, rest]);
    let end = bytes.length;
    for (let at = end; at > 0; ) {
      at = bytes.lastIndexOf(NEWLINE, at - 1);
      if (at < 0) break;
      yield bytes.subarray(at + 1, end);
      end = at;
    }
    rest = bytes.subarray(0, end);
  }
  yield rest;
}

function readFully(files: Files, fd: number, into: Uint8Array, position: number): void {
  for (let done = 0; done < into.length; ) {
    const n = files.read(fd, into.subarray(done), position + done);
    if (n === 0) throw new Error(`the file became shorter while it was read (${into.length - done} bytes missing)`);
    done += n;
  }
}
