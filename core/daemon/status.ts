import type { DaemonStatus, Fsm, Taxonomy } from '../link/index.ts';
import { formatIso } from '../model/index.ts';
import type { UnknownLabelPolicy } from './labels.ts';
import type { MachineState, Now } from './machine-state.ts';
import {
  collectSamples,
  computeDrainAgeS,
  computeHeartbeatAgeS,
  countSecondsSince,
  formatExposition,
} from './metrics.ts';
import { toTaxonomy } from './taxonomy.ts';

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
