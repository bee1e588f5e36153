import { type PersonaId, toFault } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type Disk, syncDirectory } from '../../state/index.ts';
import type { PersonaEventFile } from './event-file.ts';
import type { PublishedRows } from './rows.ts';

export interface Retention {
  /** Published events are kept for at least this long, in milliseconds. */
  readonly keepMs: number;
  /** At least this many events of each persona are kept. */
  readonly keepRows: number;
}

export interface SyncerOptions {
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
export interface Syncer extends Disposable {
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
