import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { toFault } from '../../model/index.ts';
import { pause, writeAll } from '../../ports/index.ts';
import {
  createRefusal,
  type Disk,
  type LockedFile,
  openForAppend,
  openLocked,
  syncDirectory,
  toIoFault,
} from '../../state/index.ts';
import type { NewItem } from '../item.ts';
import { endsLine, endsTorn, formatMarker, parsePieces, type QueueMachine } from './entry.ts';

export interface PersonaQueue {
  readonly path: string;
  /** The persona that the lines are for. */
  readonly persona: string;
}

/**
 * `Items.push`: stores all items in one transaction, durably, and ignores a key that the persona already has. A producer that
 * writes one line into the queue of each agent means each of them.
 */
export type Insert = (items: readonly NewItem[]) => unknown;

export interface TakeOverResult {
  /** Lines that are in the database now, new or not. */
  readonly items: number;
  /** Lines that were put aside. */
  readonly bad: number;
  /** Another process held a lock all the time, so there may be lines left. */
  readonly isHeld: boolean;
}

const NOTHING: TakeOverResult = { items: 0, bad: 0, isHeld: false };
const HELD: TakeOverResult = { ...NOTHING, isHeld: true };
const EVERYONE = { is: 'everyone' } as const;
/** Follows the seed's "Dedup key conventions". */
const isBroadcast = (key: string): boolean => key.startsWith('broadcast:');
/** How long a writer without a lock gets to end its line, in milliseconds. */
const GRACE_MS = 10;
const GRACES = 5;
const ATTEMPTS = 3;

/**
 * Moves the lines of a queue into the database (inbox and gates 3, steps 2-4). The file is read and emptied through its locked
 * descriptor and never unlinked: a writer that waits for the lock would otherwise write into a file without a name.
 *
 * A crash at any point neither loses nor doubles a line, even a line without a key. The steps are, each synced:
 * 1. A marker is appended to the queue.
 * 2. The lines are written to `FILE.draining` under the marker's name.
 * 3. The queue is emptied, and with it the marker.
 * 4. The lines are inserted.
 * 5. The copy is emptied.
 *
 * So a whole copy whose marker is not in the queue was left by a crash, and is inserted first. The lines of any other copy are
 * still in the queue. A line without a key gets a key from the marker's name and its place, which is the same if the copy is read
 * again. The lock of the copy is held all the time, so that only one process takes over at a time.
 *
 * @param waitMs how long to wait for both locks together
 * @throws Fault `unwritable`, `unreadable` or `no-space`, and what `insert` throws; then the lines wait in the copy
 */
