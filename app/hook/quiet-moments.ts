import type { UndeliveredLevel } from '../../core/inbox/index.ts';

/** Moments of a harness that the shell hook may pass over by itself; at every other one the program is asked. */
export const PASSABLE = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'PreCompact'] as const;
export type Passable = (typeof PASSABLE)[number];

/** What there is for a persona, at one moment. */
export interface PendingWork {
  readonly items: UndeliveredLevel;
  /** Its gates, of which each is something to ask about: a mark may run out, and a check looks at the disk. */
  readonly gates: readonly { readonly hook: string | null; readonly mode: 'strict' | 'soft' }[];
  /** Its mail is in another system, and what waits there is not known here. */
  readonly isFollowed: boolean;
}

/**
 * The moments at which there is nothing to say and nothing to block (inbox and gates, contract 5): a prompt and a stop
 * take any item, a finished tool only priority 0 and 1, and the other two take none.
 */
export function findQuietMoments({ items, gates, isFollowed }: PendingWork): readonly Passable[] {
  const isQuiet: Readonly<Record<Passable, boolean>> = {
    UserPromptSubmit: items === 'none' && !isFollowed,
    PreToolUse: true,
    PostToolUse: items !== 'urgent',
    Stop: items === 'none' && !isFollowed,
    PreCompact: true,
  };
  // A soft gate says something at a stop only.
  const gated = new Set(gates.flatMap(({ hook, mode }) => (mode === 'strict' || hook === 'Stop' ? [hook] : [])));
  return PASSABLE.filter((moment) => isQuiet[moment] && !gated.has(moment));
}
