import { displayName, formatDuration } from '../../core/format/index.ts';
import { describeState, formatPendingCount, PRIORITIES, type Slots, toCard } from '../../ui-static/present.ts';
import type { StatusWire } from '../status/index.ts';
import { formatMessageAge, formatPreview, type NewestMessages } from './newest.ts';
import { formatPersonaName } from './persona-text.ts';
import { parseTime, type StatusPersona } from './status-json.ts';

/** Formats everything about one persona for a terminal, in the words of its page. */
export function formatPersona(persona: StatusPersona, status: StatusWire, newest: NewestMessages): string {
  const now = parseTime(status.generatedAt);
  const age = (time: string): string => formatDuration(now - parseTime(time));
  const decisions = status.decisions.filter((decision) => decision.persona === persona.id);
  const prompts = status.permissions.filter((permission) => permission.persona === persona.id);
  const { shape, slots } = toCard(persona, now, decisions.length > 0);
  const { state, since } = describeState(persona, shape, now, persona.cwd);
  const rows: readonly (readonly [title: string, text: string | null | undefined])[] = [
    ['State', [state, since].filter((part) => part != null).join(' ')],
    ['Reason', slots.reason?.replace(/\s+/g, ' ')],
    ['Agent', joinParts([slots.agent, slots.daemon, slots.drain, slots.error])],
    ['Unread', formatUnreadMail(persona, slots)],
    ['Questions', slots.question],
    ...decisions.map(
      ({ id, created }) => ['Question', `${id}, asked ${age(created)} ago: hivebar decision show ${id}`] as const,
    ),
    ['Question', slots.question == null ? null : `${slots.question} in mail`],
    ...prompts.map(
      ({ number, created }) =>
        ['Permission', `${number}, asked ${age(created)} ago: hivebar permission allow ${number}`] as const,
    ),
    ['Gates', joinParts([slots.held, slots.warned])],
    ['Newest', formatMessage(newest[persona.id], status.generatedAt)],
    ['Mail', slots.mail],
    ['Inbox', slots.fresh],
    ['Notices', joinParts([slots.muted, slots.hidden])],
    ['Source', displayName(persona.source)],
    ['Events', persona.eventsFile === null ? null : displayName(persona.eventsFile)],
  ];
  const shown = rows.filter(([, text]) => text != null && text !== '');
  const width = Math.max(...shown.map(([title]) => title.length));
  const lines = shown.map(([title, text]) => `${title.padEnd(width)}  ${text}`);
  return `${[formatPersonaName(persona), '', ...lines].join('\n')}\n`;
}

/** Formats `bo: main is red, 4 min ago`. */
function formatMessage(message: NewestMessages[string] | undefined, now: string): string | null {
  if (message === undefined) return null;
  const age = formatMessageAge(message, now);
  return `${formatPreview(message)}${age === '' ? '' : `, ${age} ago`}`;
}

function joinParts(parts: readonly (string | null | undefined)[]): string {
  return parts.filter((part) => part != null && part !== '').join(', ');
}

/** Formats `3 (1 critical, 2 normal)`. Only the local hive knows priorities. */
function formatUnreadMail({ pending }: StatusPersona, { unread, urgent }: Slots): string {
  const waiting = PRIORITIES.flatMap((word, at) => {
    const count = pending?.[at] ?? 0;
    return count > 0 ? [`${formatPendingCount(count)} ${word}`] : [];
  });
  const details = waiting.join(', ') || (urgent ?? '');
  return details === '' ? `${unread}` : `${unread} (${details})`;
}
