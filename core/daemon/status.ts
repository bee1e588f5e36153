import { type DaemonStatus, ERROR_CLASSES, type Fsm, type Taxonomy } from '../link/index.ts';
import { formatIso } from '../model/index.ts';
import type { MachineState, Now } from './machine-state.ts';

/** What is known of a daemon besides the state of its machine. */
export interface DaemonFacts {
  readonly pid: number;
  readonly version: string;
  readonly tenant: string;
  readonly identity: string;
  readonly surface: string;
  readonly project: string;
  readonly machineId: string;
  readonly shim: DaemonStatus['shim'];
  /** Whether the surface was alive at its last probe; null: it was not asked yet. */
  readonly surfaceAlive: boolean | null;
}

type MonoTime = Pick<Now, 'mono'>;

/** The answer to `status` (persona daemon, contract 4). Ages are those at the moment of the question. */
export function toDaemonStatus(
  state: MachineState,
  facts: DaemonFacts,
  { mono }: MonoTime,
  strange: UnknownLabelPolicy = 'throw',
): DaemonStatus {
  const { link, index } = state;
  return {
    pid: facts.pid,
    version: facts.version,
    uptime_s: countSecondsSince(state.startedMono, mono),
    tenant_id: facts.tenant,
    identity: facts.identity,
    surface: facts.surface,
    project: facts.project,
    fsm: state.fsm,
    taxonomy: toTaxonomy(state, facts.shim.state, mono),
    degraded: facts.surfaceAlive === false ? 'surface_unavailable' : null,
    ws: {
      connected: link.is === 'up',
      since: link.is === 'up' ? formatIso(link.since) : null,
      attempts: state.attempts,
    },
    shim: facts.shim,
    heartbeat_age_s: computeHeartbeatAgeS(state, mono),
    drain_age_s: computeDrainAgeS(state, mono),
    pending: { count: index?.count ?? 0, rev: index?.rev ?? null, fresh: index?.is === 'fresh' },
    outstanding: state.outstanding?.rev ?? null,
    last_error_class: state.lastError,
    transitions: state.transitions,
    metrics: formatMetrics(state, facts, { mono }, strange),
  };
}

/** Formats the metrics that are written every 10 s. */
export function formatMetrics(
  state: MachineState,
  facts: DaemonFacts,
  { mono }: MonoTime,
  strange: UnknownLabelPolicy = 'throw',
): string {
  const persona = {
    tenant_id: facts.tenant,
    agent_identity: facts.identity,
    agent_surface: facts.surface,
    machine_id: facts.machineId,
  };
  return formatExposition(collectSamples(state, persona, mono, strange));
}

/** The content of a heartbeat (contract 2). */
export function toHeartbeat(
  state: MachineState,
  shim: DaemonStatus['shim']['state'],
  { mono }: MonoTime,
): { readonly fsm: Fsm; readonly taxonomy: Taxonomy; readonly pending_depth: number; readonly drain_age_s: number } {
  return {
    fsm: state.fsm,
    taxonomy: toTaxonomy(state, shim, mono),
    pending_depth: state.index?.count ?? 0,
    drain_age_s: computeDrainAgeS(state, mono),
  };
}

/** An agent that did something within this time counts as running. */
const ACTIVE_MS = 60_000;

/** The state of a daemon as a person sees it: the first that fits (persona daemon, contract 5). */
export function toTaxonomy(state: MachineState, shim: DaemonStatus['shim']['state'], mono: number): Taxonomy {
  const { fsm, link, turn, activeMono, stopping } = state;
  const isRefused = link.is !== 'up' && link.auth;
  if (stopping?.exit === 78 || isRefused || shim === 'failed') return 'failed';
  if (shim === 'backoff' || fsm === 'DISCONNECTED' || fsm === 'RECONCILING') return 'restarting';
  const isActive = activeMono !== null && mono - activeMono < ACTIVE_MS;
  return turn.is === 'open' || fsm === 'EMITTING' || isActive ? 'running' : 'sleeping';
}

/** The labels of every series of a daemon, in this order (persona daemon, contract 6). */
export interface PersonaLabels {
  readonly tenant_id: string;
  readonly agent_identity: string;
  readonly agent_surface: string;
  readonly machine_id: string;
}

type LabelName = keyof PersonaLabels | 'error_class';
type Labels = readonly (readonly [LabelName, string])[];

const NAMES: readonly LabelName[] = ['tenant_id', 'agent_identity', 'agent_surface', 'machine_id', 'error_class'];
const LONGEST = 64;

/**
 * What happens to an unknown label. Above all `session_id` is unknown, because each of its values would be a series of its own.
 * Tests throw; production drops the label and reports it, so that it is counted.
 */
type UnknownLabelPolicy = 'throw' | ((name: string) => void);

/**
 * The labels of a series, in the order of the contract.
 * @throws RangeError for an unknown label, if `strange` is `throw`
 */
export function toLabels(values: Readonly<Record<string, string>>, strange: UnknownLabelPolicy): Labels {
  for (const name of Object.keys(values)) {
    if (isLabel(name)) continue;
    if (strange === 'throw') throw new RangeError(`unknown daemon label ${name}: use ${NAMES.join(', ')}`);
    strange(name);
  }
  return NAMES.flatMap((name) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? [] : [[name, toLabelValue(value)] as const];
  });
}

/** Makes a label value: 1 to 64 characters of `[A-Za-z0-9._-]`. It is never empty, because an empty value means no label. */
export function toLabelValue(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, LONGEST) || '_';
}

function isLabel(name: string): name is LabelName {
  return NAMES.some((known) => known === name);
}

/** Why a surface has its status; a bounded list, so that it can be part of a status. */
export const DETAIL_CLASSES = [
  'ready',
  'waiting_hook',
  'between_hooks',
  'no_shim',
  'shim_backoff',
  'shim_failed',
  'no_answer',
  'busy',
  'no_desktop',
] as const;
export type DetailClass = (typeof DETAIL_CLASSES)[number];

/** The status of a surface, as it reports it (persona daemon, contract 5). */
export interface SurfaceStatus {
  /** Whether the surface is there; false raises `surface_unavailable`. */
  readonly alive: boolean;
  /** Whether the surface would take a doorbell now. */
  readonly accepting: boolean;
  readonly detail_class: DetailClass;
}

/** A surface that does not answer within this time, in milliseconds, counts as not answering. */
export const STATUS_WITHIN_MS = 1000;

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

type DaemonMetricName = keyof typeof METRICS;

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
function computeHeartbeatAgeS({ heartbeat }: MachineState, mono: number): number | null {
  return heartbeat.sentMono === null ? null : countSecondsSince(heartbeat.sentMono, mono);
}

/** Seconds since the surface last drained, or since the start if it did not. */
function computeDrainAgeS({ drained, startedMono }: MachineState, mono: number): number {
  return countSecondsSince(drained?.mono ?? startedMono, mono);
}

function countSecondsSince(since: number, mono: number): number {
  return Math.max(0, Math.round(mono - since) / 1000);
}

function formatSample({ name, labels, value }: DaemonMetricSample): string {
  const inside = labels.map(([label, labelText]) => `${label}="${escapeLabel(labelText)}"`).join(',');
  return `${name}{${inside}} ${value}`;
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
