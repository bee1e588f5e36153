import type { Passable } from './quiet-moments.ts';

/** The content of a stamp. In every case that it does not cover, the hook starts the program. */
export interface Stamp {
  readonly persona: string;
  readonly quiet: readonly Passable[];
  /** The absolute folder of its gates. If it changed at or after the time of the stamp, the hook starts the program. */
  readonly gates: string;
  /** The absolute folders that the persona works in. If their `.runtime/inject-queue` has files, the hook starts the program. */
  readonly folders: readonly string[];
}

/** The first line. Another version of the program writes another one, and does not read this one. */
export const STAMP_HEAD = 'hivebar-pending 1';

/** A name with a line end in it cannot be written into a stamp. */
const BREAKS = /[\p{Cc}\u2028\u2029]/u;

/**
 * Formats a stamp for a shell that reads line by line: head, persona, quiet moments, the folder of its gates, one line per
 * folder, and `end`, without which the stamp is incomplete. Null when it cannot be written this way; then the hook starts the
 * program.
 */
export function formatStamp({ persona, quiet, gates, folders }: Stamp): string | null {
  if (quiet.length === 0) return null;
  const texts = [persona, gates, ...folders];
  if (persona === '' || texts.some((text) => BREAKS.test(text) || !text.isWellFormed())) return null;
  const lines = [STAMP_HEAD, `persona ${persona}`, `quiet ${quiet.join(' ')}`, `gates ${gates}`];
  return `${[...lines, ...folders.map((folder) => `folder ${folder}`), 'end'].join('\n')}\n`;
}
