import type { DaemonConfig, DaemonPlaces } from '../../link/index.ts';
import { faultOf } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { type Disk, readPrivate } from '../../state/index.ts';
import { type DaemonLabels, type Exported, exportedBy, goneSamples, labelsIn, labelValue } from './metrics.ts';

/** Twenty-four series of one daemon have about 5 KB. */
const MOST_BYTES = 64 * 1024;
/** A file is written every 10 s: one that is older was left behind (persona daemon, contract 6). */
const OLD_AFTER_MS = 30_000;

export interface ExportingOptions {
  readonly machineId: string;
  readonly isAlive: (pid: number) => boolean;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
}

/** What daemons export into their files. */
export interface Exporting {
  /** Of one daemon: what its file holds, or that it is not up. */
  of(config: DaemonConfig, places: DaemonPlaces): Exported;
  forget(name: string): void;
}

export function exporting({ machineId, isAlive, disk, clock, log }: ExportingOptions): Exporting {
  /** As it was heard of last, by name. */
  const labels = new Map<string, DaemonLabels>();
  const refused = new Map<string, string>();

  function exportedOf({ tenant, identity }: DaemonConfig, { name, metrics, pid }: DaemonPlaces): Exported | null {
    const at = disk.files.lstat(metrics);
    if (at === null) return null;
    const bytes = readPrivate(disk, metrics, MOST_BYTES);
    if (bytes === null) return null;
    const text = Buffer.from(bytes).toString('utf8');
    const read =
      bytes.length > MOST_BYTES
        ? ({ is: 'bad', why: `is longer than ${MOST_BYTES} bytes` } as const)
        : exportedBy(text, { tenant_id: tenant, agent_identity: identity });
    if (read.is === 'bad') {
      refuse(name, `${metrics}: ${read.why}`);
      return null;
    }
    refused.delete(name);
    const who = labelsIn(read.exported);
    if (who !== null) labels.set(name, who);
    const isOld = Math.abs(clock.now() - at.ctimeMs) > OLD_AFTER_MS;
    return isOld || hasEnded(pid) ? null : read.exported;
  }

  /** Its process has put its name away, or was killed. To try its lock could keep another from starting. */
  function hasEnded(path: string): boolean {
    const bytes = readPrivate(disk, path, 32);
    const pid = Number(bytes === null ? '' : Buffer.from(bytes).toString('utf8').trim());
    return !Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid);
  }

  function refuse(name: string, why: string): void {
    if (refused.get(name) !== why) log.warn(`prism: what ${name} exports is left out: ${why}`);
    refused.set(name, why);
  }

  return {
    of(config, places) {
      const { tenant, identity, surface } = config;
      const of = { tenant_id: tenant, agent_identity: identity };
      const gone = (): Exported =>
        goneSamples(
          labels.get(places.name) ?? { ...of, agent_surface: labelValue(surface), machine_id: labelValue(machineId) },
        );
      try {
        return exportedOf(config, places) ?? gone();
      } catch (error) {
        refuse(places.name, faultOf(error, { is: 'persona', key: places.name }).message);
        return gone();
      }
    },
    forget(name) {
      labels.delete(name);
      refused.delete(name);
    },
  };
}
