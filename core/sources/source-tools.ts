import { Fault, type SourceId } from '../model/index.ts';
import { type Clock, type Files, type Log, O } from '../ports/index.ts';
import type { Checkpoint } from './source.ts';

/** One timer per key. When a key is scheduled again, the earlier of the two times counts. */
interface Timers extends Disposable {
  schedule(ms: number, key: string, run: () => void): void;
}

export function createTimers(clock: Clock): Timers {
  const timers = new Map<string, { readonly at: number; readonly timer: Disposable }>();
  return {
    schedule(ms, key, run) {
      const at = clock.monotonic() + ms;
      const known = timers.get(key);
      if (known !== undefined && known.at <= at) return;
      known?.timer[Symbol.dispose]();
      const timer = clock.after(ms, () => {
        timers.delete(key);
        run();
      });
      timers.set(key, { at, timer });
    },
    [Symbol.dispose]() {
      for (const { timer } of timers.values()) timer[Symbol.dispose]();
      timers.clear();
    },
  };
}

/** A reading that its callers share. */
interface SharedReading<T> {
  /** Reads. Whoever asks before a reading begins shares it; one that runs may miss what came since, so the next one counts. */
  read(): Promise<T>;
  /** Resolves when nothing is read any more. Never rejects. */
  waitForAll(): Promise<void>;
}

export function shareReading<T>(readNow: () => Promise<T>): SharedReading<T> {
  let next: Promise<T> | null = null;
  let running: Promise<unknown> = Promise.resolve();
  return {
    read() {
      next ??= running
        .catch(() => {}) // its own caller hears of it
        .then(() => {
          next = null;
          const reading = readNow();
          running = reading;
          return reading;
        });
      return next;
    },
    async waitForAll() {
      await next?.catch(() => {});
      await running.catch(() => {});
    },
  };
}

/** Removes what would break a spawn or a file write later: lone surrogates and NUL (Kijito contract, trap 8). */
export function sanitizeText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();
}

/** The first `count` code points, as a separate string: a slice would keep the whole mail in memory. */
export function cut(text: string, count: number): string {
  if (text.length <= count) return text;
  return [...text.slice(0, 2 * count)].slice(0, count).join('');
}

/** Text for one line of a surface: without signs that break it, cleaned and cut. */
export function toOneLine(text: string, chars: number): string {
  return cut(
    sanitizeText(text.slice(0, 4 * chars))
      .replace(MANY_CONTROLS, ' ')
      .trim(),
    chars,
  );
}

const MANY_CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;

/** The epoch of a set whose file is not there. */
export const NO_EPOCH = 'none';

/**
 * The epoch of a poll. A file that comes into being is no other set than none before it, so what it holds is news; nor is its absence.
 * @param epoch of the file as it lies there
 */
export function chooseEpoch(epoch: string, from: Checkpoint): string {
  return from.is === 'known' && (from.epoch === NO_EPOCH || epoch === NO_EPOCH) ? from.epoch : epoch;
}

/** The placeholder for a value that cannot be written as JSON. */
export const UNREADABLE = '(a value that is nested too deeply to be shown)';

/** A value as JSON. A value that is nested too deeply becomes a placeholder, so that it does not block its neighbours. */
export function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return UNREADABLE; // parsed JSON can fail here only because of its depth
  }
}

/** A problem with one file of a store. */
export interface StoreDefect {
  /** The file's name, so that a person can find it in the store. */
  readonly filename: string;
  readonly message: string;
}

/** Logs problems of a store that concern nobody's mail. Each is logged once, and once more when it is fixed. */
interface DefectLog {
  /** Replaces everything that is wrong with one part of the store. */
  report(part: string, defects: readonly StoreDefect[]): void;
  /** All current problems, one line per problem, sorted. */
  readonly lines: readonly string[];
}

/** The most lines that one report logs. */
const MOST_LINES = 20;
const NO_LINES: ReadonlySet<string> = new Set();

/** @param kind of the store; it is also the name of the command that examines the store */
export function createDefectLog(log: Log, kind: string): DefectLog {
  const parts = new Map<string, ReadonlySet<string>>();
  return {
    report(part, defects) {
      const before = parts.get(part) ?? NO_LINES;
      if (defects.length === 0 && before.size === 0) return;
      const lines = new Set(defects.map(({ filename, message }) => `${filename}: ${message}`));
      const fresh = [...lines].filter((line) => !before.has(line));
      for (const line of fresh.slice(0, MOST_LINES)) log.warn(`${kind}: ${line}`);
      if (fresh.length > MOST_LINES)
        log.warn(`${kind}: and ${fresh.length - MOST_LINES} more; hivebar ${kind} doctor lists all`);
      const mended = [...before].filter((line) => !lines.has(line)).length;
      if (mended > 0)
        log.info(`${kind}: ${mended} of the ${part} that were wrong ${mended === 1 ? 'is' : 'are'} fixed`);
      if (lines.size === 0) parts.delete(part);
      else parts.set(part, lines);
    },
    get lines() {
      return [...parts.values()].flatMap((lines) => [...lines]).sort();
    },
  };
}

/** The file access of a source that only watches. Every call that would change something throws a Fault. */
export function toReadOnlyFiles(files: Files, source: SourceId): Files {
  const refuse = (): never => {
    throw new Fault('internal', 'a watched store is never written', { is: 'source', key: source });
  };
  const writes = O.WRONLY | O.RDWR | O.CREAT | O.TRUNC | O.APPEND;
  return {
    open: (path, flags, mode) => ((flags & writes) === 0 ? files.open(path, flags, mode) : refuse()),
    read: files.read,
    fstat: files.fstat,
    close: files.close,
    readdir: files.readdir,
    lstat: files.lstat,
    ...{ write: refuse, fchmod: refuse, ftruncate: refuse, fsync: refuse, fdatasync: refuse },
    ...{ rename: refuse, link: refuse, unlink: refuse, mkdirAll: refuse },
  };
}
