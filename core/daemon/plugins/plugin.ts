import type { Doorbell } from '../../link/index.ts';

/** Why a surface is as it is; bounded, so that it can stand in a status. */
export const DETAIL_CLASSES = [
  'ready',
  'waiting_hook',
  'between_hooks',
  'no_shim',
  'shim_backoff',
  'shim_failed',
  'no_answer',
  'busy',
  'no_desktop',
] as const;
export type DetailClass = (typeof DETAIL_CLASSES)[number];

/** What a surface says of itself (persona daemon, contract 5). */
export interface SurfaceStatus {
  /** It is there; false raises `surface_unavailable`. */
  readonly alive: boolean;
  /** It would take a doorbell now. */
  readonly accepting: boolean;
  readonly detail_class: DetailClass;
}

/** A surface as the daemon knows it: these three and nothing else (persona daemon, contract 5). */
export interface Plugin {
  /**
   * Resolves when the surface has taken the doorbell into its own queue, which acknowledges nothing: that is the drain.
   * @throws Error when it did not, within 2 s
   */
  readonly notifySurface: (payload: Doorbell) => Promise<void>;
  /** Binds anew after the surface was restarted; never rings. */
  readonly resumeSurface: () => Promise<void>;
  /** Answers within 1 s, always. */
  readonly status: () => Promise<SurfaceStatus>;
}

/** A doorbell that is not taken within this time was not emitted. */
export const ACCEPTED_WITHIN_MS = 2000;
export const STATUS_WITHIN_MS = 1000;
