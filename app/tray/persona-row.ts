import type { MessagePreview, PersonaView } from '../../core/board/index.ts';
import { formatSilence } from '../../core/format/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { formatAge } from './age.ts';
import { formatKnownCount, isAtLeastOne } from './counts.ts';
import { buildDaemonRows, formatStalled } from './daemon-notes.ts';
import { isOn } from './icon.ts';
import { buildLocalRows, formatHeld } from './local-notes.ts';
import { toMessageRowText } from './message-row-text.ts';
import type { MenuAction, MenuCommand, MenuEntry, TimeFormatter } from './model.ts';
import { formatRowName, formatRowText } from './text.ts';

const NAME_MOST = 40;
const REASON_MOST = 80;

/**
 * Builds the row of one persona. It shows the state; its submenu has the latest messages and the actions. `isAsking`: a
 * question of it waits for the person's answer.
 */
export function buildPersonaRow(p: PersonaView, isAsking: boolean, now: Instant, timeText: TimeFormatter): MenuEntry {
  const label = `${formatPersonaName(p)} - ${formatPersonaState(p, now)}${formatStalled(p)}${formatStaleness(p, now, timeText)}${formatHeld(p, isAsking)}${formatMuted(p, now, timeText)}`;
  const open = createAction('open', p);
  return {
    is: 'submenu',
    key: `persona ${p.id}`,
    label,
    entries: [
      ...buildNoteRows(p),
      ...buildLocalRows(p),
      ...buildDaemonRows(p, now, timeText),
      ...buildMessageRows(p, now),
      createSeparator(1, p),
      createCommand('session', 'Open session', open, p),
      createCommand('page', 'Open on status page', createAction('page', p), p),
      createCommand('follow', 'Copy follow command', createAction('copy-follow', p), p),
      createSeparator(2, p),
      ...buildMarkReadRows(p),
      createCommand('poll', 'Poll now', createAction('poll', p), p),
      ...buildMuteRows(p, now),
      createCommand('hide', 'Hide', createAction('hide', p), p),
    ],
    instead: { is: 'command', key: `persona ${p.id}`, label, action: open },
  };
}

/** Never empty: a label without visible characters is replaced by the id. */
export function formatPersonaName(p: PersonaView): string {
  return formatRowName(p.label, NAME_MOST) || formatRowName(p.id, NAME_MOST) || '?';
}

function formatPersonaState(p: PersonaView, now: Instant): string {
  const unread = p.unread;
  const parts: string[] = [];
  if (p.health.is === 'down') parts.push(`DOWN ${formatAge(now - p.health.since)}`.trimEnd());
  if (isAtLeastOne(unread)) parts.push(`${formatKnownCount(unread)} unread`);
  if (isAtLeastOne(p.urgent)) parts.push(`${formatKnownCount(p.urgent)} urgent`);
  if (parts.length > 0) return parts.join(', ');
  if (p.health.is === 'unseen') return 'not checked yet';
  return unread.is === 'exact' ? 'no unread' : 'unread unknown';
}

/**
 * An old number is shown with its time, whether or not the persona is down, because a poll that never ends reports no failure.
 */
function formatStaleness({ unread, asOf, staleAfter }: PersonaView, now: Instant, timeText: TimeFormatter): string {
  const isStale = unread.is !== 'unknown' && asOf !== null && staleAfter !== null && staleAfter <= now;
  return isStale ? `, as of ${timeText(asOf, now)}` : '';
}

function formatMuted({ muted }: PersonaView, now: Instant, timeText: TimeFormatter): string {
  if (!isOn(muted, now)) return '';
  return `, ${formatSilence('muted', muted.is === 'at' ? muted.at : null, now, timeText)}`;
}

/** Builds notes on why the numbers may be old, and why the agent may not know of them. */
function buildNoteRows(p: PersonaView): MenuEntry[] {
  const note = (key: string, text: string | null): MenuEntry[] =>
    text === null ? [] : [{ is: 'text', key: `${key} of ${p.id}`, label: formatRowText(text, REASON_MOST) }];
  return [...note('reason', p.reason), ...note('held', p.held)];
}

/** The keys are positions and not message ids. So a new message only changes labels, and a host need not rebuild the menu. */
function buildMessageRows(p: PersonaView, now: Instant): MenuEntry[] {
  if (p.latestMessages.length === 0) return [{ is: 'text', key: `letters of ${p.id}`, label: 'No messages yet' }];
  return p.latestMessages.map((message, i) => buildMessageRow(p, message, i, now));
}

/** Marking as read is a separate entry, one step further than opening. */
function buildMessageRow(p: PersonaView, message: MessagePreview, i: number, now: Instant): MenuEntry {
  const row = createCommand(`letter ${i}`, formatMessageRow(message, now), createAction('open', p), p);
  if (!canMarkMessages(p)) return row;
  const read = createAction('read', p, { id: message.id });
  return {
    is: 'submenu',
    key: row.key,
    label: row.label,
    entries: [
      createCommand(`open letter ${i}`, 'Open session', row.action, p),
      createCommand(`read letter ${i}`, 'Mark as read', read, p),
    ],
    instead: row,
  };
}

function formatMessageRow(message: MessagePreview, now: Instant): string {
  const { from, at, text } = toMessageRowText(message);
  const age = at === null ? '' : formatAge(now - at) || 'now';
  return [from, age, text].filter((part) => part !== '').join(' · ');
}

function buildMarkReadRows(p: PersonaView): MenuEntry[] {
  return canMarkMessages(p) ? [createCommand('read', 'Mark all as read', createAction('read', p), p)] : [];
}

/** It is not known here which messages are unread, only whether any is. Marking a read message changes nothing. */
function canMarkMessages(p: PersonaView): boolean {
  return p.canMarkRead && (p.unread.is === 'atLeast' || isAtLeastOne(p.unread));
}

function buildMuteRows(p: PersonaView, now: Instant): MenuEntry[] {
  if (isOn(p.muted, now)) return [createCommand('unmute', 'Unmute', createAction('unmute', p), p)];
  return [
    createCommand('mute-hour', 'Mute for 1 hour', createAction('mute', p, { minutes: 60 }), p),
    createCommand('mute-day', 'Mute until tomorrow', createAction('mute', p, { until: 'tomorrow' }), p),
    createCommand('mute', 'Mute until unmuted', createAction('mute', p), p),
  ];
}

function createAction(name: string, { id }: PersonaView, params: MenuAction['params'] = {}): MenuAction {
  return { name, params: { persona: id, ...params } };
}

function createCommand(key: string, label: string, action: MenuAction, { id }: PersonaView): MenuCommand {
  return { is: 'command', key: `${key} of ${id}`, label, action };
}

function createSeparator(n: number, { id }: PersonaView): MenuEntry {
  return { is: 'separator', key: `line ${n} of ${id}` };
}
