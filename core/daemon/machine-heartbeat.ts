import { fail, type MachineDraft, put } from './machine-draft.ts';
import type { DaemonInput } from './machine-state.ts';

type HeartbeatInput<Is extends DaemonInput['is']> = Extract<DaemonInput, { is: Is }>;

/** A heartbeat that the stream did not take for this many intervals is a failure (persona daemon, contract 6). */
const STUCK_INTERVALS = 2;

/** Sends one heartbeat per interval, from the moment a connection is reconciled. While a heartbeat is stuck, no other is sent. */
export function heartbeatInTime(draft: MachineDraft): void {
  const { link, heartbeat } = draft.state;
  const { mono } = draft.now;
  if (link.is !== 'up' || link.reconciledMono === null || mono < heartbeat.dueMono) return;
  const dueMono = mono + link.heartbeatMs;
  if (heartbeat.stuckMono === null) {
    const seq = heartbeat.seq + 1;
    put(draft, { heartbeat: { ...heartbeat, seq, dueMono, stuckMono: mono } });
    draft.effects.push({ is: 'heartbeat', conn: link.conn, seq });
    return;
  }
  const isStuck = mono - heartbeat.stuckMono >= STUCK_INTERVALS * link.heartbeatMs;
  put(draft, { heartbeat: { ...heartbeat, dueMono, stuckMono: isStuck ? mono : heartbeat.stuckMono } });
  if (isStuck) fail(draft, 'heartbeat_publish_failed', 'no progress in two intervals');
}

export function onHeartbeatSent(draft: MachineDraft, { conn, seq }: HeartbeatInput<'heartbeat_sent'>): void {
  const { link, heartbeat } = draft.state;
  if (link.is !== 'up' || link.conn !== conn || heartbeat.seq !== seq) return;
  put(draft, { heartbeat: { ...heartbeat, sentMono: draft.now.mono, stuckMono: null } });
}

export function onHeartbeatFailed(draft: MachineDraft, { conn }: HeartbeatInput<'heartbeat_failed'>): void {
  const { link, heartbeat } = draft.state;
  if (link.is !== 'up' || link.conn !== conn) return;
  put(draft, { heartbeat: { ...heartbeat, stuckMono: null } });
  fail(draft, 'heartbeat_publish_failed', 'the stream did not take it');
}
