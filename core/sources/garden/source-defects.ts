import type { Log } from '../../ports/index.ts';
import type { Defect } from './read/index.ts';

/** What is wrong in a store and about no citizen's mail: said once each, and once more when it is mended. */
export interface DefectLog {
  /** Everything that is wrong now with one part of the store. */
  now(part: string, defects: readonly Defect[]): void;
  /** Every line, sorted. */
  readonly all: readonly string[];
}

/** Of one part at one time. */
const MOST_LINES = 20;
const NONE: ReadonlySet<string> = new Set();

export function defectLog(log: Log): DefectLog {
  const parts = new Map<string, ReadonlySet<string>>();
  return {
    now(part, defects) {
      const before = parts.get(part) ?? NONE;
      if (defects.length === 0 && before.size === 0) return;
      const lines = new Set(defects.map(({ filename, message }) => `${filename}: ${message}`));
      const fresh = [...lines].filter((line) => !before.has(line));
      for (const line of fresh.slice(0, MOST_LINES)) log.warn(`garden: ${line}`);
      if (fresh.length > MOST_LINES)
        log.warn(`garden: and ${fresh.length - MOST_LINES} more; hivebar garden doctor names all`);
      const mended = [...before].filter((line) => !lines.has(line)).length;
      if (mended > 0)
        log.info(`garden: ${mended} of the ${part} that were wrong ${mended === 1 ? 'is' : 'are'} mended`);
      if (lines.size === 0) parts.delete(part);
      else parts.set(part, lines);
    },
    get all() {
      return [...parts.values()].flatMap((lines) => [...lines]).sort();
    },
  };
}
