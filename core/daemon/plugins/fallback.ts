import type { Clock, Spawn } from '../../ports/index.ts';
import { runWithin } from './deadline.ts';
import { ACCEPTED_WITHIN_MS, type Plugin } from './plugin.ts';

/** A program that shows a banner. `file` is an absolute path, and the texts are its arguments. */
export interface BannerProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface FallbackNeeds {
  /** Null: this desktop cannot show a banner. */
  readonly banner: BannerProgram | null;
  readonly spawn: Spawn;
  readonly clock: Clock;
  /** Ends a banner program that still runs. */
  readonly stop: AbortSignal;
}

/**
 * Creates the plugin for surfaces without hooks or a shim: a person sees a banner, and the work waits for the next explicit
 * drain.
 */
export function createFallback({ banner, spawn, clock, stop }: FallbackNeeds): Plugin {
  return {
    async notifySurface() {
      if (banner === null) throw new Error('no program shows a banner here');
      const ended = await runWithin(
        clock,
        ACCEPTED_WITHIN_MS,
        spawn.run({ ...banner, timeoutMs: ACCEPTED_WITHIN_MS }, stop),
      );
      if (ended.is !== 'exited' || ended.code !== 0) throw new Error('the banner was not shown');
    },
    resumeSurface: async () => {},
    status: async () =>
      banner === null
        ? { alive: false, accepting: false, detail_class: 'no_desktop' }
        : { alive: true, accepting: true, detail_class: 'ready' },
  };
}
