/** Moments of a harness that the shell hook may pass over by itself; at every other one the program is asked. */
export const PASSABLE = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'PreCompact'] as const;
export type Passable = (typeof PASSABLE)[number];

/** What there is for a persona, at one moment. */
export interface Waiting {
  /** Items not delivered yet, by priority; those count that another session holds a lease of: it may let go of them. */
  readonly items: readonly [number, number, number, number, number];
  /** Moments that have a gate, open or not: a mark may run out, and an automatic check asks the disk. */
  readonly gated: readonly string[];
  readonly openDecisions: number;
  /** Further moments at which the program has something to do, such as the first of a new turn. */
  readonly asks: readonly string[];
}

/**
 * The moments at which there is nothing to say and nothing to block (inbox and gates, contract 5): a prompt and a stop
 * take any item, a finished tool only priority 0 and 1, and the other two take none.
 */
export function quietMoments({ items, gated, openDecisions, asks }: Waiting): readonly Passable[] {
  const all = items.reduce((sum, n) => sum + n, 0);
  const urgent = items[0] + items[1];
  const kept = new Set([...gated, ...asks].map((name) => name.toLowerCase()));
  const isQuiet: Readonly<Record<Passable, boolean>> = {
    UserPromptSubmit: all === 0,
    PreToolUse: true,
    PostToolUse: urgent === 0,
    Stop: all === 0 && openDecisions === 0,
    PreCompact: true,
  };
  return PASSABLE.filter((moment) => isQuiet[moment] && !kept.has(moment.toLowerCase()));
}
