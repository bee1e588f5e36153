import type { Letter, PersonaView } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { formatAge } from './age.ts';
import { atLeastOne, numberOf } from './counts.ts';
import { daemonNotes, stalledText } from './daemon-notes.ts';
import { isOn } from './icon.ts';
import { heldText, localNotes } from './local-notes.ts';
import type { MenuCommand, MenuEntry, Wanted } from './model.ts';
import { plainOf } from './plain-letter.ts';
import { rowName, rowText } from './text.ts';
import type { TimeText } from './time-text.node.ts';

const NAME_MOST = 40;
const REASON_MOST = 80;

/** One persona: a row that says how it does, and behind it its latest messages and all that can be done. */
export function personaRow(p: PersonaView, now: Instant, timeText: TimeText): MenuEntry {
  const label = `${nameOf(p)} - ${newsOf(p, now)}${stalledText(p)}${ageOf(p, now, timeText)}${heldText(p)}${mutedOf(p, now, timeText)}`;
  const open = asks('open', p);
  return {
    is: 'submenu',
    key: `persona ${p.id}`,
    label,
    entries: [
      ...notesOf(p),
      ...localNotes(p),
      ...daemonNotes(p, now, timeText),
      ...lettersOf(p, now),
      line(1, p),
      command('session', 'Open session', open, p),
      command('page', 'Open its page', asks('page', p), p),
      command('follow', 'Copy follow command', asks('copy-follow', p), p),
      line(2, p),
      ...readOf(p),
      command('poll', 'Poll now', asks('poll', p), p),
      ...muteOf(p, now),
      command('hide', 'Hide', asks('hide', p), p),
    ],
    instead: { is: 'command', key: `persona ${p.id}`, label, wanted: open },
  };
}

/** Never empty: a label of nothing visible gives way to the id. */
export function nameOf(p: PersonaView): string {
  return rowName(p.label, NAME_MOST) || rowName(p.id, NAME_MOST) || '?';
}

function newsOf(p: PersonaView, now: Instant): string {
  const unread = p.unread.value;
  const parts: string[] = [];
  if (p.reach.is === 'down') parts.push(`DOWN ${formatAge(now - p.reach.since)}`.trimEnd());
  if (atLeastOne(unread)) parts.push(`${numberOf(unread)} unread`);
  if (atLeastOne(p.urgent.value)) parts.push(`${numberOf(p.urgent.value)} urgent`);
  if (parts.length > 0) return parts.join(', ');
  if (p.reach.is === 'unseen') return 'not seen yet';
  return unread.is === 'exact' ? 'no unread' : 'unread unknown';
}

/** A number that is old says from when it is, down or not: a look that never ends tells of no failure. */
function ageOf({ unread: { value, asOf, staleAfter } }: PersonaView, now: Instant, timeText: TimeText): string {
  const isStale = value.is !== 'unknown' && asOf !== null && staleAfter !== null && staleAfter <= now;
  return isStale ? `, as of ${timeText(asOf, now)}` : '';
}

function mutedOf({ muted }: PersonaView, now: Instant, timeText: TimeText): string {
  if (!isOn(muted, now)) return '';
  return muted.is === 'at' ? `, muted until ${timeText(muted.at, now)}` : ', muted';
}

/** Why its numbers may be old, and why its agent may not know of them. */
function notesOf(p: PersonaView): MenuEntry[] {
  const note = (key: string, text: string | null): MenuEntry[] =>
    text === null ? [] : [{ is: 'text', key: `${key} of ${p.id}`, label: rowText(text, REASON_MOST) }];
  return [...note('reason', p.reason), ...note('held', p.held)];
}

/** By place and not by message: a new one then changes words only, and a host need not build the menu anew. */
function lettersOf(p: PersonaView, now: Instant): MenuEntry[] {
  if (p.latest.length === 0) return [{ is: 'text', key: `letters of ${p.id}`, label: 'No messages yet' }];
  return p.latest.map((letter, i) => letterRow(p, letter, i, now));
}

/** Marking is an act of its own, one step further than opening. */
function letterRow(p: PersonaView, letter: Letter, i: number, now: Instant): MenuEntry {
  const row = command(`letter ${i}`, letterText(letter, now), asks('open', p), p);
  if (!mayMark(p)) return row;
  const read = asks('read', p, { id: letter.id });
  return {
    is: 'submenu',
    key: row.key,
    label: row.label,
    entries: [
      command(`open letter ${i}`, 'Open session', row.wanted, p),
      command(`read letter ${i}`, 'Mark as read', read, p),
    ],
    instead: row,
  };
}

function letterText(letter: Letter, now: Instant): string {
  const { from, at, text } = plainOf(letter);
  const age = at === null ? '' : formatAge(now - at) || 'now';
  return [from, age, text].filter((part) => part !== '').join(' · ');
}

function readOf(p: PersonaView): MenuEntry[] {
  return mayMark(p) ? [command('read', 'Mark all as read', asks('read', p), p)] : [];
}

/** Which of the messages are unread is not known here, only whether any is: marking one that was read changes nothing. */
function mayMark(p: PersonaView): boolean {
  const { value } = p.unread;
  return p.canMarkRead && (value.is === 'atLeast' || atLeastOne(value));
}

function muteOf(p: PersonaView, now: Instant): MenuEntry[] {
  if (isOn(p.muted, now)) return [command('unmute', 'Unmute', asks('unmute', p), p)];
  return [
    command('mute-hour', 'Mute for 1 hour', asks('mute', p, { minutes: 60 }), p),
    command('mute-day', 'Mute until tomorrow', asks('mute', p, { until: 'tomorrow' }), p),
    command('mute', 'Mute for ever', asks('mute', p), p),
  ];
}

function asks(name: string, { id }: PersonaView, params: Wanted['params'] = {}): Wanted {
  return { name, params: { persona: id, ...params } };
}

function command(key: string, label: string, wanted: Wanted, { id }: PersonaView): MenuCommand {
  return { is: 'command', key: `${key} of ${id}`, label, wanted };
}

function line(n: number, { id }: PersonaView): MenuEntry {
  return { is: 'separator', key: `line ${n} of ${id}` };
}
