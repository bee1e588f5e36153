import type { Log } from '../ports/index.ts';

/** What is wrong with one file of a store. */
export interface StoreDefect {
  /** Where, as a person finds it in the store. */
  readonly filename: string;
  readonly message: string;
}

/** What is wrong in a store and about nobody's mail: said once each, and once more when it is mended. */
export interface DefectLog {
  /** Everything that is wrong now with one part of the store. */
  report(part: string, defects: readonly StoreDefect[]): void;
  /** Every line, sorted. */
  readonly lines: readonly string[];
}

/** Of one part at one time. */
const MOST_LINES = 20;
const NO_LINES: ReadonlySet<string> = new Set();

/** @param kind of the store, which is also the command that examines it */
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