export function takeOver(machine: QueueMachine, queue: PersonaQueue, insert: Insert, waitMs: number): TakeOverResult {
  const { disk, clock, ways } = machine;
  const { path } = queue;
  const copyPath = `${path}.draining`;
  const until = clock.monotonic() + waitMs;
  const open = (file: string, how: 'create' | 'existing') =>
    openLocked(disk, file, how, Math.max(0, until - clock.monotonic()), ways);
  try {
    if (isEmpty(disk, path) && isEmpty(disk, copyPath)) return NOTHING;
    const drainer = open(copyPath, 'create');
    if (drainer.is !== 'got') return HELD;
    using copy = drainer.file;
    if (copy.created) syncDirectory(disk, dirname(copyPath));

    let done = NOTHING;
    const left = parseCopy(readFrom(disk, copy.fd, copyPath));
    if (left.is === 'whole') {
      const queued = open(path, 'existing');
      if (queued.is === 'held') return HELD;
      if (queued.is === 'missing' || !holdsMarker(disk, queued.file, left.nonce, path)) {
        done = absorbCopy(machine, queue, left, insert);
      }
    }
    if (left.is !== 'none') disk.files.ftruncate(copy.fd, 0);

    const queued = open(path, 'existing');
    if (queued.is === 'missing') return done;
    if (queued.is === 'held') return { ...done, isHeld: true };
    const cutResult = cut(machine, queued.file, copy, path);
    if (cutResult.is === 'none') return done;
    if (cutResult.is === 'busy') return { ...done, isHeld: true };
    const added = absorbCopy(machine, queue, cutResult, insert);
    disk.files.ftruncate(copy.fd, 0);
    return { items: done.items + added.items, bad: done.bad + added.bad, isHeld: false };
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

/** A cheap check that opens nothing. */
function isEmpty({ files }: Disk, path: string): boolean {
  return (files.lstat(path)?.size ?? 0) === 0;
}

/** Whether the lines of this copy are still in the queue. */
function holdsMarker(disk: Disk, file: LockedFile, nonce: string, path: string): boolean {
  using queue = file;
  return Buffer.from(readFrom(disk, queue.fd, path)).includes(formatMarker(nonce));
}

type CutResult = WholeCopy | { readonly is: 'none' } | { readonly is: 'busy' };

/**
 * Moves the content of the queue to the empty copy, and releases the queue. `busy`: somebody keeps writing without the lock, and
 * everything stays where it is.
 */
function cut({ disk, random }: QueueMachine, file: LockedFile, copy: LockedFile, path: string): CutResult {
  using queue = file;
  const { files } = disk;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const body = readWhenComplete(disk, queue.fd, path);
    if (body.length === 0) return { is: 'none' };
    const nonce = random.hex(16);
    const marker = Buffer.from(`${endsLine(body) ? '' : '\n'}${formatMarker(nonce)}`);
    const isAlone = (): boolean => files.fstat(queue.fd).size <= body.length + marker.length;
    const emptyCopy = (): void => {
      files.ftruncate(copy.fd, 0);
      files.fsync(copy.fd);
    };
    try {
      writeAll(disk.files, queue.fd, marker);
      files.fsync(queue.fd);
      writeAll(disk.files, copy.fd, formatCopy(nonce, body));
      files.fsync(copy.fd);
    } catch (error) {
      emptyCopy(); // before its marker goes, because without the marker the copy would count
      if (isAlone()) files.ftruncate(queue.fd, body.length);
      throw error;
    }
    if (isAlone()) {
      files.ftruncate(queue.fd, 0);
      files.fsync(queue.fd);
      return { is: 'whole', nonce, body };
    }
    emptyCopy();
  }
  return { is: 'busy' };
}

/**
 * Reads the queue. While we hold the lock, only a writer that ignores it can be in the middle of a line. It gets a moment to
 * finish; half a line that stays is of a writer that died.
 */
function readWhenComplete(disk: Disk, fd: number, path: string): Uint8Array {
  for (let graces = 0; ; graces += 1) {
    const bytes = readFrom(disk, fd, path);
    if (graces === GRACES || !endsTorn(bytes)) return bytes;
    pause(GRACE_MS);
  }
}

/** Inserts the lines of a copy, and puts the bad ones aside. Repeating this inserts the same keys. */
function absorbCopy(
  { disk, clock }: QueueMachine,
  queue: PersonaQueue,
  { nonce, body }: WholeCopy,
  insert: Insert,
): TakeOverResult {
  const good: QueueLine[] = [];
  const bad: BadLine[] = [];
  for (const piece of parsePieces(body, clock.now())) {
    if (piece.is === 'bad') bad.push(piece);
    else {
      const { entry, place, line } = piece;
      const dedupKey = entry.dedupKey ?? `queue:${nonce}:${place}`;
      // A broadcast is in everybody's queue under the same key, and a key is stored once.
      const to = isBroadcast(dedupKey) ? EVERYONE : { is: 'persona' as const, name: queue.persona };
      // Not for the session of the file: it may be over, and then its lines are for the next session.
      good.push({ line, item: { ...entry, to, session: null, dedupKey } });
    }
  }
  const refused = insertLines(good, insert);
  putAside(disk, queue.path, [...bad, ...refused]);
  return { items: good.length - refused.length, bad: bad.length + refused.length, isHeld: false };
}

interface QueueLine {
  readonly line: string;
  readonly item: NewItem;
}

/** Inserts all lines in one transaction, or one by one if the store refuses a line. Returns the refused lines. */
function insertLines(lines: readonly QueueLine[], insert: Insert): readonly BadLine[] {
  const refused: BadLine[] = [];
  const run = (batch: readonly QueueLine[]): void => {
    if (batch.length === 0) return;
    try {
      insert(batch.map(({ item }) => item));
    } catch (error) {
      const fault = toFault(error, { is: 'machine', key: 'queue' });
      if (fault.code !== 'usage') throw fault;
      if (batch.length > 1) for (const queueLine of batch) run([queueLine]);
      else refused.push({ line: batch[0]?.line ?? '', why: fault.message });
    }
  };
  run(lines);
  return refused;
}

/** The file of bad lines starts again when it would be larger than this. */
const MOST_BYTES = 1024 * 1024;
const MOST_CHARS = 64 * 1024;

interface BadLine {
  readonly line: string;
  readonly why: string;
}

/**
 * Appends bad lines to `FILE.bad` (0600), unchanged except that they are cut at 64 Ki characters. The file is bounded: it starts
 * again at 1 MiB. A failure is only logged, because later lines must not wait for a bad one.
 */
function putAside(disk: Disk, queue: string, lines: readonly BadLine[]): void {
  if (lines.length === 0) return;
  const path = `${queue}.bad`;
  const { log } = disk;
  const first = lines[0]?.why ?? '';
  log.warn(`${queue}: ${lines.length} bad lines were moved to ${path}; the first: ${first}`, { path: queue });
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
        writeAll(disk.files, fd, bytes);
        size += bytes.length;
      }
    } finally {
      disk.files.close(fd);
    }
  } catch (error) {
    log.warn(`${toIoFault(error, path, 'unwritable').message}; bad lines are lost`, { path: queue });
  }
}

