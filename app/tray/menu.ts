import {
  type CauseView,
  type HiveView,
  isPressing,
  type OpenDecision,
  type OpenPermission,
  type PersonaView,
  type Snapshot,
} from '../../core/board/index.ts';
import {
  formatAsked,
  formatDefaultChoice,
  formatNeeds,
  formatQuantity,
  formatSilence,
} from '../../core/format/index.ts';
import type { PermissionAnswer } from '../../core/hooks/index.ts';
import { addCounts, type Instant } from '../../core/model/index.ts';
import { buildGroupRows, groupPersonas } from './group-rows.ts';
import {
  chooseIcon,
  countAsked,
  findMachineCauses,
  isAsked,
  isDown,
  isHiveDown,
  isOn,
  isRelevantHive,
  isUnseen,
  type MenuAction,
  type MenuCommand,
  type MenuEntry,
  type TimeFormatter,
  type TrayModel,
} from './model.ts';
import { sortByNeed } from './order.ts';
import {
  buildPersonaRow,
  formatKnownCount,
  formatPersonaName,
  formatRowName,
  formatRowText,
  isAtLeastOne,
  isWaiting,
} from './persona-row.ts';

/** Builds the whole tray from one snapshot, so that no part can be older than another. */
export function buildTrayModel(snapshot: Snapshot, now: Instant, timeText: TimeFormatter): TrayModel {
  return {
    icon: chooseIcon(snapshot, now),
    summary: formatSummary(snapshot, now),
    count: formatIconCount(snapshot),
    attention:
      isDown(snapshot) ||
      isAtLeastOne(snapshot.totals.urgent) ||
      snapshot.personas.some((p) => !p.hidden && (isWaiting(p) || (p.questions ?? 0) > 0)) ||
      snapshot.decisions.some(isPressing),
    menu: buildMenu(snapshot, now, timeText),
  };
}

