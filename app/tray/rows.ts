import type { CauseView, HiveView, PersonaView, Snapshot } from '../../core/board/index.ts';
import { addCounts, type Instant } from '../../core/model/index.ts';
import { formatKnownCount, isAtLeastOne } from './counts.ts';
import { findMachineCauses, isRelevantHive } from './icon.ts';
import type { MenuCommand, MenuEntry, TimeFormatter } from './model.ts';
import { buildPersonaRow, formatPersonaName } from './persona-row.ts';
import { formatRowName, formatRowText } from './text.ts';

/** The number of rows that are shown, and of further rows in a submenu. A menu with all of a thousand would be slow. */
const ROWS = 20;
const MORE_MOST = 100;
const NAME_MOST = 40;
const CAUSE_MOST = 80;

const PAGE = { name: 'page', params: {} } as const;

/**
 * Builds the rows, sorted by need: hives and personas that are down, urgent mail, unread mail, the rest. With more than one
 * source, rows are grouped under the name of their source, and the source with the greatest need comes first.
 */
export function buildPersonaRows(snapshot: Snapshot, now: Instant, timeText: TimeFormatter): MenuEntry[] {
  const hives = snapshot.hives.filter((hive) => isDownUnseen(snapshot, hive)).map(buildHiveRow);
  const personas = snapshot.personas.filter((p) => !p.hidden).toSorted((a, b) => computeRank(a) - computeRank(b)); // stable: then by id
  const grouped = new Set(personas.map((p) => p.source)).size > 1;
  const room = Math.max(0, ROWS - hives.length);
  const rest = personas.slice(room);
  const askingIds = new Set(snapshot.decisions.map(({ persona }) => persona));
  const row: RowBuilder = (p) => buildPersonaRow(p, askingIds.has(p.id), now, timeText);
  const rows = [
    ...findMachineCauses(snapshot).map(buildCauseRow),
    ...hives.slice(0, ROWS),
    ...groupRows(personas.slice(0, room), grouped, 'in sight', row),
    ...(rest.length === 0 ? [] : [buildMoreRow(rest, grouped, row)]),
    ...buildHiddenRows(snapshot),
  ];
  return rows.length === 0 ? [{ is: 'text', key: 'nobody', label: 'No inbox is watched yet' }] : rows;
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
  const label = `${formatRowName(hive.source, NAME_MOST)} - DOWN ${formatRowName(hive.address, NAME_MOST)}`;
  return createPageCommand(`hive ${hive.source}`, label);
}

function buildCauseRow({ key, message }: CauseView): MenuEntry {
  return createPageCommand(`cause ${key}`, formatRowText(message, CAUSE_MOST));
}

function createPageCommand(key: string, label: string): MenuCommand {
  return { is: 'command', key, label, action: PAGE };
}

function computeRank(p: PersonaView): number {
  if (p.health.is === 'down') return 0;
  if (isAtLeastOne(p.urgent)) return 1;
  return isAtLeastOne(p.unread) ? 2 : 3;
}
