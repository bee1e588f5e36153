import type { Letter, LocalView, OpenDecision, PersonaView, Snapshot, Until } from '../../core/board/index.ts';
import { type Count, exactly, isoOf, type Reach, sumOf } from '../../core/model/index.ts';
import { trayModel as modelOf } from './menu.ts';
import type { MenuEntry, TrayModel } from './model.ts';

export const NOW = 1_750_000_000_000;
export const MINUTE = 60_000;
export const up: Reach = { is: 'up', since: NOW - 1000 };
export const down = (minutes: number): Reach => ({
  is: 'down',
  since: NOW - minutes * MINUTE,
  failures: 3,
  why: 'refused',
});

export interface Of {
  readonly reach?: Reach;
  readonly unread?: Count;
  readonly urgent?: Count;
  readonly label?: string;
  readonly source?: string;
  readonly muted?: Until;
  readonly hidden?: boolean;
  readonly canMarkRead?: boolean;
  readonly latest?: readonly Letter[];
  readonly reason?: string | null;
  readonly held?: string | null;
  readonly local?: LocalView | null;
}

export function persona(
  id: string,
  { reach = up, unread = exactly(0), urgent = exactly(0), label = id, ...of }: Of = {},
): PersonaView {
  const seen = <T>(value: T) => ({ value, asOf: NOW, staleAfter: null });
  return {
    id,
    stem: id,
    source: 'kijito',
    label,
    reach,
    reason: null,
    since: null,
    vital: { is: 'live' },
    unread: seen(unread),
    urgent: seen(urgent),
    cursor: 0,
    lastEventId: null,
    lastMailAt: null,
    held: null,
    muted: { is: 'never' },
    hidden: false,
    local: null,
    daemon: null,
    canMarkRead: false,
    latest: [],
    eventsFile: null,
    ...of,
  };
}

export function snapshot(personas: readonly PersonaView[], of: Partial<Snapshot> = {}): Snapshot {
  const seen = personas.filter((p) => !p.hidden);
  const downs = seen.filter((p) => p.reach.is === 'down').length;
  return {
    rev: 1,
    personas,
    causes: [],
    hives: [],
    projects: [],
    decisions: [],
    totals: {
      unread: sumOf(seen.map((p) => p.unread.value)),
      urgent: sumOf(seen.map((p) => p.urgent.value)),
      up: seen.length - downs,
      down: downs,
      personas: seen.length,
    },
    paused: { is: 'never' },
    quietHours: false,
    quiet: { is: 'never' },
    autostart: null,
    tray: '',
    notifications: '',
    ...of,
  };
}

/** Minutes from now, so that no test hangs on the time zone. */
export const trayModel = (s: Snapshot, now = NOW): TrayModel =>
  modelOf(s, now, (at, from) => `+${(at - from) / MINUTE} min`);

/** `age` in minutes. */
export const letter = (id: number, from: string, text: string | null, age = 5): Letter => ({
  id,
  from,
  created: isoOf(NOW - age * MINUTE),
  text,
});

export function text(menu: readonly MenuEntry[], indent = ''): string[] {
  return menu.flatMap((entry) => {
    if (entry.is === 'separator') return [`${indent}---`];
    const box = entry.is === 'check' ? (entry.checked ? '[x] ' : '[ ] ') : '';
    return [indent + box + entry.label, ...(entry.is === 'submenu' ? text(entry.entries, `${indent}  `) : [])];
  });
}

export function wantedBy(menu: readonly MenuEntry[], label: string): unknown {
  for (const entry of menu) {
    if (entry.is === 'submenu') {
      const found = wantedBy(entry.entries, label);
      if (found !== null) return found;
    } else if ('wanted' in entry && entry.label === label) {
      return [entry.wanted.name, entry.wanted.params];
    }
  }
  return null;
}

/** Asked five minutes ago, with two options. */
export function asks(id: number, of: Partial<OpenDecision> = {}): OpenDecision {
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
    ...of,
  };
}
