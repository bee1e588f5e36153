import type { StatusWire } from '../../app/status/index.ts';
import { NOTHING_REPORTED, pickReport } from '../../core/board/index.ts';

const NOW = '2026-06-20T10:00:00.000000+00:00';

export function createPersona(over: Partial<StatusWire['personas'][number]>): StatusWire['personas'][number] {
  return {
    id: 'ada',
    stem: 'ada',
    source: 'local',
    label: 'ada',
    state: 'UP',
    reason: null,
    since: NOW,
    agent: 'live',
    agentReason: null,
    agentText: null,
    agentSince: null,
    cwd: null,
    model: null,
    unread: 3,
    unreadIs: 'exact',
    urgent: 0,
    cursor: 7,
    lastEventId: null,
    lastMailAt: null,
    asOf: '2026-06-20T09:59:58.500000+00:00',
    staleAfter: '2026-06-20T10:01:00.000000+00:00',
    ...pickReport(NOTHING_REPORTED),
    gates: [],
    daemon: null,
    muted: null,
    hidden: false,
    canMarkRead: false,
    canReply: false,
    eventsFile: null,
    ...over,
  };
}

export function createStatus(personas: StatusWire['personas'], unread: number | null): StatusWire {
  return {
    schema: 1,
    rev: 1,
    generatedAt: NOW,
    version: '1',
    port: 7475,
    totals: {
      unread,
      unreadIs: unread === null ? 'unknown' : 'atLeast',
      urgent: 0,
      urgentIs: 'exact',
      up: 1,
      down: 1,
      personas: 2,
    },
    hives: [],
    projects: [],
    personas,
    causes: [],
    decisions: [],
    permissions: [],
    tray: { state: 'off' },
    notifications: { state: 'off', pausedUntil: null, quietUntil: null },
    autostart: null,
  };
}
