import type { Heartbeat, Joiner, PeerChange, SignalChange } from '../../core/inbox/signals/index.ts';
import { parseJson } from '../../core/model/index.ts';

/** The subprotocol of the session stream (persona daemon, contract 2). */
export const SUBPROTOCOL = 'signals.v1';
/** How often one says that it lives. */
export const HEARTBEAT_MS = 15_000;

/** What one that is connected says; times and ages as it has them. */
export type ClientFrame =
  | { readonly is: 'hello'; readonly kind: string; readonly joiner: Omit<Joiner, 'address' | 'kind'> }
  | { readonly is: 'heartbeat'; readonly heartbeat: Omit<Heartbeat, 'at'> }
  | { readonly is: 'bye'; readonly reason: string }
  /** A kind of a later version: it is passed over. */
  | { readonly is: 'unknown' }
  /** A hello of a protocol that is not ours, or no hello at all. */
  | { readonly is: 'bad'; readonly why: string };

export type ServerFrame =
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

/** Longest text of a hello, in characters. */
const LONGEST = 1024;

/** One frame. @throws SyntaxError when it is no JSON */
export function clientFrameOf(text: string): ClientFrame {
  const frame: unknown = parseJson(text);
  if (frame === null || typeof frame !== 'object' || Array.isArray(frame)) return { is: 'unknown' };
  const of = frame as Readonly<Record<string, unknown>>;
  switch (of.type) {
    case 'hello':
      return helloOf(of);
    case 'heartbeat':
      return { is: 'heartbeat', heartbeat: heartbeatOf(of) };
    case 'bye':
      return { is: 'bye', reason: textOf(of.reason) ?? '' };
    default:
      return { is: 'unknown' };
  }
}

function helloOf(of: Readonly<Record<string, unknown>>): ClientFrame {
  if (of.proto !== 1) return { is: 'bad', why: 'proto 1 is spoken here' };
  const [tenant, identity, surface, project, machine, version] = [
    ...[of.tenant_id, of.identity, of.surface, of.project, of.machine_id, of.version].map(textOf),
  ];
  if (!tenant || !identity || !surface) return { is: 'bad', why: 'hello needs tenant_id, identity and surface' };
  const joiner = { tenant, identity, surface, project: project ?? '', machine: machine ?? '', version: version ?? '' };
  return { is: 'hello', kind: textOf(of.kind) ?? '', joiner };
}

function heartbeatOf(of: Readonly<Record<string, unknown>>): Omit<Heartbeat, 'at'> {
  return {
    seq: numberOf(of.seq),
    fsm: textOf(of.fsm) ?? '',
    taxonomy: textOf(of.taxonomy) ?? '',
    pendingDepth: numberOf(of.pending_depth),
    drainAge: numberOf(of.drain_age_s),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.length <= LONGEST ? value : null;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** A frame as it goes out. */
export function frameText({ is: type, ...of }: ServerFrame): string {
  return JSON.stringify({ type, ...of });
}
