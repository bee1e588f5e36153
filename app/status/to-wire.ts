import type { DaemonView, HiveView, PersonaView, Snapshot, Until } from '../../core/board/index.ts';
import { type Count, type Instant, isoOf, standing } from '../../core/model/index.ts';
import type { HiveWire, PersonaWire, StatusWire } from './wire.ts';

/** What the snapshot does not know of itself. */
export interface WireMeta {
  readonly now: Instant;
  readonly version: string;
  readonly port: number;
}

/** The snapshot as it goes over the wire. Pure: same snapshot and meta, same answer. */
export function toWire(snapshot: Snapshot, { now, version, port }: WireMeta): StatusWire {
  const { unread, urgent, up, down, personas } = snapshot.totals;
  return {
    schema: 1,
    rev: snapshot.rev,
    generatedAt: isoOf(now),
    version,
    port,
    totals: {
      unread: numberOf(unread),
      unreadIs: unread.is,
      urgent: numberOf(urgent),
      urgentIs: urgent.is,
      up,
      down,
      personas,
    },
    hives: snapshot.hives.map(hiveWire),
    projects: snapshot.projects.map(({ source, board, rev }) => ({ id: source, board, source, rev })),
    personas: snapshot.personas.map((persona) => personaWire(persona, now)),
    causes: snapshot.causes.map(({ key, scope, since, message, personas: ids }) => ({
      key,
      scope,
      since: isoOf(since),
      message,
      personas: [...ids],
    })),
    decisions: snapshot.decisions.map(({ id, persona, urgency, blocking, created, expires }) => ({
      id,
      persona,
      urgency,
      blocking,
      created: isoOf(created),
      expires: timeOf(expires),
    })),
    tray: { state: snapshot.tray },
    notifications: {
      state: snapshot.notifications,
      pausedUntil: silence(snapshot.paused, now),
      quietUntil: silence(snapshot.quiet, now),
    },
    autostart: snapshot.autostart,
  };
}

function personaWire(view: PersonaView, now: Instant): PersonaWire {
  return {
    id: view.id,
    stem: view.stem,
    source: view.source,
    label: view.label,
    state: standing(view.reach),
    reason: view.reason ?? view.held,
    since: timeOf(view.since),
    agent: view.vital.is,
    agentReason: view.vital.why ?? null,
    unread: numberOf(view.unread.value),
    unreadIs: view.unread.value.is,
    urgent: numberOf(view.urgent.value),
    cursor: view.cursor,
    lastEventId: view.lastEventId,
    lastMailAt: timeOf(view.lastMailAt),
    asOf: timeOf(view.unread.asOf),
    staleAfter: timeOf(view.unread.staleAfter),
    pending: view.local === null ? null : [...view.local.pending],
    gates: (view.local?.gates ?? []).map(({ id, hook, mode }) => ({ id, hook, mode })),
    daemon: daemonWire(view.daemon),
    muted: silence(view.muted, now),
    canMarkRead: view.canMarkRead,
    hidden: view.hidden,
    eventsFile: view.eventsFile,
  };
}

function daemonWire(daemon: DaemonView | null): PersonaWire['daemon'] {
  if (daemon === null) return null;
  const { surface, project, fsm, taxonomy, isDegraded, drainedAt, lastError } = daemon;
  return {
    surface,
    project,
    fsm,
    taxonomy,
    degraded: isDegraded,
    drainedAt: isoOf(drainedAt),
    lastErrorClass: lastError,
  };
}

function hiveWire({ source, address, state, reason }: HiveView): HiveWire {
  return { source, address: address === '' ? null : address, state, reason };
}

function numberOf(count: Count): number | null {
  return count.is === 'unknown' ? null : count.n;
}

function timeOf(at: Instant | null): string | null {
  return at === null ? null : isoOf(at);
}

/** A silence that ran out between two facts is over here too. */
function silence(until: Until, now: Instant): string | null {
  switch (until.is) {
    case 'never':
      return null;
    case 'forever':
      return 'forever';
    case 'at':
      return until.at <= now ? null : isoOf(until.at);
  }
}
