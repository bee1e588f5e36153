import {
  type DaemonView,
  type HiveView,
  type PersonaView,
  pickReport,
  type Snapshot,
  type Until,
} from '../../core/board/index.ts';
import { type Event, formatEventLine, isAboutAgent, parseEventLine } from '../../core/events/index.ts';
import { type Count, formatIso, type Instant, toHealthLabel } from '../../core/model/index.ts';
import { findReasonText } from '../../core/sources/derived.ts';
import type { HiveWire, PersonaWire, StatusWire } from './wire.ts';

/** What the wire form needs and the snapshot does not have. */
export interface WireMeta {
  readonly now: Instant;
  readonly version: string;
  readonly port: number;
}

/** Converts the snapshot to its wire form. Pure: the same snapshot and meta give the same answer. */
export function toWire(snapshot: Snapshot, { now, version, port }: WireMeta): StatusWire {
  const { unread, urgent, up, down, personas } = snapshot.totals;
  return {
    schema: 1,
    rev: snapshot.rev,
    generatedAt: formatIso(now),
    version,
    port,
    totals: {
      unread: toNumberOrNull(unread),
      unreadIs: unread.is,
      urgent: toNumberOrNull(urgent),
      urgentIs: urgent.is,
      up,
      down,
      personas,
    },
    hives: snapshot.hives.map(toHiveWire),
    projects: snapshot.projects.map(({ source, board, rev }) => ({ id: source, board, source, rev })),
    personas: snapshot.personas.map((persona) => toPersonaWire(persona, now)),
    causes: snapshot.causes.map(({ key, scope, since, message, personas: ids }) => ({
      key,
      scope,
      since: formatIso(since),
      message,
      personas: [...ids],
    })),
    decisions: snapshot.decisions.map(({ id, persona, urgency, blocking, created, expires }) => ({
      id,
      persona,
      urgency,
      blocking,
      created: formatIso(created),
      expires: toIsoOrNull(expires),
    })),
    permissions: snapshot.permissions.map(({ number, persona, created, expires }) => ({
      number,
      persona,
      created: formatIso(created),
      expires: formatIso(expires),
    })),
    tray: { state: snapshot.tray },
    notifications: {
      state: snapshot.notifications,
      pausedUntil: formatSilence(snapshot.paused, now),
      quietUntil: formatSilence(snapshot.quiet, now),
    },
    autostart: snapshot.autostart,
  };
}

/** Converts one persona. Only the end of a mute depends on `now`. */
export function toPersonaWire(view: PersonaView, now: Instant): PersonaWire {
  return {
    id: view.id,
    stem: view.stem,
    source: view.source,
    label: view.label,
    state: toHealthLabel(view.health),
    reason: view.reason ?? view.held,
    since: toIsoOrNull(view.since),
    agent: view.agentState.is,
    agentReason: view.agentState.why ?? null,
    agentText: findReasonText(view.agentState.why ?? null),
    agentSince: toIsoOrNull(view.agentState.since ?? null),
    cwd: view.agentState.cwd ?? null,
    model: view.agentState.model ?? null,
    unread: toNumberOrNull(view.unread),
    unreadIs: view.unread.is,
    urgent: toNumberOrNull(view.urgent),
    cursor: view.cursor,
    lastEventId: view.lastEventId,
    lastMailAt: toIsoOrNull(view.lastMailAt),
    asOf: toIsoOrNull(view.asOf),
    staleAfter: toIsoOrNull(view.staleAfter),
    ...pickReport(view),
    gates: view.gates.map(({ id, hook, mode }) => ({ id, hook, mode })),
    daemon: toDaemonWire(view.daemon),
    muted: formatSilence(view.muted, now),
    canMarkRead: view.canMarkRead,
    canReply: view.canReply,
    hidden: view.hidden,
    eventsFile: view.eventsFile,
  };
}

function toDaemonWire(daemon: DaemonView | null): PersonaWire['daemon'] {
  if (daemon === null) return null;
  const { surface, project, fsm, taxonomy, isDegraded, drainedAt, lastError } = daemon;
  return {
    surface,
    project,
    fsm,
    taxonomy,
    degraded: isDegraded,
    drainedAt: formatIso(drainedAt),
    lastErrorClass: lastError,
  };
}

function toHiveWire({ source, address, state, reason }: HiveView): HiveWire {
  return { source, address: address === '' ? null : address, state, reason };
}

function toNumberOrNull(count: Count): number | null {
  return count.is === 'unknown' ? null : count.n;
}

function toIsoOrNull(at: Instant | null): string | null {
  return at === null ? null : formatIso(at);
}

/** A mute that ended between two facts is shown as ended. */
function formatSilence(until: Until, now: Instant): string | null {
  switch (until.is) {
    case 'never':
      return null;
    case 'forever':
      return 'forever';
    case 'at':
      return until.at <= now ? null : formatIso(until.at);
  }
}

/**
 * The keys of an event that may be shown without the token: names, numbers and times, but no sender and no text (Decision 4). It
 * lists what is allowed, so that a key nobody thought of stays hidden.
 */
const OPEN: ReadonlySet<string> = new Set([
  'event',
  'source',
  'ts',
  'id',
  'created',
  'persona',
  'self',
  'origin',
  'cursor',
  'consecutive_failures',
  'seconds',
  'seeded',
  'current_max',
  'capped_to',
  'dropped',
  'event_id',
  'wake_class',
  'nonce',
  'emitted',
]);

/** Further keys that are allowed in an alert. Its `reason` is one of a few words, not free text as in other events. */
const OPEN_IN_ALERTS: ReadonlySet<string> = new Set([
  'reason',
  'omitted',
  'window_floor',
  'cursor_at',
  'reconciled',
  'pinned',
  'forgot',
  'evidence_lost',
  'unread_not_shown',
  'above_watermark',
  'stranded_inboxes',
  'dormant_inboxes',
  'urgent_unanswered',
  'urgent_unanswered_write_only',
]);

/** The same for what an agent does, which the status shows to anyone. */
const OPEN_IN_WAITS: ReadonlySet<string> = new Set(['reason', 'since', 'agent', 'waited_ms', 'cwd']);

const NONE: ReadonlySet<string> = new Set();

/** Returns the line of an event as this reader may see it: unchanged for the owner, without sender and text for anyone else. */
export function redactLine(line: string, right: 'owner' | 'anyone'): string {
  if (right === 'owner') return line;
  const event = parseEventLine(line);
  const ofKind =
    event === null ? NONE : event.event === 'alert' ? OPEN_IN_ALERTS : isAboutAgent(event) ? OPEN_IN_WAITS : NONE;
  const isOpen = (key: string): boolean => OPEN.has(key) || ofKind.has(key);
  const open = Object.entries(event ?? {}).filter(([key]) => isOpen(key));
  return formatEventLine(Object.fromEntries(open) as unknown as Event).trimEnd();
}
