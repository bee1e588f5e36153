import type { Doorbell } from '../../link/index.ts';
import type { SurfaceStatus } from '../surface-status.ts';

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