function buildMenu(snapshot: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry[] {
  return [
    ...buildPermissionRows(snapshot),
    ...buildDecisionRows(snapshot, now),
    { is: 'text', key: 'summary', label: formatSummary(snapshot, now) },
    { is: 'separator', key: 'line-1' },
    ...buildPersonaRows(snapshot, now, timeText),
    { is: 'separator', key: 'line-2' },
    ...buildProgramRows(snapshot, now, timeText),
    { is: 'separator', key: 'line-3' },
    { is: 'command', key: 'quit', label: 'Quit', action: { name: 'quit', params: {} } },
  ];
}

/** Formats everything in one line: "1 question for you, 3 unread, 1 urgent, 1 down, notifications paused". */
function formatSummary(snapshot: Snapshot, now: Instant): string {
  const parts = [formatHeadline(snapshot)];
  const { down } = snapshot.totals;
  if (down > 0) parts.push(`${down} down`);
  else if (isHiveDown(snapshot)) parts.push('hive down');
  if (findMachineCauses(snapshot).length > 0) parts.push('problem on this machine');
  const stalled = snapshot.personas.filter(({ agentState, hidden }) => !hidden && agentState.is === 'stalled').length;
  if (stalled > 0) parts.push(`${stalled} whose mail nobody takes`);
  if (isOn(snapshot.paused, now)) parts.push('notifications paused');
  return parts.join(', ');
}

/** What a person is asked for is said even where no inbox was read yet. */
function formatHeadline(snapshot: Snapshot): string {
  const { unread, urgent, personas } = snapshot.totals;
  const asked = countAsked(snapshot);
  if (formatAsked(asked) === null && personas === 0) return 'No inbox is watched yet';
  if (formatAsked(asked) === null && isUnseen(snapshot)) return 'Checking for the first time';
  return formatNeeds({
    ...asked,
    unread: unread.is === 'unknown' ? null : unread.n,
    unreadIs: unread.is,
    urgent: urgent.is === 'unknown' ? null : urgent.n,
    urgentIs: urgent.is,
  });
}

/** Formats the full count: `3`, or `! 3` when a person is asked for something; empty for none. */
function formatIconCount(snapshot: Snapshot): string {
  const { unread } = snapshot.totals;
  const parts = [isAsked(snapshot) ? '!' : '', isAtLeastOne(unread) ? formatKnownCount(unread) : ''];
  return parts.filter((part) => part !== '').join(' ');
}

/** Builds the rows that concern all personas or the program itself. */
function buildProgramRows(snapshot: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry[] {
  return [
    { is: 'command', key: 'page', label: 'Open status page', action: { name: 'page', params: {} } },
    { is: 'command', key: 'poll', label: 'Poll now', action: { name: 'poll', params: {} } },
    buildPauseRow(snapshot, now, timeText),
    buildQuietHoursRow(snapshot, now, timeText),
    ...buildAutostartRows(snapshot),
  ];
}

function buildPauseRow({ paused }: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry {
  const isPaused = isOn(paused, now);
  const end = isPaused && paused.is === 'at' ? paused.at : null;
  const command = (key: string, label: string, action: MenuAction): MenuEntry => ({
    is: 'command',
    key,
    label,
    action,
  });
  const pause = (params: MenuAction['params']): MenuAction => ({ name: 'pause', params });
  const resume: MenuAction = { name: 'resume', params: {} };
  return {
    is: 'submenu',
    key: 'pause',
    label: isPaused ? formatSilence('Notifications paused', end, now, timeText) : 'Pause notifications',
    entries: [
      ...(isPaused ? [command('resume', 'Resume', resume), { is: 'separator', key: 'resume-line' } as const] : []),
      command('pause-half-hour', 'For 30 minutes', pause({ minutes: 30 })),
      command('pause-hour', 'For 1 hour', pause({ minutes: 60 })),
      command('pause-day', 'Until tomorrow', pause({ until: 'tomorrow' })),
      command('pause-open', 'Until resumed', pause({})),
    ],
    instead: {
      is: 'check',
      key: 'pause',
      label: formatSilence('Pause notifications', end, now, timeText),
      checked: isPaused,
      action: isPaused ? resume : pause({}),
    },
  };
}

/** Builds the row of quiet hours: `Quiet hours 22:00 to 07:00 · now, until 07:00`. */
function buildQuietHoursRow(snapshot: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry {
  const { quietHours, quietTimes, quiet } = snapshot;
  const times = quietTimes === null ? '' : ` ${quietTimes.from} to ${quietTimes.to}`;
  const end = quiet.is === 'at' && isOn(quiet, now) ? ` · ${formatSilence('now,', quiet.at, now, timeText)}` : '';
  return {
    is: 'check',
    key: 'quiet-hours',
    label: `Quiet hours${times}${end}`,
    checked: quietHours,
    action: { name: 'quiet-hours', params: { on: !quietHours } },
  };
}

function buildAutostartRows({ autostart }: Snapshot): MenuEntry[] {
  if (autostart === null) return [];
  const action = { name: 'autostart', params: { on: !autostart } };
  return [{ is: 'check', key: 'autostart', label: 'Start at login', checked: autostart, action }];
}

/** The number of rows that are shown, and of further rows in a submenu. A menu with all of a thousand would be slow. */
const ROWS = 20;
const MORE_MOST = 100;
/** Beside groups, so that a menu of fixed lines has room for all. */
const HIVES_BESIDE_GROUPS = 5;
const NAME_MOST = 40;
const CAUSE_MOST = 80;

const PAGE = { name: 'page', params: {} } as const;

/**
 * Builds the rows, sorted by need. With more than one source, rows are grouped under the name of their source, and the source with
 * the greatest need comes first. Many personas of several sources have a submenu for each source.
 */
function buildPersonaRows(snapshot: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry[] {
  const hives = snapshot.hives.filter((hive) => isDownUnseen(snapshot, hive)).map(buildHiveRow);
  const personas = sortByNeed(snapshot);
  const grouped = new Set(personas.map((p) => p.source)).size > 1;
  const room = Math.max(0, ROWS - hives.length);
  const rest = personas.slice(room);
  const askingIds = new Set(snapshot.decisions.map(({ persona }) => persona));
  const row: RowBuilder = (p) => buildPersonaRow(p, askingIds.has(p.id), now, timeText);
  const groups = groupPersonas(snapshot);
  const rows = [
    ...findMachineCauses(snapshot).map(buildCauseRow),
    ...hives.slice(0, groups === null ? ROWS : HIVES_BESIDE_GROUPS),
    ...(groups === null
      ? [
          ...groupRows(personas.slice(0, room), grouped, 'in sight', row),
          ...(rest.length === 0 ? [] : [buildMoreRow(rest, grouped, row)]),
        ]
      : buildGroupRows(groups, row, createPageCommand)),
    ...buildHiddenRows(snapshot),
  ];
  return rows.length === 0 ? [{ is: 'text', key: 'nobody', label: 'No inbox is watched yet' }] : rows;
}

/** Returns the personas that have a row, and perhaps a few more. */
export function listDrawnPersonas(snapshot: Snapshot): readonly PersonaView[] {
  const groups = groupPersonas(snapshot);
  if (groups !== null) return [...groups.top, ...groups.groups.flatMap(({ drawn }) => drawn)];
  return sortByNeed(snapshot).slice(0, ROWS + MORE_MOST);
}

type RowBuilder = (p: PersonaView) => MenuEntry;

function groupRows(personas: readonly PersonaView[], grouped: boolean, where: string, row: RowBuilder): MenuEntry[] {
  if (!grouped) return personas.map(row);
  return [...Map.groupBy(personas, (p) => p.source)].flatMap(([source, members]): MenuEntry[] => [
    { is: 'text', key: `source ${where} ${source}`, label: formatRowName(source, NAME_MOST) },
    ...members.map(row),
  ]);
}

function buildMoreRow(rest: readonly PersonaView[], grouped: boolean, row: RowBuilder): MenuEntry {
  const unread = addCounts(rest.map((p) => p.unread));
  const label = `${rest.length} more${isAtLeastOne(unread) ? ` - ${formatKnownCount(unread)} unread` : ''}`;
  const beyond = rest.length - MORE_MOST;
  return {
    is: 'submenu',
    key: 'more',
    label,
    entries: [
      ...groupRows(rest.slice(0, MORE_MOST), grouped, 'behind', row),
      ...(beyond > 0 ? [createPageCommand('beyond', `${beyond} more on the status page`)] : []),
    ],
    instead: createPageCommand('more', label),
  };
}

/** Hidden personas can be shown again here. */
function buildHiddenRows(snapshot: Snapshot): MenuEntry[] {
  const hidden = snapshot.personas.filter((p) => p.hidden);
  if (hidden.length === 0) return [];
  const label = `Hidden (${hidden.length})`;
  const beyond = hidden.length - MORE_MOST;
  const entries = hidden.slice(0, MORE_MOST).map(
    (p): MenuEntry => ({
      is: 'command',
      key: `hidden ${p.id}`,
      label: `Show ${formatPersonaName(p)} again`,
      action: { name: 'unhide', params: { persona: p.id } },
    }),
  );
  if (beyond > 0) entries.push(createPageCommand('hidden-beyond', `${beyond} more on the status page`));
  return [{ is: 'submenu', key: 'hidden', label, entries, instead: createPageCommand('hidden', label) }];
}

/** Returns whether a hive is down while no row of a persona shows it, for example because it could not list any persona. */
function isDownUnseen(snapshot: Snapshot, hive: HiveView): boolean {
  return (
    isRelevantHive(snapshot, hive) &&
    hive.state === 'DOWN' &&
    !snapshot.personas.some((p) => p.source === hive.source && !p.hidden && p.health.is === 'down')
  );
}

function buildHiveRow(hive: HiveView): MenuEntry {
  const label = `${formatRowName(hive.source, NAME_MOST)} - down: ${formatRowName(hive.address, NAME_MOST)}`;
  return createPageCommand(`hive ${hive.source}`, label);
}

function buildCauseRow({ key, message }: CauseView): MenuEntry {
  return createPageCommand(`cause ${key}`, formatRowText(message, CAUSE_MOST));
}

function createPageCommand(key: string, label: string): MenuCommand {
  return { is: 'command', key, label, action: PAGE };
}

/** More prompts are on the page. */
const MOST_PERMISSIONS = 5;
/** A call with more lines, or longer ones, is read and allowed on the page. */
const CALL_LINES = 10;
const CALL_LINE_MOST = 100;

/** Builds the rows of permission prompts, oldest first. */
function buildPermissionRows(snapshot: Snapshot): MenuEntry[] {
  const rest = snapshot.permissions.length - MOST_PERMISSIONS;
  return [
    ...snapshot.permissions.slice(0, MOST_PERMISSIONS).map((permission) => buildPermissionRow(permission, snapshot)),
    ...(rest > 0
      ? [createPageCommand('permissions beyond', `${formatQuantity(rest, 'more permission prompt')} for you`)]
      : []),
  ];
}

/** Builds a submenu with the call and the answers. It can be allowed only where the rows show every character of it. */
function buildPermissionRow(permission: OpenPermission, { personas }: Snapshot): MenuEntry {
  const { id, number, persona, tool, text, cut } = permission;
  const asking = personas.find((p) => p.id === persona);
  const name = asking === undefined ? formatRowName(persona, NAME_MOST) || '?' : formatPersonaName(asking);
  const label = `${name} asks to use ${formatRowText(tool, NAME_MOST)}`;
  const key = `permission ${number}`;
  const lines = text.split('\n');
  const isShown = lines.length <= CALL_LINES && lines.every(isShownExactly) && formatRowText(tool, NAME_MOST) === tool;
  const isWhole = cut === 0 && isShown;
  const rows = lines.slice(0, CALL_LINES).map((line) => formatRowText(line, CALL_LINE_MOST));
  const answer = (kind: PermissionAnswer, words: string): MenuEntry => ({
    is: 'command',
    key: `${key} ${kind}`,
    label: words,
    action: { name: 'permit', params: { permission: id, answer: kind, from: 'menu' } },
  });
  const page = createPageCommand(
    `${key} page`,
    isWhole ? 'Answer on the page' : 'Read all of it and answer on the page',
  );
  return {
    is: 'submenu',
    key,
    label,
    entries: [
      ...rows.map((row, i): MenuEntry => ({ is: 'text', key: `${key} line ${i}`, label: row })),
      { is: 'separator', key: `${key} line` },
      ...(isWhole ? [answer('allow', 'Allow once')] : []),
      answer('deny', 'Deny'),
      answer('terminal', 'Answer in the terminal'),
      page,
    ],
    instead: createPageCommand(key, label),
  };
}

const isShownExactly = (line: string): boolean => formatRowText(line, CALL_LINE_MOST) === line;

/** The most rows that are shown. A person answers one decision at a time. */
const MOST_DECISIONS = 5;
const PROMPT_MOST = 60;
const LINE_MOST = 80;

/** Builds the rows of open decisions: first those that block an agent, then the oldest. */
function buildDecisionRows(snapshot: Snapshot, now: Instant): MenuEntry[] {
  const decisions = snapshot.decisions.toSorted(
    (a, b) => computeDecisionRank(a) - computeDecisionRank(b) || a.created - b.created || a.id - b.id,
  );
  const rest = decisions.length - MOST_DECISIONS;
  return [
    ...decisions.slice(0, MOST_DECISIONS).map((decision) => buildDecisionRow(decision, snapshot, now)),
    ...(rest > 0
      ? [createDecisionPageCommand('decisions beyond', `${formatQuantity(rest, 'more question')} for you`, {})]
      : []),
  ];
}

/** Builds a submenu with the details, one entry per option, and a link to the page, where text can be written. */
function buildDecisionRow(decision: OpenDecision, { personas }: Snapshot, now: Instant): MenuEntry {
  const { id, persona, prompt, context, options } = decision;
  const asking = personas.find((p) => p.id === persona);
  const label = `${asking === undefined ? formatRowName(persona, NAME_MOST) || '?' : formatPersonaName(asking)} asks: ${formatRowText(prompt, PROMPT_MOST) || '?'}`;
  const page = asking === undefined ? {} : { persona }; // a persona that is not watched has no page
  const key = `decision ${id}`;
  const first = findFirstLine(context ?? '');
  return {
    is: 'submenu',
    key,
    label,
    entries: [
      ...(first === '' ? [] : [{ is: 'text', key: `${key} context`, label: first } as const]),
      ...options.map(
        (option): MenuEntry => ({
          is: 'command',
          key: `${key} option ${option.id}`,
          label: formatOption(decision, option, now),
          action: { name: 'decide', params: { decision: id, select: option.id } },
        }),
      ),
      { is: 'separator', key: `${key} line` },
      createDecisionPageCommand(`${key} page`, 'Answer on the page', page),
    ],
    instead: createDecisionPageCommand(key, label, page),
  };
}

function formatOption(
  { fallback, expires }: OpenDecision,
  { id, label }: OpenDecision['options'][number],
  now: Instant,
): string {
  const chosen = id === fallback ? formatDefaultChoice(expires, now) : null;
  return `${formatRowText(label, LINE_MOST) || id}${chosen === null ? '' : ` (${chosen})`}`;
}

function findFirstLine(text: string): string {
  for (const line of text.split('\n')) {
    const rowLine = formatRowText(line, LINE_MOST);
    if (rowLine !== '') return rowLine;
  }
  return '';
}

function createDecisionPageCommand(key: string, label: string, params: MenuAction['params']): MenuCommand {
  return { is: 'command', key, label, action: { name: 'page', params } };
}

function computeDecisionRank(decision: OpenDecision): number {
  return isPressing(decision) ? 0 : 1;
}
