import { join } from 'node:path';
import { Fault, type PersonaId, type Scope, toFault } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type Disk, ensurePrivateDir, syncDirectory } from '../../state/index.ts';
import { createEventFile, type PersonaEventFile, type Rotation } from './event-file.ts';
import type { JournalEntry } from './journal.ts';
import type { OutboxRow, PublishedRows } from './rows.ts';

interface PublisherOptions {
  readonly rows: PublishedRows;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly directory: string;
  readonly rotation: Rotation;
  readonly syncer: Syncer;
  /** Called with a fault when the file of a persona lacks events, and with null when it has them all. */
  readonly onBehind: (persona: PersonaId, fault: Fault | null) => void;
}

/**
 * Writes `events.<stem>.ndjson` from the outbox. Committed events are safe, so a file that refuses is never an error of
 * the caller. The file is then behind: it is tried again with every new event and on its own schedule, and gets the
 * missing events in order. The position of a file is read from the file itself at first use and after any failure.
 */
interface Publisher extends Disposable {
  /**
   * Names the file of the persona and brings it up to date if a former process could not.
   * @throws Fault `usage` when the name is taken.
   */
  adopt(persona: PersonaId, stem: string): void;
  /** Appends the events that were just committed, in this order. Never throws. */
  publish(entries: readonly Pick<JournalEntry, 'persona' | 'events'>[]): void;
}

/** The path is copied, because what `join` returns consists of a dozen texts, and each persona keeps its path. */
export function toEventFilePath(directory: string, stem: string): string {
  return Buffer.from(join(directory, `events.${stem}.ndjson`)).toString();
}

/** An event as a line of a file. */
type PublishedLine = Pick<OutboxRow, 'seq' | 'line'>;

interface PublishedFile {
  readonly persona: PersonaId;
  readonly path: string;
  readonly file: PersonaEventFile;
  /** The `seq` of the newest committed row. */
  stored: number;
  /** The `seq` of the last row in the file; null: unknown, read the file. */
  written: number | null;
  behind: { readonly fault: Fault; readonly attempts: number; readonly retry: Disposable } | null;
}

/** The maximum number of bytes per append while a file catches up. */
const BATCH = 256 * 1024;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;

