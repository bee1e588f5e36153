import { type DaemonStatus, ERROR_CLASSES, type RingAnswer, type RingWhy } from './protocol.ts';
import { parseObject } from './request.ts';

/** The answer to each verb. */
export interface Answers {
  readonly status: DaemonStatus;
  readonly notify_surface: RingAnswer;
  readonly resume_surface: null;
  readonly shutdown: null;
}

/** Why a daemon refused a request. */
export const REFUSALS = ['unknown_verb', 'ipc_auth_failed', 'bad_request', 'surface_unavailable'] as const;
export type LinkRefusal = (typeof REFUSALS)[number];

/** One parsed line of the daemon. `bad`: not an answer of this protocol version. */
export type AnswerParseResult =
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
