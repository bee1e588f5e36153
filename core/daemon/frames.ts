import type { Fsm, Taxonomy } from '../link/index.ts';
import { type Instant, parseJson, parseTimestamp } from '../model/index.ts';
import type { Happening } from './machine-state.ts';

/** How a daemon introduces itself when its stream opens (persona daemon, contract 2). */
export interface DaemonHello {
  readonly kind: 'daemon';
  readonly tenant_id: string;
  readonly identity: string;
  readonly surface: string;
  readonly project: string;
  readonly machine_id: string;
  readonly version: string;
  readonly proto: 1;
  /** A hint for the tools of the agent, passed on unchanged. */
  readonly autonomy?: string;
}

/** All frames that a daemon sends. */
export type DaemonFrame =
  | ({ readonly type: 'hello' } & DaemonHello)
  | {
      readonly type: 'heartbeat';
      readonly seq: number;
      readonly fsm: Fsm;
      readonly taxonomy: Taxonomy;
      readonly pending_depth: number;
      readonly drain_age_s: number;
    }
  | { readonly type: 'bye'; readonly reason: string };

/** With a longer interval nobody would know whether the daemon lives. */
const LONGEST_HEARTBEAT_MS = 60_000;

/** Parses a frame of the upstream. An unknown or incomplete frame counts only as `heard`. */
export function parseFrame(conn: number, text: string): Happening {
  const frame = parseObject(text);
  if (frame === null) return { is: 'garbled', conn };
  const heard: Happening = { is: 'heard', conn };
  const { rev } = frame;
  switch (frame.type) {
    case 'welcome': {
      const { registration_id, heartbeat_ms } = frame;
      if (typeof registration_id !== 'string' || !isCount(heartbeat_ms) || !isCount(rev)) return heard;
      const heartbeatMs = Math.min(heartbeat_ms, LONGEST_HEARTBEAT_MS);
      const [tenant, identity] = [parseText(frame.tenant_id), parseText(frame.identity)];
      return { is: 'welcome', conn, registration: registration_id, heartbeatMs, rev, tenant, identity };
    }
    case 'pending_changed':
      return isCount(rev) ? { is: 'pending_changed', conn, rev } : heard;
    case 'drained': {
      const { remaining } = frame;
      return isCount(rev) && isCount(remaining) ? { is: 'drained', conn, rev, remaining } : heard;
    }
    case 'lifecycle': {
      const { verb } = frame;
      return verb === 'wrap' || verb === 'archive' || verb === 'destroy' ? { is: 'lifecycle', conn, verb } : heard;
    }
    default:
      return heard;
  }
}

/** Parses the answer to a peek: a revision, a count and a time; other fields are ignored. Null: the answer has another shape. */
export function parsePending(
  text: string,
): { readonly rev: number; readonly count: number; readonly oldest: Instant | null } | null {
  const answer = parseObject(text);
  if (answer === null) return null;
  const { rev, count, oldest_at } = answer;
  const isTime = oldest_at === null || (typeof oldest_at === 'string' && oldest_at.length <= 64);
  if (!isCount(rev) || !isCount(count) || !isTime) return null;
  return { rev, count, oldest: oldest_at === null ? null : parseTimestamp(oldest_at) };
}

/** How long a 4429 asks to wait, in milliseconds, from the JSON in the close reason; null: it does not say. */
export function parseRetryAfter(reason: string): number | null {
  const ms = parseObject(reason)?.retry_after_ms;
  return isCount(ms) ? ms : null;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function parseText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null; // the caller decides what a text without an object means
  }
}
