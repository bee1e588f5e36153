import type { Joiner, PeerChange, PeerHeartbeat, SignalChange } from '../../core/inbox/signals/index.ts';
import { parseJson } from '../../core/model/index.ts';

/** The subprotocol of the session stream (persona daemon, contract 2). */
export const SUBPROTOCOL = 'signals.v1';
/** How often a connected client sends a heartbeat, in milliseconds. */
export const HEARTBEAT_MS = 15_000;

/** The frames that a client sends. Times and ages are by the client's clock. */
export type SessionClientFrame =
  | { readonly is: 'hello'; readonly kind: string; readonly joiner: Omit<Joiner, 'address' | 'kind'> }
  | { readonly is: 'heartbeat'; readonly heartbeat: Omit<PeerHeartbeat, 'at'> }
  | { readonly is: 'bye'; readonly reason: string }
  /** A frame type of a later version. It is ignored. */
  | { readonly is: 'unknown' }
  /** A hello of another protocol version, or no valid hello at all. */
  | { readonly is: 'bad'; readonly why: string };

export type SessionServerFrame =
  | {
      readonly is: 'welcome';
      readonly registration_id: string;
      readonly heartbeat_ms: number;
      readonly rev: number;
      readonly tenant_id: string;
      readonly identity: string;
    }
  | SignalChange
  | PeerChange;

/** The longest text in a hello, in characters. */
const LONGEST = 1024;

/** Parses one frame. @throws SyntaxError when it is not JSON */
export function parseClientFrame(text: string): SessionClientFrame {
  const frame: unknown = parseJson(text);
  if (frame === null || typeof frame !== 'object' || Array.isArray(frame)) return { is: 'unknown' };
  const fields = frame as Readonly<Record<string, unknown>>;
  switch (fields.type) {
    case 'hello':
      return parseHello(fields);
    case 'heartbeat':
      return { is: 'heartbeat', heartbeat: parseHeartbeat(fields) };
    case 'bye':
      return { is: 'bye', reason: parseText(fields.reason) ?? '' };
    default:
      return { is: 'unknown' };
  }
}

function parseHello(fields: Readonly<Record<string, unknown>>): SessionClientFrame {
  if (fields.proto !== 1) return { is: 'bad', why: 'proto 1 is spoken here' };
  const [tenant, identity, surface, project, machine, version] = [
    ...[fields.tenant_id, fields.identity, fields.surface, fields.project, fields.machine_id, fields.version].map(
      parseText,
    ),
  ];
  if (!tenant || !identity || !surface) return { is: 'bad', why: 'hello needs tenant_id, identity and surface' };
  const joiner = { tenant, identity, surface, project: project ?? '', machine: machine ?? '', version: version ?? '' };
  return { is: 'hello', kind: parseText(fields.kind) ?? '', joiner };
}

function parseHeartbeat(fields: Readonly<Record<string, unknown>>): Omit<PeerHeartbeat, 'at'> {
  return {
    seq: parseNumber(fields.seq),
    fsm: parseText(fields.fsm) ?? '',
    taxonomy: parseText(fields.taxonomy) ?? '',
    pendingDepth: parseNumber(fields.pending_depth),
    drainAge: parseNumber(fields.drain_age_s),
  };
}

function parseText(value: unknown): string | null {
  return typeof value === 'string' && value.length <= LONGEST ? value : null;
}

function parseNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** Formats a frame for sending. */
export function formatFrame({ is: type, ...fields }: SessionServerFrame): string {
  return JSON.stringify({ type, ...fields });
}
