import { type DaemonConfig, type DaemonPlaces, ERROR_CLASSES } from '../../link/index.ts';
import { toFault } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import { type Disk, readPrivate } from '../../state/index.ts';

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
interface MetricsReader {
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
    if (refused.get(name) !== why) log.warn(`daemon: the metrics of ${name} are left out: ${why}`);
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

/**
 * The daemon that a series is about. A series has these four labels and only one more, the class of an error (persona daemon,
 * contract 6).
 */
interface DaemonLabels {
  readonly tenant_id: string;
  readonly agent_identity: string;
  readonly agent_surface: string;
  readonly machine_id: string;
}

interface DaemonExportSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type ExportMetricName = (typeof METRICS)[number]['name'];

export interface DaemonMetric {
  readonly name: ExportMetricName;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly DaemonExportSample[];
}

/** What one daemon exported, by metric name. */
type DaemonExport = ReadonlyMap<string, readonly DaemonExportSample[]>;

const LABELS = ['agent_identity', 'agent_surface', 'machine_id', 'tenant_id'] as const;
const UP = 'daemon_up';
/** The six metrics, in the order of the contract. */
const METRICS = [
  { name: UP, isByClass: false, help: '1: the daemon process is healthy; 0: it is gone.' },
  { name: 'daemon_heartbeat_age_seconds', isByClass: false, help: 'Age of the last heartbeat the daemon sent.' },
  {
    name: 'daemon_drain_age_seconds',
    isByClass: false,
    help: 'Age of the last drain the daemon saw, or of its start.',
  },
  { name: 'daemon_signal_queue_depth', isByClass: false, help: 'Pending signals that the daemon knows of.' },
  { name: 'daemon_errors_total', isByClass: true, help: 'Errors of the daemon by class.' },
  {
    name: 'daemon_last_error_timestamp_seconds',
    ...{ isByClass: true, help: 'When an error of this class was last seen; 0: never.' },
  },
] as const;

/** The whole value of a label. It allows nothing that needs escaping. */
const VALUE = '[A-Za-z0-9._-]{1,64}';
const SAMPLE = new RegExp(`^([a-z_]+)\\{((?:[a-z_]+="${VALUE}",?)+)\\} (\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)$`);
const LABEL = new RegExp(`([a-z_]+)="(${VALUE})"`, 'g');
const CLASSES: ReadonlySet<string> = new Set(ERROR_CLASSES);

/**
 * Parses the text exposition of one daemon. It must hold exactly the six metrics with the four labels, each series once, and all
 * ten error classes of two of them.
 * It must be about the `expected` daemon. Anything else is refused as a whole, with the reason.
 */
export function parseExport(
  text: string,
  expected: Pick<DaemonLabels, 'tenant_id' | 'agent_identity'>,
): { readonly is: 'good'; readonly exported: DaemonExport } | { readonly is: 'bad'; readonly why: string } {
  const samples = new Map<string, DaemonExportSample[]>(METRICS.map(({ name }) => [name, []]));
  const seriesKeys = new Set<string>();
  const labelSets = new Set<string>();
  for (const [at, line] of text.split('\n').entries()) {
    if (line === '' || /^# (HELP|TYPE) /.test(line)) continue;
    const refuse = (why: string) => ({ is: 'bad', why: `line ${at + 1}: ${why}` }) as const;
    const [, name = '', labelText = '', value = ''] = SAMPLE.exec(line) ?? [];
    const metric = METRICS.find((entry) => entry.name === name);
    if (metric === undefined) return refuse(name === '' ? 'is not a sample' : `${name} is not one of the six metrics`);
    const pairs = [...labelText.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text] as const);
    const expectedNames = metric.isByClass ? [...LABELS, 'error_class'].sort() : LABELS;
    const names = pairs.map(([label]) => label).sort();
    if (names.join() !== expectedNames.join())
      return refuse(`${name} has the labels ${names.join()}, not ${expectedNames.join()}`);
    const labels = Object.fromEntries(pairs);
    const errorClass = labels.error_class ?? '';
    if (metric.isByClass && !CLASSES.has(errorClass)) return refuse(`${errorClass} is not an error class`);
    if (labels.tenant_id !== expected.tenant_id || labels.agent_identity !== expected.agent_identity)
      return refuse(`belongs to ${labels.tenant_id}-${labels.agent_identity}`);
    if (name === UP && value !== '0' && value !== '1') return refuse(`${UP} is ${value}`);
    if (seriesKeys.has(`${name} ${errorClass}`)) return refuse(`${name} appears twice`);
    seriesKeys.add(`${name} ${errorClass}`);
    labelSets.add(LABELS.map((label) => labels[label]).join(' '));
    samples.get(name)?.push({ labels, value: Number(value) });
  }
  const missing = METRICS.find(({ name, isByClass }) => samples.get(name)?.length !== (isByClass ? CLASSES.size : 1));
  if (missing !== undefined) return { is: 'bad', why: `${missing.name} is incomplete` };
  if (labelSets.size > 1) return { is: 'bad', why: 'its series do not all belong to one surface and machine' };
  return { is: 'good', exported: samples };
}

/** The export of a dead process, which cannot report: it says only that the daemon is not up. */
export function createGoneExport(labels: DaemonLabels): DaemonExport {
  const { tenant_id, agent_identity, agent_surface, machine_id } = labels;
  return new Map([[UP, [{ labels: { tenant_id, agent_identity, agent_surface, machine_id }, value: 0 }]]]);
}

/** The labels of an export, under which the series of this daemon continues when its process is gone. */
export function findLabels(exported: DaemonExport): DaemonLabels | null {
  const labels = exported.get(UP)?.[0]?.labels;
  if (labels === undefined) return null;
  const { tenant_id = '', agent_identity = '', agent_surface = '', machine_id = '' } = labels;
  return { tenant_id, agent_identity, agent_surface, machine_id };
}

/** A key that changes when another number of signals waits, or an error came. Values that change with time alone do not count. */
export function toChangeKey(exported: DaemonExport): string {
  const getValues = (name: ExportMetricName): readonly number[] => (exported.get(name) ?? []).map(({ value }) => value);
  return [
    ...getValues('daemon_up'),
    ...getValues('daemon_signal_queue_depth'),
    ...getValues('daemon_errors_total'),
  ].join(' ');
}

/** Turns any text into a valid label value. */
function toLabelValue(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 64) || '_';
}

/** Joins the exports of all daemons into one exposition. A metric without samples is left out. */
export function mergeExports(exports: readonly DaemonExport[]): readonly DaemonMetric[] {
  return METRICS.map(({ name, help }) => ({
    ...{ name, help },
    type: name.endsWith('_total') ? ('counter' as const) : ('gauge' as const),
    samples: exports.flatMap((exported) => exported.get(name) ?? []),
  })).filter(({ samples }) => samples.length > 0);
}
