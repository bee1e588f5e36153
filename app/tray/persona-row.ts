import type { ByPriority, MessagePreview, OpenGate, PersonaView } from '../../core/board/index.ts';
import {
  computeMsUntilDurationChanges,
  displayName,
  formatAgentState,
  formatCount,
  formatDuration,
  formatQuantity,
  formatRest,
  formatSilence,
  stripUnseen,
} from '../../core/format/index.ts';
import { DECISION } from '../../core/inbox/gates/index.ts';
import { MOST_COUNTED } from '../../core/inbox/index.ts';
import type { Count, Instant } from '../../core/model/index.ts';
import { findReasonText } from '../../core/sources/derived.ts';
import { isOn, type MenuAction, type MenuCommand, type MenuEntry, type TimeFormatter } from './model.ts';

const NAME_MOST = 40;
const REASON_MOST = 80;

/**
 * Builds the row of one persona. It shows the state, and the newest message while one is unread; its submenu has the latest messages
 * and the actions. `isAsking`: a question of it waits for the person's answer.
 */
export function buildPersonaRow(p: PersonaView, isAsking: boolean, now: Instant, timeText: TimeFormatter): MenuEntry {
  const notes = `${formatStaleness(p, now, timeText)}${formatHeld(p, isAsking)}${formatMuted(p, now, timeText)}`;
  const name = `${formatPersonaName(p)} - `;
  const label = `${name}${formatRow(p, notes, now, ROW_MOST - name.length)}`;
  const open = createAction('open', p);
  return {
    is: 'submenu',
    key: `persona ${p.id}`,
    label,
    entries: [
      ...buildNoteRows(p),
      ...buildPlaceRow(p),
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

/**
 * Formats the state and the newest message. Where there is no room for both, the message comes before what an agent does that waits for
 * nobody.
 */
function formatRow(p: PersonaView, notes: string, now: Instant, room: number): string {
  const inbox = `${formatPersonaState(p, now)}${notes}`;
  const state = formatState(p, notes, now);
  for (const text of isWaiting(p) ? [state] : [state, inbox]) {
    const newest = formatNewest(p, room - text.length - SEPARATOR.length, now);
    if (newest !== null) return `${text}${SEPARATOR}${newest}`;
  }
  return state;
}

/** A row with a message is cut to this many characters, so that the menu stays narrow. */
const ROW_MOST = 72;
/** A shorter piece of a message says nothing. */
const NEWEST_LEAST = 16;
const SEPARATOR = ' · ';

/** Formats the newest message, while one is unread: `bo: Build is red, 3 min`. Null where the row has no room for it. */
function formatNewest(p: PersonaView, room: number, now: Instant): string | null {
  const [message] = p.latestMessages;
  if (message === undefined || !isAtLeastOne(p.unread)) return null;
  const { from, at, subject, text } = toMessageRowText(message);
  const duration = at === null ? '' : formatAge(now - at);
  const age = duration === '' ? '' : `, ${duration}`;
  const words = subject || text;
  const left = room - age.length;
  if (left < NEWEST_LEAST) return null;
  return `${formatRowText(words === '' ? from : `${from}: ${words}`, left)}${age}`;
}

/** Never empty: a label without visible characters is replaced by the id. */
export function formatPersonaName(p: PersonaView): string {
  return formatRowName(p.label, NAME_MOST) || formatRowName(p.id, NAME_MOST) || '?';
}

/**
 * Formats the inbox and what its agent does: `2 unread, muted · Working, 12 min`. An agent that waits comes first, and an empty inbox
 * says nothing beside what the agent does.
 */
function formatState(p: PersonaView, notes: string, now: Instant): string {
  const inbox = `${formatPersonaState(p, now)}${notes}`;
  const agent = formatAgent(p, now);
  if (agent === null) return inbox;
  if (isEmpty(p)) return `${agent}${notes}`;
  return (isWaiting(p) ? [agent, inbox] : [inbox, agent]).join(SEPARATOR);
}

const AGENT_MOST = 60;
/** The states of which a person wants to know for how long. */
const WITH_AGE: ReadonlySet<PersonaView['agentState']['is']> = new Set(['waiting', 'working', 'stalled']);

export function isWaiting({ agentState }: Pick<PersonaView, 'agentState'>): boolean {
  return agentState.is === 'waiting';
}

/** Returns since when the agent does what the row says for how long; null when the row does not say it. */
export function findAgentSince({ agentState: { is, since } }: Pick<PersonaView, 'agentState'>): Instant | null {
  return WITH_AGE.has(is) ? (since ?? null) : null;
}

/** Formats what the agent does and for how long: `Waits at a permission prompt, 3 min`. Null when nobody says it. */
function formatAgent(p: PersonaView, now: Instant): string | null {
  const { is, why = null } = p.agentState;
  const doing = formatAgentState(is, why, findReasonText(why));
  if (doing === null) return null;
  const since = findAgentSince(p);
  const age = since === null ? '' : formatAge(now - since);
  return `${formatRowText(doing, AGENT_MOST)}${age === '' ? '' : `, ${age}`}`;
}

/** Builds the submenu row that says where the agent works and with what model. */
function buildPlaceRow({ id, agentState: { cwd, model } }: PersonaView): MenuEntry[] {
  const parts = [cwd, model].flatMap((part) => (part === undefined ? [] : [formatRowText(part, PLACE_MOST)]));
  return parts.length === 0 ? [] : [{ is: 'text', key: `place of ${id}`, label: parts.join(' · ') }];
}

const PLACE_MOST = 60;

/** Returns whether the inbox was read and has nothing to say. */
function isEmpty({ health, unread, urgent, questions }: PersonaView): boolean {
  return (
    health.is === 'up' && (questions ?? 0) === 0 && unread.is === 'exact' && unread.n === 0 && !isAtLeastOne(urgent)
  );
}

function formatPersonaState(p: PersonaView, now: Instant): string {
  const unread = p.unread;
  const parts: string[] = [];
  if (p.health.is === 'down') parts.push(formatDown(now - p.health.since));
  if (p.questions !== null && p.questions > 0) parts.push(formatQuantity(p.questions, 'question'));
  if (isAtLeastOne(unread)) parts.push(`${formatKnownCount(unread)} unread`);
  if (isAtLeastOne(p.urgent)) parts.push(`${formatKnownCount(p.urgent)} urgent`);
  if (parts.length > 0) return parts.join(', ');
  if (p.health.is === 'unseen') return 'not checked yet';
  return unread.is === 'exact' ? 'no unread' : 'unread unknown';
}

/** Formats `down for 4 min`; in the first minute `down`. */
function formatDown(ms: number): string {
  const age = formatAge(ms);
  return age === '' ? 'down' : `down for ${age}`;
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
  const { id, link } = message;
  const open = createAction('open', p);
  const follow = link === null ? null : createAction('open-item', p, { id });
  const row = createCommand(`letter ${i}`, formatMessageRow(message, now), follow ?? open, p);
  const canMark = canMarkMessages(p);
  if (follow === null && !canMark) return row;
  return {
    is: 'submenu',
    key: row.key,
    label: row.label,
    entries: [
      ...(follow === null ? [] : [createCommand(`link letter ${i}`, 'Open link', follow, p)]),
      createCommand(`open letter ${i}`, 'Open session', open, p),
      ...(canMark ? [createCommand(`read letter ${i}`, 'Mark as read', createAction('read', p, { id }), p)] : []),
    ],
    instead: row,
  };
}

function formatMessageRow(message: MessagePreview, now: Instant): string {
  const { from, at, subject, text } = toMessageRowText(message);
  const age = at === null ? '' : formatAge(now - at) || 'now';
  return [from, age, subject, text].filter((part) => part !== '').join(' · ');
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

const LOCAL_NAME_MOST = 24;
const LINE_MOST = 60;
/** The number of gates that have a line each. */
const GATES = 5;

/** The names of the priorities, 0 first. */
const PRIORITIES = ['critical', 'high', 'normal', 'low', 'bulk'] as const;
/** Normal mail is only counted; it needs no line of its own. */
const NORMAL = 2;

/**
 * Formats the note for a gate that blocks the agent: `, blocked at Stop by ship`, or `, waiting for your answer` if its
 * question is open and what the agent does says nothing of it. A gate that only warns blocks nobody.
 */
function formatHeld({ gates, agentState }: PersonaView, isAsking: boolean): string {
  const isShown = typeof agentState.decision === 'number';
  const strict = gates.filter(({ id, mode }) => mode === 'strict' && !(isShown && id === DECISION));
  if (isAsking && strict.some(({ id }) => id === DECISION)) return ', waiting for your answer';
  const [first] = strict;
  if (first === undefined) return '';
  return `, blocked at ${formatRowName(first.hook, LOCAL_NAME_MOST)} by ${formatRowName(first.id, LOCAL_NAME_MOST)}${formatRest(strict.length - 1)}`;
}

/** Builds the submenu rows: one for each open gate, and one with the pending items by priority unless all are normal. */
function buildLocalRows({ id, gates, pending }: PersonaView): MenuEntry[] {
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
  const gate = `${mode === 'strict' ? 'Blocked' : 'Warned'} at ${formatRowName(hook, LOCAL_NAME_MOST)} by ${formatRowName(id, LOCAL_NAME_MOST)}`;
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

const MINUTE = 60_000;

/** Formats an age for a menu row. It is empty below a minute, so that no row changes every second. */
export function formatAge(ms: number): string {
  return ms < MINUTE ? '' : formatDuration(ms);
}

/** Returns after how many milliseconds `formatAge` gives another text, or a shorter time. */
export function computeMsUntilAgeChange(ms: number): number {
  return ms < MINUTE ? MINUTE - ms : computeMsUntilDurationChanges(ms);
}

type KnownCount = Exclude<Count, { is: 'unknown' }>;

export function isAtLeastOne(count: Count): count is KnownCount {
  return count.is !== 'unknown' && count.n > 0;
}

/** Formats `3`, or `200+` when there may be more. */
export function formatKnownCount(count: KnownCount): string {
  return formatCount(count.n, count.is);
}

const SENDER_MOST = 24;
const SUBJECT_MOST = 40;
/** The first words after a subject. */
const TEXT_AFTER_MOST = 30;

/** The texts of a message in a menu row. */
interface MessageRowText {
  readonly from: string;
  /** Null when the message has no readable time. */
  readonly at: Instant | null;
  /** Empty for none. */
  readonly subject: string;
  /** Empty where content is left out. */
  readonly text: string;
}

/** A message never changes and is drawn many times, so its texts are computed once and dropped with it. */
const cache = new WeakMap<MessagePreview, MessageRowText>();

export function toMessageRowText(message: MessagePreview): MessageRowText {
  const known = cache.get(message);
  if (known !== undefined) return known;
  const messageRow = {
    from: formatRowName(message.from, SENDER_MOST) || '?',
    at: parseTimestamp(message.created),
    subject: formatRowText(message.subject, SUBJECT_MOST),
    text: formatRowText(message.text ?? '', message.subject === '' ? LINE_MOST : TEXT_AFTER_MOST),
  };
  cache.set(message, messageRow);
  return messageRow;
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(?:Z|([+-])(\d\d):?(\d\d))?$/;

/**
 * Parses when a message was written. Sources may give any form or none. Without a zone it is UTC. Null when it cannot be parsed.
 */
export function parseTimestamp(created: string): Instant | null {
  const match = ISO.exec(created);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part = '0') => Number(part));
  const fraction = Number(match[7] ?? 0) * 1000;
  const zone = (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)) * (match[8] === '-' ? -1 : 1);
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) + fraction - zone * 60_000;
}

/** The states that a daemon reports with a reason; others report what the agent itself does. */
const DAEMON_STATES: ReadonlySet<PersonaView['agentState']['is']> = new Set(['stalled', 'gone', 'unknown']);

/** Builds the submenu rows of a persona daemon: what the daemon reports about itself. */
function buildDaemonRows(
  { id, daemon, agentState, unread }: PersonaView,
  now: Instant,
  timeText: TimeFormatter,
): MenuEntry[] {
  const why = DAEMON_STATES.has(agentState.is) ? (agentState.why ?? null) : null;
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

/** Terminal sequences. If only the escape character were removed, the rest would remain as garbage. */
const SEQUENCES = new RegExp(
  `${String.fromCharCode(0x1b)}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?)`,
  'gu',
);

/** Many marks on one letter would be drawn across the rows above and below. */
const PILE = /(\p{M}{3})\p{M}+/gu;

/** Letters that are read from right to left, and that would turn the row around them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/**
 * The mark before the isolate is for renderers that take the direction of the row from its first letter, even inside an isolate.
 */
const ISOLATE = '\u200e\u2068';
const ISOLATE_ENDS = '\u2069';

/** Matches most texts: words of printable ASCII with one blank between them. They need no change. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Only this part of a text is read, because a mail may be a megabyte. */
const SCAN_FACTOR = 16;

/**
 * Formats a name for a menu row, like `formatRowText`. Invisible characters are shown by their number, since two names must not
 * look alike.
 */
export function formatRowName(name: string, most: number): string {
  return formatRowText(name, most) === '' ? '' : formatRowText(displayName(name.slice(0, most * SCAN_FACTOR)), most);
}

/**
 * Formats untrusted text for one menu row: one line, no invisible characters, at most `most` characters, with a `…` when cut.
 * Text that runs from right to left is isolated, so that its neighbours stay in place.
 */
export function formatRowText(text: string, most: number): string {
  const near = text.slice(0, most * SCAN_FACTOR);
  if (PLAIN.test(near)) return text.length <= most ? text : `${near.slice(0, most - 1).trimEnd()}…`;
  const spaced = near
    .toWellFormed()
    .replace(SEQUENCES, '')
    .replace(/[\s\p{Cc}]+/gu, ' ');
  const line = stripUnseen(spaced).replace(PILE, '$1').replace(/ {2,}/g, ' ').trim();
  const characters = [...line];
  const whole = characters.length <= most && near.length === text.length;
  const cutText = whole
    ? line
    : `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
  return RIGHT_TO_LEFT.test(cutText) ? `${ISOLATE}${cutText}${ISOLATE_ENDS}` : cutText;
}
