import type { StatusWire } from '../app/status/wire.ts';
import { displayName } from '../core/format/index.ts';
import { formatNumber } from './present.ts';

/** If there are more changes than this at once, they are counted and not listed. */
const LISTED = 3;

/**
 * Returns what a screen reader says about a change: who went down, came back, got mail or asks. Null when nothing is worth
 * saying.
 */
export function formatAnnouncement(before: StatusWire, after: StatusWire): string | null {
  const previous = new Map(before.personas.map((persona) => [persona.id, persona]));
  const down: string[] = [];
  const back: string[] = [];
  const mail: string[] = [];
  const attention: string[] = [];
  const boards = new Set(after.projects.map(({ board }) => board));
  for (const persona of after.personas) {
    const old = previous.get(persona.id);
    if (old === undefined) continue;
    if (persona.state === 'DOWN' && old.state !== 'DOWN') down.push(displayName(persona.label));
    if (persona.state === 'UP' && old.state === 'DOWN') back.push(displayName(persona.label));
    if ((persona.unread ?? 0) <= (old.unread ?? 0)) continue;
    const number = formatNumber(persona.unread, persona.unreadIs);
    if (boards.has(persona.id)) attention.push(`${displayName(persona.label)}, ${number}`);
    else mail.push(`${displayName(persona.label)}, ${number} unread`);
  }
  const labels = new Map(after.personas.map(({ id, label }) => [id, label]));
  const known = new Set(before.decisions.map(({ id }) => id));
  const asking = after.decisions
    .filter(({ id }) => !known.has(id))
    .map(({ persona }) => displayName(labels.get(persona) ?? persona));
  const parts = [
    formatChange(down, 'down'),
    formatChange(back, 'up again'),
    formatChange(mail, 'with new mail'),
    formatChange(attention, 'for attention', 'projects'),
    formatChange(asking, 'asking you', 'personas'),
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join('. ');
}

function formatChange(names: readonly string[], change: string, each = 'inboxes'): string | null {
  if (names.length === 0) return null;
  return names.length > LISTED ? `${names.length} ${each} ${change}` : `${change}: ${names.join('; ')}`;
}
