import type { Log } from '../ports/index.ts';

/** Says a lasting trouble once, when it begins or changes, and once that it is over (Kijito contract j, traps 9 and 45). */
export interface Trouble {
  /** `cause` is what makes it the same trouble as before, where the line differs each time. */
  raise(line: string, cause?: string): void;
  /** Says `line` if there was trouble. */
  clear(line: string): void;
}

export function createTrouble(log: Log): Trouble {
  let said: string | null = null;
  return {
    raise(line, cause = line) {
      if (cause !== said) log.warn(line);
      said = cause;
    },
    clear(line) {
      if (said !== null) log.info(line);
      said = null;
    },
  };
}
