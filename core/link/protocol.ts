/** All requests that a daemon accepts (persona daemon, contract 4). */
export const VERBS = ['status', 'notify_surface', 'resume_surface', 'shutdown'] as const;
export type LinkVerb = (typeof VERBS)[number];

/** The four states of the stream (persona daemon, contract 3). */
export type Fsm = 'DISCONNECTED' | 'RECONCILING' | 'CONNECTED' | 'EMITTING';

/** The state of a daemon as a person sees it (persona daemon, contract 5). */
export type Taxonomy = 'running' | 'sleeping' | 'restarting' | 'failed';

/** Every failure has one of these classes, in metrics and logs (persona daemon, contract 6). */
export const ERROR_CLASSES = [
  'ws_connect_failed',
  'ws_stream_stalled',
  'pending_reconcile_failed',
  'surface_unavailable',
  'surface_inject_failed',
  'ipc_bind_failed',
  'ipc_auth_failed',
  'heartbeat_publish_failed',
  'config_invalid',
  'unclassified',
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/** What the harness reports when a turn of its agent begins or ends (persona daemon, contract 4). */
export const TURN_BOUNDARY_KINDS = ['SessionStart', 'UserPromptSubmit', 'Stop', 'agent-turn-complete'] as const;
export type TurnBoundaryKind = (typeof TURN_BOUNDARY_KINDS)[number];

/** One moment between two turns. Two reports with the same three fields are the same moment, reported twice. */
export interface TurnBoundary {
  readonly kind: TurnBoundaryKind;
  readonly session: string;
  /** The harness's name for the turn; null: the harness gave none. */
  readonly turn: string | null;
}

export type RingWhy =
  | 'rung'
  /** The request named no boundary, so the ring waits for the next one. */
  | 'queued'
  | 'disconnected'
  | 'reconciling'
  | 'emitting'
  | 'nothing_pending'
  | 'outstanding'
  | 'duplicate_boundary'
  | 'surface_inject_failed'
  | 'stopping';

export interface RingAnswer {
  readonly emitted: boolean;
  readonly why: RingWhy;
}

/** All that a surface ever receives. */
export interface Doorbell {
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly source: 'daemon';
  readonly kind: 'pending_work_notice';
}

/** The answer to `status`; ages in seconds, times as ISO 8601. */
export interface DaemonStatus {
  readonly pid: number;
  readonly version: string;
  readonly uptime_s: number;
  readonly tenant_id: string;
  readonly identity: string;
  readonly surface: string;
  readonly project: string;
  readonly fsm: Fsm;
  readonly taxonomy: Taxonomy;
  readonly degraded: 'surface_unavailable' | null;
  readonly ws: { readonly connected: boolean; readonly since: string | null; readonly attempts: number };
  readonly shim: {
    readonly state: 'none' | 'running' | 'backoff' | 'failed';
    readonly pid: number | null;
    readonly restarts: number;
  };
  /** Age of the last heartbeat sent, over any connection; null: none was sent yet. */
  readonly heartbeat_age_s: number | null;
  readonly drain_age_s: number;
  /** `fresh` is false while nothing is known of the upstream. */
  readonly pending: { readonly count: number; readonly rev: number | null; readonly fresh: boolean };
  /** The revision that was rung for and is not drained yet; null: none. */
  readonly outstanding: number | null;
  readonly last_error_class: ErrorClass | null;
  /** The last 64 transitions, oldest first. */
  readonly transitions: readonly Transition[];
  /** Metrics in the text exposition format. */
  readonly metrics: string;
}

export interface Transition {
  readonly at: string;
  readonly from: Fsm;
  readonly to: Fsm;
  readonly why: string;
}
