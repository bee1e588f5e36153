import type { Log } from '../../../ports/index.ts';

/** Reports an entry of a list that cannot be read. The other entries count as usual. */
export type DefectReporter = (index: number, detail: string) => void;

export const ignoreDefect: DefectReporter = () => {};

/** How many entries one log line names. */
const MOST_NAMED = 3;

/** Logs which entries of a list cannot be read: when they change, and when all can be read again. */
export interface ListDefects {
  /** Reads one answer and logs what `read` reports, unless the answer before had the same defects. */
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
