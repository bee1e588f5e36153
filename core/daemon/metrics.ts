import { ERROR_CLASSES } from '../link/index.ts';
import { type Labels, labelsOf, type PersonaLabels, type Strange } from './labels.ts';
import type { MachineState } from './machine-state.ts';

/** The six names (persona daemon, contract 6). */
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

export type MetricName = keyof typeof METRICS;

export interface Sample {
  readonly name: MetricName;
  readonly labels: Labels;
  readonly value: number;
}

/** Of what is counted, 24 series a persona: all ten classes are there from the start. Ages are those of `mono`. */
export function samplesOf(
  state: MachineState,
  persona: PersonaLabels,
  mono: number,
  strange: Strange = 'throw',
): readonly Sample[] {
  const labels = (more: Readonly<Record<string, string>> = {}): Labels => labelsOf({ ...persona, ...more }, strange);
  const gauge = (name: MetricName, value: number): Sample => ({ name, labels: labels(), value });
  const byClass = (name: MetricName, value: (of: (typeof ERROR_CLASSES)[number]) => number): readonly Sample[] =>
    ERROR_CLASSES.map((one) => ({ name, labels: labels({ error_class: one }), value: value(one) }));
  return [
    gauge('daemon_up', state.stopping === null ? 1 : 0),
    gauge('daemon_heartbeat_age_seconds', heartbeatAgeS(state, mono) ?? secondsSince(state.startedMono, mono)),
    gauge('daemon_drain_age_seconds', drainAgeS(state, mono)),
    gauge('daemon_signal_queue_depth', state.index?.count ?? 0),
    ...byClass('daemon_errors_total', (one) => state.errors[one].count),
    ...byClass('daemon_last_error_timestamp_seconds', (one) => (state.errors[one].at ?? 0) / 1000),
  ];
}

/** The text exposition format, version 0.0.4. Samples of one name stand together, whoever they are of. */
export function exposition(samples: readonly Sample[]): string {
  return (Object.keys(METRICS) as MetricName[])
    .map((name) => {
      const { type, help } = METRICS[name];
      const lines = samples.filter((sample) => sample.name === name).map(line);
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
    })
    .join('');
}

/** Seconds since the stream last took a heartbeat; null: it took none yet. */
export function heartbeatAgeS({ heartbeat }: MachineState, mono: number): number | null {
  return heartbeat.sentMono === null ? null : secondsSince(heartbeat.sentMono, mono);
}

/** Seconds since the surface last drained; before it did, since the start. */
export function drainAgeS({ drained, startedMono }: MachineState, mono: number): number {
  return secondsSince(drained?.mono ?? startedMono, mono);
}

export function secondsSince(since: number, mono: number): number {
  return Math.max(0, Math.round(mono - since) / 1000);
}

function line({ name, labels, value }: Sample): string {
  const inside = labels.map(([label, of]) => `${label}="${escaped(of)}"`).join(',');
  return `${name}{${inside}} ${value}`;
}

function escaped(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
