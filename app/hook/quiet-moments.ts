import type { UndeliveredLevel } from '../../core/inbox/index.ts';

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
