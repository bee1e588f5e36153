import type { ByPriority, OpenGate, PersonaView } from '../../core/board/index.ts';
import { formatCount, formatRest } from '../../core/format/index.ts';
import { DECISION } from '../../core/inbox/gates/index.ts';
import { MOST_COUNTED } from '../../core/inbox/index.ts';
import type { MenuEntry } from './model.ts';
import { formatRowName, formatRowText } from './text.ts';

const NAME_MOST = 24;
const LINE_MOST = 60;
/** The number of gates that have a line each. */
const GATES = 5;

/** The names of the priorities, 0 first. */
const PRIORITIES = ['critical', 'high', 'normal', 'low', 'bulk'] as const;
/** Normal mail is only counted; it needs no line of its own. */
const NORMAL = 2;

/**
 * Formats the note for a gate that blocks the agent: `, blocked at Stop by ship`, or `, waiting for your answer` if its
 * question is open. A gate that only warns blocks nobody.
 */
export function formatHeld({ gates }: PersonaView, isAsking: boolean): string {
  const strict = gates.filter(({ mode }) => mode === 'strict');
  if (isAsking && strict.some(({ id }) => id === DECISION)) return ', waiting for your answer';
  const [first] = strict;
  if (first === undefined) return '';
  return `, blocked at ${formatRowName(first.hook, NAME_MOST)} by ${formatRowName(first.id, NAME_MOST)}${formatRest(strict.length - 1)}`;
}

/** Builds the submenu rows: one for each open gate, and one with the pending items by priority unless all are normal. */
export function buildLocalRows({ id, gates, pending }: PersonaView): MenuEntry[] {
  const beyond = gates.length - GATES;
  const lines = [
    ...gates.slice(0, GATES).map(formatGate),
    ...(beyond > 0 ? [`${beyond} more ${beyond === 1 ? 'gate' : 'gates'}`] : []),
    ...(pending === null ? [] : formatPending(pending)),
  ];
  return lines.map((label, i) => ({ is: 'text', key: `note ${i} of ${id}`, label }));
}

function formatGate({ id, hook, mode, description }: OpenGate): string {
  const descriptionText = formatRowText(description, LINE_MOST);
  const gate = `${mode === 'strict' ? 'Blocked' : 'Warned'} at ${formatRowName(hook, NAME_MOST)} by ${formatRowName(id, NAME_MOST)}`;
  return descriptionText === '' ? gate : `${gate} · ${descriptionText}`;
}

function formatPending(pending: ByPriority): string[] {
  if (pending.every((n, priority) => n === 0 || priority === NORMAL)) return [];
  const parts = PRIORITIES.flatMap((name, i) => {
    const n = pending[i] ?? 0;
    return n > 0 ? [`${formatCount(n, n >= MOST_COUNTED ? 'atLeast' : 'exact')} ${name}`] : [];
  });
  return [`Unread: ${parts.join(', ')}`];
}
