import type { Decisions } from '../../core/inbox/decisions/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import type { RetentionClock } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.ts';

export interface RetentionOptions {
  readonly local: Pick<LocalHive, 'reap'>;
  readonly decisions: Pick<Decisions, 'reap'>;
  readonly retention: RetentionClock;
  readonly keepMailDays: number;
}

/** How often the clock by which mail is deleted is saved. */
const BEAT_MS = 600_000;
const REAP_EVERY_MS = 6 * 3_600_000;
const DAY_MS = 86_400_000;

/** Deletes mail and closed decisions when their retention time is over: at start and every few hours. */
export function createRetentionService(
  { local, decisions, retention, keepMailDays }: RetentionOptions,
  { clock, log }: Pick<Machine, 'clock' | 'log'>,
): Service {
  const name = 'deletion of old mail';
  let reapedAt = Number.NEGATIVE_INFINITY;
  const beats = every({
    name,
    ms: BEAT_MS,
    clock,
    round() {
      retention.beat();
      if (clock.monotonic() - reapedAt < REAP_EVERY_MS) return;
      const now = retention.now();
      const before = now - keepMailDays * DAY_MS;
      local.reap(before, now);
      decisions.reap(before);
      reapedAt = clock.monotonic();
    },
  });
  return {
    name,
    async run(signal) {
      const running = beats.run(signal);
      const days = Math.round(retention.doubtedMs() / DAY_MS);
      if (days > 0) {
        const why = `the clock of this machine is ${days} days ahead of when hivebar last ran`;
        log.warn(`${why}: no mail is deleted until the clock has run on for a day`);
      }
      await running;
      retention.beat(); // otherwise that clock would be older at the next start, and mail would be deleted later
    },
  };
}
