import type { Doorbell } from '../../link/index.ts';
import type { SurfaceStatus } from '../surface-status.ts';

/** A surface as the daemon sees it: only these three calls (persona daemon, contract 5). */
export interface Plugin {
  /**
   * Resolves when the surface has taken the doorbell into its own queue. That is no acknowledgement; only a drain is.
   * @throws Error if the surface did not take it within 2 s
   */
  readonly notifySurface: (payload: Doorbell) => Promise<void>;
  /** Binds again after the surface was restarted; never rings. */
  readonly resumeSurface: () => Promise<void>;
  /** Always answers within 1 s. */
  readonly status: () => Promise<SurfaceStatus>;
}

/** A doorbell that is not taken within this time counts as not emitted. */
export const ACCEPTED_WITHIN_MS = 2000;
