import type { Fact } from '../../core/board/index.ts';
import type { Decisions } from '../../core/inbox/decisions/index.ts';
import type { LocalHive } from '../../core/inbox/index.ts';
import { Fault, toFault } from '../../core/model/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import type { RetentionClock } from '../../core/state/index.ts';
import type { HookInstaller } from '../hook/index.ts';
import type { Machine } from '../host/machine.node.ts';
import type { DaemonService, LoginStart } from '../service/index.ts';

export interface RepairOptions {
  readonly hooks: Pick<HookInstaller, 'repair' | 'findMissing'>;
  readonly login: Pick<LoginStart, 'repair'>;
  /** Lists the units of persona daemons as they are now. */
  readonly daemons: () => readonly { readonly name: string; readonly service: Pick<DaemonService, 'repair'> }[];
  put(fact: Fact): void;
}

const EVERY_MS = 5 * 60_000;

/**
 * Repairs what was installed to start this program: the script of the hooks, start at login, the units of daemons. It acts when
 * the Node or the copy of the program that they name is gone, for example after an upgrade. It runs at start and every few
 * minutes. What could not be repaired is a cause on the board until it is.
 */
export function createRepairService(
  { hooks, login, daemons, put }: RepairOptions,
  { clock, log }: Pick<Machine, 'clock' | 'log'>,
): Service {
  const broken = new Set<string>();

  function report(key: string, fault: Fault | null): void {
    if (fault === null ? !broken.delete(key) : broken.has(key)) return;
    if (fault !== null) {
      broken.add(key);
      log.warn(fault.explain());
    }
    put({ is: 'machine', at: clock.now(), key, fault });
  }

  async function repair(key: string, work: () => Promise<Fault | null> | Fault | null): Promise<void> {
    try {
      report(key, await work());
    } catch (error) {
      report(key, toFault(error, { is: 'machine', key }));
    }
  }

  async function repairAll(): Promise<void> {
    await repair('hooks', () => {
      if (hooks.repair()) log.info('the hooks of agents used a missing or older program; they use this Hivebar now');
      const missingPath = hooks.findMissing();
      const why = `the hooks of agents use ${missingPath}, which does not exist`;
      return missingPath === null ? null : new Fault('hook-gone', why, { is: 'machine', key: 'hooks' });
    });
    await repair('login', async () => {
      const before = await login.repair();
      if (before.is === 'on' && before.gone !== null)
        log.info(
          `${before.path} started ${before.gone}, which no longer exists: at the next login it starts this Hivebar`,
        );
      return null;
    });
    for (const { name, service } of daemons()) {
      await repair(`daemon ${name}`, async () => {
        const missingPath = await service.repair();
        if (missingPath !== null)
          log.info(
            `the unit of ${name} started ${missingPath}, which no longer exists: the unit was rewritten and started`,
          );
        return null;
      });
    }
  }

  return every({ name: 'repair of what is installed', ms: EVERY_MS, clock, round: repairAll });
}

interface RetentionOptions {
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
        log.warn(`${why}: no mail is deleted until the clock has run for another day`);
      }
      await running;
      retention.beat(); // otherwise that clock would be older at the next start, and mail would be deleted later
    },
  };
}
