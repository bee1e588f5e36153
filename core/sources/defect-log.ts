import type { Log } from '../ports/index.ts';

/** A problem with one file of a store. */
export interface StoreDefect {
  /** The file's name, so that a person can find it in the store. */
  readonly filename: string;
  readonly message: string;
}

/** Logs problems of a store that concern nobody's mail. Each is logged once, and once more when it is fixed. */
export interface DefectLog {
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
        log.warn(`${kind}: and ${fresh.length - MOST_LINES} more; hivebar ${kind} doctor names all`);
      const mended = [...before].filter((line) => !lines.has(line)).length;
      if (mended > 0)
        log.info(`${kind}: ${mended} of the ${part} that were wrong ${mended === 1 ? 'is' : 'are'} mended`);
      if (lines.size === 0) parts.delete(part);
      else parts.set(part, lines);
    },
    get lines() {
      return [...parts.values()].flatMap((lines) => [...lines]).sort();
    },
  };
}
