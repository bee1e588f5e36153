import { displayName, formatAgentState, formatCount, formatDuration, formatQuantity } from '../../core/format/index.ts';
import type { StatusWire } from '../status/index.ts';
import { parseTime, type StatusPersona } from './status-json.ts';

export function formatPersonaName({ id, label }: StatusPersona): string {
  return label === id ? displayName(id) : `${displayName(label)} (${displayName(id)})`;
}

/** The part of the status JSON that says what is asked, and when it was served. */
type AskedAt = Pick<StatusWire, 'generatedAt' | 'decisions'>;

/** Formats why a persona needs a person, and what its agent does. Empty when there is nothing to say. */
export function formatNotes(persona: StatusPersona, { generatedAt, decisions }: AskedAt): string {
  const { id, urgent, reason, agent, agentReason, agentText, daemon } = persona;
  const ofDaemon = daemon !== null && agent !== 'live' ? agentReason : null;
  const text = agentText == null ? null : `${agentText} (${agentReason})`; // an older tray process does not send it
  const asked = countQuestions(persona) + decisions.filter((decision) => decision.persona === id).length;
  const doing = reason ?? formatAgent(persona, generatedAt) ?? text ?? ofDaemon;
  const overdue = formatOverdue(persona, generatedAt);
  return [
    ...((urgent ?? 0) > 0 ? [`${urgent} urgent`] : []),
    ...(asked > 0 ? [`${formatQuestions(asked)} for you`] : []),
    ...(doing === null ? [] : [displayName(doing)]),
    ...(overdue === null ? [] : [overdue]),
  ].join(', ');
}

/** Formats what the agent does, and for how long: `waits at a permission prompt, 3 min`. Null when nobody says it. */
function formatAgent({ agent, agentReason, agentText, agentSince }: StatusPersona, now: string): string | null {
  const doing = formatAgentState(agent, agentReason, agentText ?? null);
  if (doing === null) return null;
  const why = agent === 'stalled' ? ` (${agentReason})` : '';
  const age = agentSince == null ? '' : `, ${formatDuration(parseTime(now) - parseTime(agentSince))}`;
  return `${doing.charAt(0).toLowerCase()}${doing.slice(1)}${why}${age}`;
}

/** A persona that is up, but whose agent waits or whose mail nobody takes, has a state of its own. */
export function formatState({ state, agent }: StatusPersona): string {
  if (state !== 'UP') return state;
  return agent === 'waiting' ? 'WAITS' : agent === 'stalled' ? 'STALLED' : state;
}

/** Counts the questions in mail to a person. An older tray process does not send it. */
export function countQuestions({ questions }: Partial<StatusPersona>): number {
  return questions ?? 0;
}

export function formatQuestions(count: number): string {
  return formatQuantity(count, 'question');
}

export function formatUnread(count: number | null, is: StatusPersona['unreadIs']): string {
  if (count === null || (count === 0 && is !== 'exact')) return '?';
  return is === 'unknown' ? '?' : formatCount(count, is);
}

/** Formats how old an overdue count is, by the clock of the program that served it. Null while it is fresh. */
function formatOverdue({ asOf, staleAfter }: StatusPersona, now: string): string | null {
  if (asOf === null || staleAfter === null || parseTime(staleAfter) >= parseTime(now)) return null;
  return `checked ${formatDuration(parseTime(now) - parseTime(asOf))} ago, overdue`;
}
