import { buildTrayModel } from '../../app/tray/menu.ts';
import type { MenuEntry, TrayModel } from '../../app/tray/model.ts';
import {
  type ByPriority,
  type MessagePreview,
  NOTHING_REPORTED,
  type OpenDecision,
  type OpenGate,
  type PersonaView,
  type Snapshot,
  type Until,
} from '../../core/board/index.ts';
import { type AgentState, addCounts, type Count, exactly, formatIso, type Health } from '../../core/model/index.ts';

export const NOW = 1_750_000_000_000;
export const MINUTE = 60_000;
export const up: Health = { is: 'up', since: NOW - 1000 };
export const down = (minutes: number): Health => ({
  is: 'down',
  since: NOW - minutes * MINUTE,
  failures: 3,
  why: 'refused',
});

export interface PersonaOptions {
  readonly health?: Health;
  readonly unread?: Count;
  readonly urgent?: Count;
  readonly label?: string;
  readonly source?: string;
  readonly muted?: Until;
  readonly hidden?: boolean;
  readonly canMarkRead?: boolean;
  readonly latestMessages?: readonly MessagePreview[];
  readonly reason?: string | null;
  readonly held?: string | null;
  readonly pending?: ByPriority;
  readonly questions?: number;
  readonly gates?: readonly OpenGate[];
  readonly agentState?: AgentState;
}

export function persona(
  id: string,
  { health = up, unread = exactly(0), urgent = exactly(0), label = id, ...options }: PersonaOptions = {},
): PersonaView {
  return {
    id,
    stem: id,
    source: 'kijito',
    label,
    health,
    reason: null,
    since: null,
    agentState: { is: 'live' },
    unread,
    urgent,
    asOf: NOW,
    staleAfter: null,
    cursor: 0,
    lastEventId: null,
    lastMailAt: null,
    held: null,
    muted: { is: 'never' },
    hidden: false,
    ...NOTHING_REPORTED,
    canMarkRead: false,
    canReply: false,
    latestMessages: [],
    eventsFile: null,
    ...options,
  };
}

export function snapshot(personas: readonly PersonaView[], changes: Partial<Snapshot> = {}): Snapshot {
  const visible = personas.filter((p) => !p.hidden);
  const downs = visible.filter((p) => p.health.is === 'down').length;
  return {
    rev: 1,
    personas,
    causes: [],
    hives: [],
    projects: [],
    decisions: [],
    permissions: [],
    totals: {
      unread: addCounts(visible.map((p) => p.unread)),
      urgent: addCounts(visible.map((p) => p.urgent)),
      up: visible.length - downs,
      down: downs,
      personas: visible.length,
    },
    paused: { is: 'never' },
    quietHours: false,
    quietTimes: { from: '22:00', to: '07:00' },
    quiet: { is: 'never' },
    autostart: null,
    tray: '',
    notifications: '',
    ...changes,
  };
}

/** Formats times as minutes from now, so that no test depends on the time zone. */
export const trayModel = (s: Snapshot, now = NOW): TrayModel =>
  buildTrayModel(s, now, (at, from) => `+${(at - from) / MINUTE} min`);

/** Creates a message. `age` is in minutes. */
export const createMessage = (id: number, from: string, text: string | null, age = 5): MessagePreview => ({
  id,
  from,
  created: formatIso(NOW - age * MINUTE),
  subject: '',
  text,
  link: null,
  isUrgent: false,
  priority: null,
  isQuestion: false,
});

export function text(menu: readonly MenuEntry[], indent = ''): string[] {
  return menu.flatMap((entry) => {
    if (entry.is === 'separator') return [`${indent}---`];
    const box = entry.is === 'check' ? (entry.checked ? '[x] ' : '[ ] ') : '';
    return [indent + box + entry.label, ...(entry.is === 'submenu' ? text(entry.entries, `${indent}  `) : [])];
  });
}

export function findAction(menu: readonly MenuEntry[], label: string): unknown {
  for (const entry of menu) {
    if (entry.is === 'submenu') {
      const action = findAction(entry.entries, label);
      if (action !== null) return action;
    } else if ('action' in entry && entry.label === label) {
      return [entry.action.name, entry.action.params];
    }
  }
  return null;
}

/** Creates a decision that was asked five minutes ago, with two options. */
export function createDecision(id: number, changes: Partial<OpenDecision> = {}): OpenDecision {
  return {
    id,
    persona: 'ada',
    prompt: `Question ${id}?`,
    context: null,
    options: [
      { id: 'yes', short: 'Merge', label: 'Merge it now' },
      { id: 'no', short: 'Wait', label: 'Wait for the build' },
    ],
    freeText: false,
    fallback: null,
    urgency: 'normal',
    blocking: false,
    created: NOW - 5 * MINUTE + id,
    expires: null,
    ...changes,
  };
}