export function createPublisher(options: PublisherOptions): Publisher {
  const { rows, disk, clock, directory, rotation, syncer, onBehind } = options;
  const publishedFiles = new Map<PersonaId, PublishedFile>();
  const stems = new Map<string, PersonaId>();
  /** How many files are behind for the same cause, so that a full disk is reported once and not once per persona. */
  const causes = new Map<string, number>();
  let directoryChecked = false;

  function append(to: PublishedFile, batch: readonly PublishedLine[], from: number): void {
    const lines = encodeLines(batch);
    if (to.file.append(from === 0 ? lines : lines.subarray(from)) === 'unsure') {
      to.written = null;
      return;
    }
    to.written = batch.at(-1)?.seq ?? to.written;
    if (to.written !== null) syncer.changed(to.persona, to.file, to.written);
  }

  /** Appends everything that the file lacks. */
  function catchUp(to: PublishedFile): void {
    let completing = 0;
    for (let repairs = 0; ; ) {
      if (to.written === null) {
        // If somebody else keeps changing the file, the publisher gives up after three repairs.
        if (repairs === 3) throw createUnsteadyFault(to);
        repairs += 1;
        completing = mend(to);
      }
      const batch = to.written === null || to.written >= to.stored ? [] : rows.next(to.persona, to.written, BATCH);
      if (batch.length === 0) return;
      append(to, batch, completing);
      completing = 0;
    }
  }

  /**
   * Finds the position of the file. A torn last line may be the beginning of the very next event. Then it stays and is
   * completed, so that a reader who saw the beginning sees the whole line; its length is returned. Any other torn line
   * is cut off.
   */
  function mend(to: PublishedFile): number {
    const findSeq = (line: string): number | null => rows.findSeq(to.persona, line);
    const { last, torn } = to.file.readEnding(findSeq);
    let written = last.is === 'known' ? last.seq : rows.readProgress(to.persona).published;
    // The process was killed during a rotation, or a reader emptied the file. Events that were on the disk are not
    // repeated.
    if (last.is === 'empty') written = Math.max(written, to.file.readArchivedSeq(findSeq) ?? 0);
    to.written = written;
    if (torn.length === 0) return 0;
    const [next] = rows.next(to.persona, written, 1);
    if (next !== undefined && Buffer.from(next.line).subarray(0, torn.length).equals(torn)) return torn.length;
    to.file.cut(torn.length);
    return 0;
  }

  function createUnsteadyFault(to: PublishedFile): Fault {
    return new Fault('unwritable', `${to.path} is written to by another program`, toScope(to));
  }

  /** Runs `write` and records success or failure. */
  function attempt(to: PublishedFile, write: () => void): void {
    try {
      if (!directoryChecked) ensurePrivateDir(disk, directory);
      directoryChecked = true;
      write();
      markRecovered(to);
    } catch (error) {
      to.written = null;
      markBehind(to, toFault(error, toScope(to)));
    }
  }

  function markBehind(to: PublishedFile, fault: Fault): void {
    const before = to.behind;
    before?.retry[Symbol.dispose]();
    const attempts = (before?.attempts ?? 0) + 1;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LAST_RETRY_MS);
    to.behind = { fault, attempts, retry: clock.after(wait, () => attempt(to, () => catchUp(to))) };
    if (before?.fault.message === fault.message) return;
    forget(before?.fault ?? null);
    const sharing = causes.get(fault.scope.key) ?? 0;
    causes.set(fault.scope.key, sharing + 1);
    if (sharing === 0) disk.log.warn(`the event file is behind: ${fault.explain()}`, { persona: to.persona });
    onBehind(to.persona, fault);
  }

  function markRecovered(to: PublishedFile): void {
    if (to.behind === null) return;
    to.behind.retry[Symbol.dispose]();
    forget(to.behind.fault);
    to.behind = null;
    disk.log.info('the event file is complete again', { persona: to.persona });
    onBehind(to.persona, null);
  }

  function forget(fault: Fault | null): void {
    if (fault === null) return;
    const sharing = (causes.get(fault.scope.key) ?? 1) - 1;
    if (sharing === 0) causes.delete(fault.scope.key);
    else causes.set(fault.scope.key, sharing);
  }

  return {
    adopt(persona, stem) {
      const holder = stems.get(stem);
      if (holder === persona) return;
      const path = toEventFilePath(directory, stem);
      if (holder !== undefined || publishedFiles.has(persona)) {
        const why = holder === undefined ? 'already has another file' : `would share it with ${holder}`;
        throw new Fault('usage', `${path} cannot be the event file of ${persona}, which ${why}`, {
          is: 'persona',
          key: persona,
        });
      }
      stems.set(stem, persona);
      const { stored, published } = rows.readProgress(persona);
      const file = createEventFile(disk, path, rotation, syncer.namesChanged);
      const to: PublishedFile = { persona, path, file, stored, written: null, behind: null };
      publishedFiles.set(persona, to);
      if (stored > published) attempt(to, () => catchUp(to));
    },
    publish(committed) {
      for (const { persona, events } of committed) {
        const to = publishedFiles.get(persona);
        const last = events.at(-1);
        if (to === undefined || last === undefined) continue;
        const isLevel = to.written === to.stored;
        to.stored = last.seq;
        attempt(to, () => {
          if (isLevel) append(to, events, 0);
          if (to.written !== to.stored) catchUp(to);
        });
      }
    },
    [Symbol.dispose]() {
      for (const to of publishedFiles.values()) to.behind?.retry[Symbol.dispose]();
      syncer[Symbol.dispose]();
    },
  };
}

function toScope(to: PublishedFile): Scope {
  return { is: 'persona', key: `file:${to.path}` };
}

/** Encodes the lines without a copy as one string, which a storm would leave behind as garbage. */
function encodeLines(rows: readonly PublishedLine[]): Uint8Array {
  let size = 0;
  for (const { line } of rows) size += Buffer.byteLength(line) + 1;
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { line } of rows) {
    at += bytes.write(line, at);
    at = bytes.writeUInt8(NEWLINE, at);
  }
  return bytes;
}

const NEWLINE = 10;

