import type { UndeliveredLevel } from '../../core/inbox/index.ts';

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

/** Moments of a harness that the shell hook may skip by itself. At every other one it starts the program. */
export const PASSABLE = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'PreCompact'] as const;
export type Passable = (typeof PASSABLE)[number];

/** What waits for a persona at one moment. */
export interface PendingWork {
  readonly items: UndeliveredLevel;
  /** Its gates. Each needs a check, because a mark may expire and a check reads the disk. */
  readonly gates: readonly { readonly hook: string | null; readonly mode: 'strict' | 'soft' }[];
  /** Whether its mail is in another system, so that it is not known here what waits there. */
  readonly isFollowed: boolean;
}

/**
 * Returns the moments with nothing to say and nothing to block (inbox and gates, contract 5). A prompt and a stop take any item,
 * a finished tool takes only priority 0 and 1, and the other two take none.
 */
export function findQuietMoments({ items, gates, isFollowed }: PendingWork): readonly Passable[] {
  const isQuiet: Readonly<Record<Passable, boolean>> = {
    UserPromptSubmit: items === 'none' && !isFollowed,
    PreToolUse: true,
    PostToolUse: items !== 'urgent',
    Stop: items === 'none' && !isFollowed,
    PreCompact: true,
  };
  // A soft gate warns only at a stop.
  const gated = new Set(gates.flatMap(({ hook, mode }) => (mode === 'strict' || hook === 'Stop' ? [hook] : [])));
  return PASSABLE.filter((moment) => isQuiet[moment] && !gated.has(moment));
}
