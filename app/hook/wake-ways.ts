import type { NudgeFacts } from '../../core/hooks/index.ts';

/**
 * Every way to wake an idle agent, in the order in which they are tried: what the agent program was built for comes first, and keys
 * come last. Their table is docs/guides/waking.md.
 *
 * - `follow`: `hivebar follow` delivers each event.
 * - `waiter`: the hook of a session that ends when mail comes.
 * - `plugin`: a plugin inside the agent program.
 * - `socket`: the inbox socket of a session of Claude Code.
 * - `channel`: `hivebar mcp --channel`.
 * - `queue`: `codex queue`.
 * - `address`: what `hivebar session set --wake` announced.
 * - `tmux`: words typed into a pane.
 */
export const WAKE_WAYS = ['follow', 'waiter', 'plugin', 'socket', 'channel', 'queue', 'address', 'tmux'] as const;

export type WakeWay = (typeof WAKE_WAYS)[number];

/**
 * The result of one attempt. `later`: try again after this many milliseconds. `wait`: nothing of it could be seen; try again at the
 * next occasion, for the reason `why`.
 */
export type NudgeResult =
  | { readonly is: 'nudged' | 'not' }
  | { readonly is: 'later'; readonly ms: number }
  | { readonly is: 'wait'; readonly why: string };

/** Wakes an agent for which these items wait. @throws Fault */
export type Wake = (waits: Pick<NudgeFacts, 'pending' | 'waiting'>) => Promise<NudgeResult>;
