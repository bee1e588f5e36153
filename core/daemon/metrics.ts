import { ERROR_CLASSES } from '../link/index.ts';
import { type Labels, type PersonaLabels, toLabels, type UnknownLabelPolicy } from './labels.ts';
import type { MachineState } from './machine-state.ts';

/** The six metrics (persona daemon, contract 6). */
export const METRICS = {
  daemon_up: { type: 'gauge', help: '1 when the daemon process is healthy.' },
  daemon_heartbeat_age_seconds: {
    type: 'gauge',
    help: 'Age of the last daemon heartbeat; before the first, of the daemon.',
  },
  daemon_drain_age_seconds: {
    type: 'gauge',
    help: 'Age of the last successful agent-visible drain; before the first, of the daemon.',
  },
  daemon_signal_queue_depth: {
    type: 'gauge',
    help: 'Local view of the pending-work depth, of the last time it was known.',
  },
  daemon_errors_total: { type: 'counter', help: 'Errors by bounded class.' },
  daemon_last_error_timestamp_seconds: { type: 'gauge', help: 'When an error of the class was last seen; 0: never.' },
} as const satisfies Record<string, { readonly type: 'gauge' | 'counter'; readonly help: string }>;

export type DaemonMetricName = keyof typeof METRICS;

export interface DaemonMetricSample {
  readonly name: DaemonMetricName;
  readonly labels: Labels;
  readonly value: number;
}

/** Collects 24 series per persona: all ten classes are present from the start. Ages are measured with `mono`. */
export function collectSamples(
  state: MachineState,
  persona: PersonaLabels,
  mono: number,
  strange: UnknownLabelPolicy = 'throw',
): readonly DaemonMetricSample[] {
  const labels = (extra: Readonly<Record<string, string>> = {}): Labels => toLabels({ ...persona, ...extra }, strange);
  const gauge = (name: DaemonMetricName, value: number): DaemonMetricSample => ({ name, labels: labels(), value });
  const byClass = (
    name: DaemonMetricName,
    value: (errorClass: (typeof ERROR_CLASSES)[number]) => number,
  ): readonly DaemonMetricSample[] =>
    ERROR_CLASSES.map((errorClass) => ({
      name,
      labels: labels({ error_class: errorClass }),
      value: value(errorClass),
    }));
  return [
    gauge('daemon_up', state.stopping === null ? 1 : 0),
    gauge(
      'daemon_heartbeat_age_seconds',
      computeHeartbeatAgeS(state, mono) ?? countSecondsSince(state.startedMono, mono),
    ),
    gauge('daemon_drain_age_seconds', computeDrainAgeS(state, mono)),
    gauge('daemon_signal_queue_depth', state.index?.count ?? 0),
    ...byClass('daemon_errors_total', (errorClass) => state.errors[errorClass].count),
    ...byClass('daemon_last_error_timestamp_seconds', (errorClass) => (state.errors[errorClass].at ?? 0) / 1000),
  ];
}

/** Formats the text exposition format, version 0.0.4. Samples of one name stand together, for all personas. */
export function formatExposition(samples: readonly DaemonMetricSample[]): string {
  return (Object.keys(METRICS) as DaemonMetricName[])
    .map((name) => {
      const { type, help } = METRICS[name];
      const lines = samples.filter((sample) => sample.name === name).map(formatSample);
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
    })
    .join('');
}

/** Seconds since the stream last took a heartbeat; null: it took none yet. */
export function computeHeartbeatAgeS({ heartbeat }: MachineState, mono: number): number | null {
  return heartbeat.sentMono === null ? null : countSecondsSince(heartbeat.sentMono, mono);
}

/** Seconds since the surface last drained, or since the start if it did not. */
export function computeDrainAgeS({ drained, startedMono }: MachineState, mono: number): number {
  return countSecondsSince(drained?.mono ?? startedMono, mono);
}

export function countSecondsSince(since: number, mono: number): number {
  return Math.max(0, Math.round(mono - since) / 1000);
}

function formatSample({ name, labels, value }: DaemonMetricSample): string {
  const inside = labels.map(([label, labelText]) => `${label}="${escapeLabel(labelText)}"`).join(',');
  return `${name}{${inside}} ${value}`;
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
