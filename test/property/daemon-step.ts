import type { TurnBoundaryKind } from '../../core/link/index.ts';

/** What the world does to a daemon; numbers choose among what there is at the moment. */
export type DaemonStep =
  | { readonly is: 'pass'; readonly ms: number }
  /** Time passes and nobody is told: the computer slept, its clock was set, or (frozen) the process stood still. */
  | { readonly is: 'sleep'; readonly ms: number; readonly isFrozen: boolean }
  | { readonly is: 'signals'; readonly count: number }
  | { readonly is: 'drain'; readonly max: number; readonly isNotified: boolean }
  | { readonly is: 'frames'; readonly count: number }
  | { readonly is: 'welcome'; readonly restarts: boolean }
  | { readonly is: 'close'; readonly code: number | null; readonly retryAfterMs: number | null }
  | { readonly is: 'half_open' }
  | { readonly is: 'garbled' }
  | { readonly is: 'peek'; readonly how: 'now' | 'old' | 'fails' | 'back' }
  | { readonly is: 'surface'; readonly takes: boolean }
  | { readonly is: 'boundary'; readonly kind: TurnBoundaryKind; readonly turn: number }
  | { readonly is: 'operator' }
  | { readonly is: 'activity'; readonly agoMs: number; readonly moment: string | null }
  | { readonly is: 'heartbeat'; readonly fails: boolean }
  | { readonly is: 'index_lost' }
  /** The surface took a doorbell, and the agent never hears it. */
  | { readonly is: 'deaf' }
  | { readonly is: 'lifecycle' }
  | { readonly is: 'shutdown' }
  /** Something of a connection, a peek or a ring that is over. */
  | { readonly is: 'ghost'; readonly of: number };
