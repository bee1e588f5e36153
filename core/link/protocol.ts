import { parseJson } from '../model/index.ts';

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

/** The answer to each verb. */
export interface Answers {
  readonly status: DaemonStatus;
  readonly notify_surface: RingAnswer;
  readonly resume_surface: null;
  readonly shutdown: null;
}

/** Why a daemon refused a request. */
const REFUSALS = ['unknown_verb', 'ipc_auth_failed', 'bad_request', 'surface_unavailable'] as const;
export type LinkRefusal = (typeof REFUSALS)[number];

/** One parsed line of the daemon. `bad`: not an answer of this protocol version. */
type AnswerParseResult =
  | { readonly is: 'good'; readonly payload: Readonly<Record<string, unknown>> }
  | { readonly is: 'refused'; readonly error: LinkRefusal; readonly message: string }
  | { readonly is: 'bad' };

export function formatAnswerLine(payload: object): string {
  return `${JSON.stringify({ ok: true, ...payload })}\n`;
}

export function formatRefusalLine(error: LinkRefusal, message: string): string {
  return `${JSON.stringify({ ok: false, error, message })}\n`;
}

export function parseAnswerLine(line: string): AnswerParseResult {
  const { ok, error: code, message, ...payload } = parseObject(line) ?? {};
  if (ok === true) return { is: 'good', payload };
  const error = REFUSALS.find((refusal) => refusal === code);
  if (ok !== false || error === undefined || typeof message !== 'string') return { is: 'bad' };
  return { is: 'refused', error, message };
}

type ValueCheck = (value: unknown) => boolean;

const text: ValueCheck = (value) => typeof value === 'string';
const number: ValueCheck = (value) => typeof value === 'number' && Number.isFinite(value);
const flag: ValueCheck = (value) => typeof value === 'boolean';
const orNull =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    value === null || check(value);
const among =
  (words: readonly string[]): ValueCheck =>
  (value) =>
    words.some((word) => word === value);
const shape =
  (checks: Readonly<Record<string, ValueCheck>>): ValueCheck =>
  (value) => {
    if (typeof value !== 'object' || value === null) return false;
    const fields: Readonly<Record<string, unknown>> = { ...value };
    return Object.entries(checks).every(([key, check]) => check(fields[key]));
  };
const list =
  (check: ValueCheck): ValueCheck =>
  (value) =>
    Array.isArray(value) && value.every(check);

const fsm = among(['DISCONNECTED', 'RECONCILING', 'CONNECTED', 'EMITTING'] satisfies readonly DaemonStatus['fsm'][]);

const STATUS = {
  pid: number,
  version: text,
  uptime_s: number,
  tenant_id: text,
  identity: text,
  surface: text,
  project: text,
  fsm,
  taxonomy: among(['running', 'sleeping', 'restarting', 'failed'] satisfies readonly DaemonStatus['taxonomy'][]),
  degraded: orNull(among(['surface_unavailable'])),
  ws: shape({ connected: flag, since: orNull(text), attempts: number }),
  shim: shape({ state: among(['none', 'running', 'backoff', 'failed']), pid: orNull(number), restarts: number }),
  heartbeat_age_s: orNull(number),
  drain_age_s: number,
  pending: shape({ count: number, rev: orNull(number), fresh: flag }),
  outstanding: orNull(number),
  last_error_class: orNull(among(ERROR_CLASSES)),
  transitions: list(shape({ at: text, from: fsm, to: fsm, why: text })),
  metrics: text,
} satisfies Record<keyof DaemonStatus, ValueCheck>;

const isStatus = shape(STATUS);

const WHYS = [
  ...(['rung', 'queued', 'disconnected', 'reconciling', 'emitting', 'nothing_pending'] as const),
  ...(['outstanding', 'duplicate_boundary', 'surface_inject_failed', 'stopping'] as const),
] satisfies readonly RingWhy[];

/** Parses a status as a daemon sends it; null: it is not a status, or another version sent it. */
export function parseStatus(payload: Readonly<Record<string, unknown>>): DaemonStatus | null {
  return isStatus(payload) ? (payload as unknown as DaemonStatus) : null;
}

