import type { DaemonConfig, DaemonPlaces } from '../../link/index.ts';
import { toFault } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { type Disk, readPrivate } from '../../state/index.ts';
import {
  createGoneExport,
  type DaemonExport,
  type DaemonLabels,
  findLabels,
  parseExport,
  toLabelValue,
} from './metrics.ts';

/** The twenty-four series of one daemon take about 5 KB. */
const MOST_BYTES = 64 * 1024;
/** A daemon writes its file every 10 s, so an older file was left behind (persona daemon, contract 6). */
const OLD_AFTER_MS = 30_000;

export interface MetricsReaderOptions {
  readonly machineId: string;
  readonly isAlive: (pid: number) => boolean;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reads the metrics that daemons export into files. */
export interface MetricsReader {
  /** What the file of one daemon holds, or `daemon_up 0` when the daemon is not up. */
  read(config: DaemonConfig, places: DaemonPlaces): DaemonExport;
  forget(name: string): void;
}

export function createMetricsReader({ machineId, isAlive, disk, clock, log }: MetricsReaderOptions): MetricsReader {
  /** The labels of each daemon's last export, by name. */
  const labels = new Map<string, DaemonLabels>();
  const refused = new Map<string, string>();

  function readExport({ tenant, identity }: DaemonConfig, { name, metrics, pid }: DaemonPlaces): DaemonExport | null {
    const at = disk.files.lstat(metrics);
    if (at === null) return null;
    const bytes = readPrivate(disk, metrics, MOST_BYTES);
    if (bytes === null) return null;
    const text = Buffer.from(bytes).toString('utf8');
    const parsed =
      bytes.length > MOST_BYTES
        ? ({ is: 'bad', why: `is longer than ${MOST_BYTES} bytes` } as const)
        : parseExport(text, { tenant_id: tenant, agent_identity: identity });
    if (parsed.is === 'bad') {
      refuse(name, `${metrics}: ${parsed.why}`);
      return null;
    }
    refused.delete(name);
    const exportedLabels = findLabels(parsed.exported);
    if (exportedLabels !== null) labels.set(name, exportedLabels);
    const isOld = Math.abs(clock.now() - at.ctimeMs) > OLD_AFTER_MS;
    return isOld || hasEnded(pid) ? null : parsed.exported;
  }

  /** True when the process removed its pid file, or was killed. Trying its lock could keep another process from starting. */
  function hasEnded(path: string): boolean {
    const bytes = readPrivate(disk, path, 32);
    const pid = Number(bytes === null ? '' : Buffer.from(bytes).toString('utf8').trim());
    return !Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid);
  }

  function refuse(name: string, why: string): void {
    if (refused.get(name) !== why) log.warn(`daemon: what ${name} exports is left out: ${why}`);
    refused.set(name, why);
  }

  return {
    read(config, places) {
      const { tenant, identity, surface } = config;
      const identityLabels = { tenant_id: tenant, agent_identity: identity };
      const buildGoneExport = (): DaemonExport =>
        createGoneExport(
          labels.get(places.name) ?? {
            ...identityLabels,
            agent_surface: toLabelValue(surface),
            machine_id: toLabelValue(machineId),
          },
        );
      try {
        return readExport(config, places) ?? buildGoneExport();
      } catch (error) {
        refuse(places.name, toFault(error, { is: 'persona', key: places.name }).message);
        return buildGoneExport();
      }
    },
    forget(name) {
      labels.delete(name);
      refused.delete(name);
    },
  };
}