/** The limit of a queue or of its copy, because both are read as a whole. */
const MOST_FILE_BYTES = 64 * 1024 * 1024;
const AT_ONCE = 64 * 1024;

/** Reads everything from an open file. @throws Fault `unreadable` if that is more than 64 MiB */
function readFrom({ files }: Disk, fd: number, path: string): Uint8Array {
  const { size } = files.fstat(fd);
  if (size > MOST_FILE_BYTES) {
    throw createRefusal(
      path,
      `has ${size} bytes, over ${MOST_FILE_BYTES}, so nothing was imported; move it away`,
      'unreadable',
    );
  }
  const parts: Uint8Array[] = [];
  for (let at = 0; ; ) {
    const part = Buffer.alloc(Math.max(AT_ONCE, size - at));
    const got = files.read(fd, part, at);
    if (got === 0) return Buffer.concat(parts);
    parts.push(part.subarray(0, got));
    at += got;
  }
}

/**
 * The copy of a queue's lines beside it, `FILE.draining`. Its first line names the copy and describes the rest, which is the
 * unchanged bytes. A copy counts only if it is whole.
 */
type Copy =
  | { readonly is: 'none' }
  /** Its writer died before the copy was complete, so the queue still holds everything. */
  | { readonly is: 'torn' }
  | WholeCopy;

interface WholeCopy {
  readonly is: 'whole';
  /** 32 hex digits, unique to this copy. */
  readonly nonce: string;
  readonly body: Uint8Array;
}

const BEGINS = '{"copy":"';
const HEAD = /^\{"copy":"([0-9a-f]{32})","bytes":(\d{1,15}),"sha256":"([0-9a-f]{64})"\}$/;
const LF = 0x0a;

export function formatCopy(nonce: string, body: Uint8Array): Uint8Array {
  const head = `${BEGINS}${nonce}","bytes":${body.length},"sha256":"${computeSha256(body)}"}\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

export function parseCopy(bytes: Uint8Array): Copy {
  if (bytes.length === 0) return { is: 'none' };
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 256)).toString('latin1');
  if (!start.startsWith(BEGINS.slice(0, start.length))) {
    // Not our format: lines that somebody else put there. The hash of the content is the name, so that a repetition is
    // recognised.
    return { is: 'whole', nonce: computeSha256(bytes).slice(0, 32), body: bytes };
  }
  const end = bytes.indexOf(LF);
  const [, nonce = '', length = '', sum = ''] = HEAD.exec(start.slice(0, Math.max(0, end))) ?? [];
  const body = bytes.subarray(end + 1, end + 1 + Number(length));
  return nonce !== '' && computeSha256(body) === sum ? { is: 'whole', nonce, body } : { is: 'torn' };
}

function computeSha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
