import type { Log } from '../../../ports/index.ts';

/** Hears of an entry of a list that cannot be read; the entries beside it count as ever. */
export type DefectReporter = (index: number, detail: string) => void;

export const ignoreDefect: DefectReporter = () => {};

/** Entries that one line names. */
const MOST_NAMED = 3;

/** Says which entries of a list cannot be read: when they change, and when all can be read again. */
export interface ListDefects {
  /** Reads one answer; what `read` reports is said, unless it was said of the answer before. */
  collect<T>(read: (report: DefectReporter) => T): T;
}

export function createListDefects(list: () => string, log: Log): ListDefects {
  let before = '';
  return {
    collect(read) {
      const defects: string[] = [];
      try {
        return read((index, detail) => void defects.push(`entry ${index}: ${detail}`));
      } finally {
        logDefects(defects);
      }
    },
  };

  function logDefects(defects: readonly string[]): void {
    const named = defects.slice(0, MOST_NAMED).join('; ');
    const now = defects.length > MOST_NAMED ? `${named}; and ${defects.length - MOST_NAMED} more` : named;
    if (now !== before) {
      if (now === '') log.info(`${list()}: every entry can be read again`);
      else log.warn(`${list()}: ${now}. The other entries are used.`);
    }
    before = now;
  }
}
