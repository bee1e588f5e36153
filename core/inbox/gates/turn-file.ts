import { join } from 'node:path';
import type { Instant } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import {
  type Disk,
  getErrno,
  type OpenedFile,
  openForAppend,
  openForRead,
  toIoFault,
  toStem,
} from '../../state/index.ts';
import { type GateTurn, MOST_BLOCKS } from './evaluate.ts';

/**
 * What happened in the turn of one session, one JSON line per fact: its blocks, and the open gates last reported to it. Two hooks
 * of one event may run at once, because the harness runs all that match. So a block is a line that is appended in one write and
 * then searched. Only the first lines count as blocks, whoever wrote at the same moment, without a lock.
 */
export interface TurnFile {
  /** @throws Fault `unreadable` */
  read(): GateTurn;
  /**
   * Claims one of the turn's blocks. False: none is left.
   * @throws Fault if it could not be written. Then there must be no block, or there would be no end of them.
   */
  claim(print: string, nonce: string): boolean;
  /** Notes which open gates were reported to the session. @throws Fault */
  tell(open: readonly string[]): void;
  /** Begins a new turn without blocks; open gates stay known. @throws Fault */
  begin(): void;
  /** Removes the file when the session is over. @throws Fault */
  remove(): void;
}

type TurnLine =
  | { readonly is: 'block'; readonly at: Instant; readonly print: string; readonly nonce: string }
  | { readonly is: 'open'; readonly at: Instant; readonly ids: readonly string[] };

const MOST_BYTES = 65_536;
/** Not every harness reports the end of a session. With more files than this, those of old sessions are deleted. */
const MANY_FILES = 100;
const OLD_MS = 7 * 86_400_000;

/** @param directory the directory of the persona's gates */
export function createTurnFile(disk: Disk, directory: string, session: string, clock: Pick<Clock, 'now'>): TurnFile {
  const turns = join(directory, 'turns');
  const path = join(turns, `${toStem(session)}.jsonl`);
  const { files } = disk;

  function append({ fd }: Pick<OpenedFile, 'fd'>, line: TurnLine): void {
    // A line break also comes first: it ends a line that a kill cut off, so that this line is whole.
    const bytes = Buffer.from(`\n${JSON.stringify(line)}\n`, 'utf8');
    if (files.write(fd, bytes) !== bytes.length) throw new Error('the disk accepts no more bytes');
  }

  function withFile<T>(work: (opened: OpenedFile) => T): T {
    const opened = openForAppend(disk, path);
    try {
      const answer = work(opened);
      if (opened.created) sweep();
      return answer;
    } catch (error) {
      throw toIoFault(error, path, 'unwritable');
    } finally {
      files.close(opened.fd);
    }
  }

  function readLines(fd: number): readonly (TurnLine | null)[] {
    const bytes = new Uint8Array(MOST_BYTES + 1);
    let size = 0;
    while (size < bytes.length) {
      const got = files.read(fd, bytes.subarray(size), size);
      if (got === 0) break;
      size += got;
    }
    // Nobody writes that much. Return as many unreadable lines as make every further block one too many.
    if (size > MOST_BYTES) return new Array<null>(MOST_BLOCKS).fill(null);
    const texts = Buffer.from(bytes.subarray(0, size)).toString('utf8').split('\n');
    return texts.filter((text) => text !== '').map(parseTurnLine);
  }

  function loadLines(file: string): readonly (TurnLine | null)[] {
    const opened = openForRead(disk, file);
    if (opened === null) return [];
    try {
      return readLines(opened.fd);
    } catch (error) {
      throw toIoFault(error, file, 'unreadable');
    } finally {
      files.close(opened.fd);
    }
  }

  /** Deletes files without a write for a week. A session that continues later begins a new turn. */
  function sweep(): void {
    try {
      const names = files.readdir(turns);
      if (names.length <= MANY_FILES) return;
      for (const name of names) {
        const lines = loadLines(join(turns, name));
        // An empty file is just being created.
        const isOld = lines.length > 0 && lines.every((line) => (line?.at ?? 0) < clock.now() - OLD_MS);
        if (isOld) files.unlink(join(turns, name));
      }
    } catch (error) {
      // Leftover files are not a failure: the next new session tries again.
      disk.log.info(`${turns}: old turns could not be deleted: ${toIoFault(error, turns, 'unwritable').message}`);
    }
  }

  return {
    read: () => toGateTurn(loadLines(path)),
    claim: (print, nonce) =>
      withFile((opened) => {
        append(opened, { is: 'block', at: clock.now(), print, nonce });
        const blocks = readLines(opened.fd).filter((line) => line?.is !== 'open');
        const place = blocks.findIndex((line) => line?.is === 'block' && line.nonce === nonce);
        return place >= 0 && place < MOST_BLOCKS;
      }),
    tell: (open) => withFile((opened) => append(opened, { is: 'open', at: clock.now(), ids: open })),
    begin() {
      if (files.lstat(path) === null) return;
      withFile((opened) => {
        const { open } = toGateTurn(readLines(opened.fd));
        files.ftruncate(opened.fd, 0);
        append(opened, { is: 'open', at: clock.now(), ids: open });
      });
    },
    remove() {
      try {
        files.unlink(path);
      } catch (error) {
        if (getErrno(error) !== 'ENOENT') throw toIoFault(error, path, 'unwritable');
      }
    },
  };
}

/** An unreadable line may have been a block, so it counts as one. This can only let a turn go earlier. */
function toGateTurn(lines: readonly (TurnLine | null)[]): GateTurn {
  const open = lines.findLast((line) => line?.is === 'open');
  return {
    blocks: lines.flatMap((line) => (line?.is === 'open' ? [] : [line?.print ?? ''])),
    open: open?.is === 'open' ? open.ids : [],
  };
}

function parseTurnLine(text: string): TurnLine | null {
  try {
    const { is, at, print, nonce, ids } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof at !== 'number') return null;
    if (is === 'block' && typeof print === 'string' && typeof nonce === 'string') return { is, at, print, nonce };
    if (is === 'open' && Array.isArray(ids) && ids.every((id) => typeof id === 'string')) return { is, at, ids };
    return null;
  } catch {
    return null; // cut off by a kill; see `toGateTurn`
  }
}
