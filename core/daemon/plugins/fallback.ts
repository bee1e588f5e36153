import type { Clock } from '../../ports/index.ts';
import { ACCEPTED_WITHIN_MS, type Plugin, runWithin } from './plugin.ts';

/** Notifies the person at this machine that work waits. */
export interface PersonNotifier {
  /** Whether there is a way to notify anybody. */
  readonly isAvailable: boolean;
  /** Resolves when a notification was accepted. @throws Error when it was not */
  notify(): Promise<void>;
}

export interface FallbackNeeds {
  readonly person: PersonNotifier;
  readonly clock: Clock;
}

/**
 * Creates the plugin for surfaces without hooks or a shim: a person sees a notification, and the work waits for the next explicit
 * drain.
 */
export function createFallback({ person, clock }: FallbackNeeds): Plugin {
  return {
    async notifySurface() {
      if (!person.isAvailable) throw new Error('no program that shows notifications was found');
      await runWithin(clock, ACCEPTED_WITHIN_MS, person.notify());
    },
    resumeSurface: async () => {},
    status: async () =>
      person.isAvailable
        ? { alive: true, accepting: true, detail_class: 'ready' }
        : { alive: false, accepting: false, detail_class: 'no_desktop' },
  };
}
