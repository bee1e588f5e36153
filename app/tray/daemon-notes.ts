import type { PersonaView } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import type { MenuEntry, TimeFormatter } from './model.ts';
import { formatRowText } from './text.ts';

const LINE_MOST = 60;

/** Formats the note in the row of an agent that is alive but makes no progress: `, drain stalled`. */
export function formatStalled({ agentState }: Pick<PersonaView, 'agentState'>): string {
  if (agentState.is !== 'stalled') return '';
  return agentState.why === 'drain-stalled' ? ', drain stalled' : ', stalled';
}

/** Builds the submenu rows of a persona daemon: what the daemon reports about itself. */
export function buildDaemonRows(
  { id, daemon, agentState, unread }: PersonaView,
  now: Instant,
  timeText: TimeFormatter,
): MenuEntry[] {
  const why = agentState.is === 'live' ? null : (agentState.why ?? null);
  if (daemon === null) return [];
  const { fsm, taxonomy, surface, drainedAt, lastError } = daemon;
  const waits = unread.is === 'unknown' || unread.n > 0;
  const lines = [
    ...(why === null ? [] : [`Daemon: ${why.replaceAll('-', ' ')}`]),
    `${fsm}, ${taxonomy}, in ${formatRowText(surface, LINE_MOST)}`,
    ...(waits ? [`Nothing fetched since ${timeText(drainedAt, now)}`] : []),
    ...(lastError === null ? [] : [`Last error: ${lastError}`]),
  ];
  return lines.map((label, i) => ({ is: 'text', key: `daemon ${i} of ${id}`, label }));
}
