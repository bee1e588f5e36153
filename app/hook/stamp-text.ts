import type { Passable } from './quiet-moments.ts';

/** What a stamp says; everything it does not say means: ask. */
export interface Stamp {
  readonly persona: string;
  readonly quiet: readonly Passable[];
  /** The folder of its gates, absolute: changed when the stamp was made or later, it means: ask. */
  readonly gates: string;
  /** Folders the persona works in, absolute: what lies in their `.runtime/inject-queue` means: ask. */
  readonly folders: readonly string[];
}

/** The first line; another version of the program writes another one, and reads none of this one. */
export const STAMP_HEAD = 'hivebar-pending 1';

/** A name with a line end in it cannot stand in a stamp. */
const BREAKS = /[\p{Cc}\u2028\u2029]/u;

/**
 * The text of a stamp, for a shell that reads line by line: head, persona, quiet moments, where its gates
 * are, a line for each folder, and `end`, without which it is torn. Null when it cannot be said so, which means: ask.
 */
export function formatStamp({ persona, quiet, gates, folders }: Stamp): string | null {
  if (quiet.length === 0) return null;
  const texts = [persona, gates, ...folders];
  if (persona === '' || texts.some((text) => BREAKS.test(text) || !text.isWellFormed())) return null;
  const lines = [STAMP_HEAD, `persona ${persona}`, `quiet ${quiet.join(' ')}`, `gates ${gates}`];
  return `${[...lines, ...folders.map((folder) => `folder ${folder}`), 'end'].join('\n')}\n`;
}
