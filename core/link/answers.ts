import { objectIn } from './request.ts';
import { type DaemonStatus, ERROR_CLASSES, type RingAnswer, type RingWhy } from './words.ts';

/** What is answered to each verb. */
export interface Answers {
  readonly status: DaemonStatus;
  readonly notify_surface: RingAnswer;
  readonly resume_surface: null;
  readonly shutdown: null;
}

/** Why a request was not done. */
export const REFUSALS = ['unknown_verb', 'ipc_auth_failed', 'bad_request', 'surface_unavailable'] as const;
export type Refusal = (typeof REFUSALS)[number];

/** One line of the server, read. `bad`: not what this version answers. */
export type Told =
  | { readonly is: 'good'; readonly payload: Readonly<Record<string, unknown>> }
  | { readonly is: 'refused'; readonly error: Refusal; readonly message: string }
  | { readonly is: 'bad' };

export function answerLine(payload: object): string {
  return `${JSON.stringify({ ok: true, ...payload })}\n`;
}

export function refusalLine(error: Refusal, message: string): string {
  return `${JSON.stringify({ ok: false, error, message })}\n`;
}

export function toldIn(line: string): Told {
  const { ok, error: said, message, ...payload } = objectIn(line) ?? {};
  if (ok === true) return { is: 'good', payload };
  const error = REFUSALS.find((one) => one === said);
  if (ok !== false || error === undefined || typeof message !== 'string') return { is: 'bad' };
  return { is: 'refused', error, message };
}

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const flag: Check = (value) => typeof value === 'boolean';
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const among =
  (words: readonly string[]): Check =>
  (value) =>
    words.some((one) => one === value);
const shape =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) => {
    if (typeof value !== 'object' || value === null) return false;
    const said: Readonly<Record<string, unknown>> = { ...value };
    return Object.entries(checks).every(([key, check]) => check(said[key]));
  };
const list =
  (check: Check): Check =>
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
} satisfies Record<keyof DaemonStatus, Check>;

const isStatus = shape(STATUS);

const WHYS = [
  ...(['rung', 'queued', 'disconnected', 'reconciling', 'emitting', 'nothing_pending'] as const),
  ...(['outstanding', 'duplicate_boundary', 'surface_inject_failed', 'stopping'] as const),
] satisfies readonly RingWhy[];

/** A status as a daemon answers it; null: another version's, or none. */
export function statusIn(payload: Readonly<Record<string, unknown>>): DaemonStatus | null {
  return isStatus(payload) ? (payload as unknown as DaemonStatus) : null;
}

export function ringIn({ emitted, why }: Readonly<Record<string, unknown>>): RingAnswer | null {
  const known = WHYS.find((one) => one === why);
  return typeof emitted === 'boolean' && known !== undefined ? { emitted, why: known } : null;
}