export interface Retention {
  /** Published events are kept for at least this long, in milliseconds. */
  readonly keepMs: number;
  /** At least this many events of each persona are kept. */
  readonly keepRows: number;
}

interface SyncerOptions {
  readonly rows: PublishedRows;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly directory: string;
  readonly retention: Retention;
  /** Returns the time that decides the age of a row; absent: the wall clock. */
  readonly retentionNow?: () => number;
}

/**
 * Makes appended lines durable half a minute later, off the path of an event, because the outbox already has them. Only
 * lines on the disk count as published and may leave the outbox. Many files are flushed in small slices, since each
 * flush stops the process for a moment.
 */
interface Syncer extends Disposable {
  /** Records that lines up to this row are in the file, though perhaps not on the disk. */
  changed(persona: PersonaId, file: PersonaEventFile, seq: number): void;
  /** Records that a file was created or renamed, which is durable only once its directory is synced. */
  namesChanged(): void;
}

/** Milliseconds from the first change to the flush. */
const SYNC_AFTER_MS = 30_000;
const FILES_A_SLICE = 2;
const BETWEEN_SLICES_MS = 20;
/** The time limit for closing, in milliseconds. The next start repairs the files that are left over. */
const CLOSING_MS = 100;
/** How many appends of a persona pass between two attempts to prune. */
const PRUNE_EVERY = 256;

interface UnsyncedFile {
  readonly file: PersonaEventFile;
  readonly seq: number;
}

export function createSyncer(options: SyncerOptions): Syncer {
  const { rows, disk, clock, directory, retention } = options;
  let changes = new Map<PersonaId, UnsyncedFile>();
  const sincePruned = new Map<PersonaId, number>();
  let names = false;
  let timer: Disposable | null = null;
  let warned = false;

  function schedule(): void {
    timer ??= clock.after(SYNC_AFTER_MS, () => {
      const round = [...changes];
      changes = new Map();
      slice(round, 0, []);
    });
  }

  function slice(round: readonly [PersonaId, UnsyncedFile][], from: number, synced: [PersonaId, number][]): void {
    for (const [persona, change] of round.slice(from, from + FILES_A_SLICE)) sync(persona, change, synced);
    const rest = from + FILES_A_SLICE;
    if (rest < round.length) {
      timer = clock.after(BETWEEN_SLICES_MS, () => slice(round, rest, synced));
      return;
    }
    timer = null;
    finish(synced);
    if (changes.size > 0) schedule();
  }

  function sync(persona: PersonaId, change: UnsyncedFile, synced: [PersonaId, number][]): void {
    try {
      change.file.sync();
      synced.push([persona, change.seq]);
    } catch (error) {
      if (!changes.has(persona)) changes.set(persona, change);
      warn(error);
    }
  }

  function finish(synced: readonly [PersonaId, number][]): void {
    if (synced.length === 0) return;
    try {
      if (names) syncDirectory(disk, directory);
      names = false;
      rows.runInTransaction(() => {
        for (const [persona, seq] of synced) {
          rows.setPublished(persona, seq);
          if ((sincePruned.get(persona) ?? PRUNE_EVERY) < PRUNE_EVERY) continue;
          rows.prune(persona, (options.retentionNow ?? clock.now)() - retention.keepMs, retention.keepRows);
          sincePruned.set(persona, 0);
        }
      });
      warned = false;
    } catch (error) {
      // Nothing is lost: the files are synced at the next start, or after the next change.
      warn(error);
    }
  }

  function warn(error: unknown): void {
    if (!warned)
      disk.log.warn(`event files cannot be flushed: ${toFault(error, { is: 'machine', key: 'flush' }).message}`);
    warned = true;
  }

  return {
    changed(persona, file, seq) {
      changes.set(persona, { file, seq });
      sincePruned.set(persona, (sincePruned.get(persona) ?? PRUNE_EVERY) + 1);
      schedule();
    },
    namesChanged() {
      names = true;
    },
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      timer = null;
      const until = clock.monotonic() + CLOSING_MS;
      const synced: [PersonaId, number][] = [];
      for (const [persona, change] of changes) {
        if (clock.monotonic() >= until) break;
        sync(persona, change, synced);
      }
      finish(synced);
      changes.clear();
    },
  };
}