export function parseRingAnswer({ emitted, why }: Readonly<Record<string, unknown>>): RingAnswer | null {
  const known = WHYS.find((ringWhy) => ringWhy === why);
  return typeof emitted === 'boolean' && known !== undefined ? { emitted, why: known } : null;
}

/** The version of the line protocol. */
const PROTOCOL = 1;
/** The longest shutdown deadline, in milliseconds (the bound of the seed): by then a daemon has ended, or is killed. */
export const MOST_DEADLINE_MS = 5000;

const LONGEST_NAME = 512;

export type LinkRequest =
  | { readonly verb: 'status' }
  /** Null: a person asks, and the ring waits for the next turn boundary. */
  | { readonly verb: 'notify_surface'; readonly boundary: TurnBoundary | null }
  | { readonly verb: 'resume_surface' }
  | { readonly verb: 'shutdown'; readonly reason: string; readonly deadlineMs: number };

/** One parsed line. */
type RequestParseResult =
  | { readonly is: 'request'; readonly request: LinkRequest }
  | { readonly is: 'unknown-verb' }
  | { readonly is: 'bad-request'; readonly why: string }
  /** Not a JSON object, or a wrong token: the connection is closed. */
  | { readonly is: 'stranger' };

/** Formats a request as one line. */
export function formatRequestLine(request: LinkRequest, token: string): string {
  const head = { v: PROTOCOL, token, verb: request.verb };
  const details =
    request.verb === 'notify_surface' && request.boundary !== null
      ? { boundary: request.boundary }
      : request.verb === 'shutdown'
        ? { reason: request.reason, deadline_ms: request.deadlineMs }
        : {};
  return `${JSON.stringify({ ...head, ...details })}\n`;
}

/**
 * Parses a line (persona daemon, contract 4). No part of the line is ever sent back.
 *
 * @param isToken compares in constant time
 * @param isKnown this connection has already shown the token, so the line may omit it
 */
export function parseRequestLine(
  line: string,
  isToken: (candidate: string) => boolean,
  isKnown: boolean,
): RequestParseResult {
  const fields = parseObject(line);
  if (fields === null) return { is: 'stranger' };
  const { token } = fields;
  const mayPass = token === undefined ? isKnown : typeof token === 'string' && isToken(token);
  if (!mayPass) return { is: 'stranger' };
  if (fields.v !== PROTOCOL) return { is: 'bad-request', why: `v must be ${PROTOCOL}` };
  const verb = VERBS.find((known) => known === fields.verb);
  return verb === undefined ? { is: 'unknown-verb' } : parseRequest(verb, fields);
}

function parseRequest(verb: LinkVerb, fields: Readonly<Record<string, unknown>>): RequestParseResult {
  switch (verb) {
    case 'status':
    case 'resume_surface':
      return { is: 'request', request: { verb } };
    case 'notify_surface': {
      if (fields.boundary === undefined) return { is: 'request', request: { verb, boundary: null } };
      const turnBoundary = parseTurnBoundary(fields.boundary);
      if (turnBoundary !== null) return { is: 'request', request: { verb, boundary: turnBoundary } };
      return { is: 'bad-request', why: `boundary must be {kind: ${TURN_BOUNDARY_KINDS.join('|')}, session, turn}` };
    }
    case 'shutdown': {
      const { reason = '', deadline_ms: deadlineMs = MOST_DEADLINE_MS } = fields;
      if (typeof reason !== 'string' || reason.length > LONGEST_NAME) {
        return { is: 'bad-request', why: `reason must be a text of at most ${LONGEST_NAME} characters` };
      }
      if (typeof deadlineMs !== 'number' || !(deadlineMs >= 0 && deadlineMs <= MOST_DEADLINE_MS)) {
        return { is: 'bad-request', why: `deadline_ms must be 0 to ${MOST_DEADLINE_MS}` };
      }
      return { is: 'request', request: { verb, reason, deadlineMs } };
    }
  }
}

function parseTurnBoundary(value: unknown): TurnBoundary | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const { session, turn = null } = fields;
  const kind = TURN_BOUNDARY_KINDS.find((known) => known === fields.kind);
  if (kind === undefined || !isName(session)) return null;
  return turn === null || isName(turn) ? { kind, session, turn } : null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_NAME;
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null; // the caller treats it as a line of another protocol
  }
}
