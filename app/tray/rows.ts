import type { CauseView, HiveView, PersonaView, Snapshot } from '../../core/board/index.ts';
import { type Instant, sumOf } from '../../core/model/index.ts';
import { atLeastOne, numberOf } from './counts.ts';
import { concerns, findMachineCauses } from './icon.ts';
import type { MenuCommand, MenuEntry } from './model.ts';
import { nameOf, personaRow } from './persona-row.ts';
import { rowName, rowText } from './text.ts';
import type { TimeText } from './time-text.node.ts';

/** So many are in sight, and so many more behind one entry; a menu with all of a thousand would only be slow. */
const ROWS = 20;
const MORE_MOST = 100;
const NAME_MOST = 40;
const CAUSE_MOST = 80;

const PAGE = { name: 'page', params: {} } as const;

/**
 * What needs a person comes first: hives and personas that are down, urgent mail, unread mail, the rest. With more than
 * one source the rows stand under the name of theirs, and the source that needs a person most comes first.
 */
export function rowsOf(snapshot: Snapshot, now: Instant, timeText: TimeText): MenuEntry[] {
  const hives = snapshot.hives.filter((hive) => isDownUnseen(snapshot, hive)).map(hiveRow);
  const personas = snapshot.personas.filter((p) => !p.hidden).toSorted((a, b) => rank(a) - rank(b)); // stable: then by id
  const grouped = new Set(personas.map((p) => p.source)).size > 1;
  const room = Math.max(0, ROWS - hives.length);
  const rest = personas.slice(room);
  const rows = [
    ...findMachineCauses(snapshot).map(causeRow),
    ...hives.slice(0, ROWS),
    ...rowsUnder(personas.slice(0, room), grouped, 'in sight', now, timeText),
    ...(rest.length === 0 ? [] : [moreOf(rest, grouped, now, timeText)]),
    ...hiddenOf(snapshot),
  ];
  return rows.length === 0 ? [{ is: 'text', key: 'nobody', label: 'Nobody is watched yet' }] : rows;
}

function rowsUnder(
  personas: readonly PersonaView[],
  grouped: boolean,
  where: string,
  now: Instant,
  timeText: TimeText,
): MenuEntry[] {
  const row = (p: PersonaView): MenuEntry => personaRow(p, now, timeText);
  if (!grouped) return personas.map(row);
  return [...Map.groupBy(personas, (p) => p.source)].flatMap(([source, its]): MenuEntry[] => [
    { is: 'text', key: `source ${where} ${source}`, label: rowName(source, NAME_MOST) },
    ...its.map(row),
  ]);
}

function moreOf(rest: readonly PersonaView[], grouped: boolean, now: Instant, timeText: TimeText): MenuEntry {
  const unread = sumOf(rest.map((p) => p.unread.value));
  const label = `${rest.length} more${atLeastOne(unread) ? ` - ${numberOf(unread)} unread` : ''}`;
  const beyond = rest.length - MORE_MOST;
  return {
    is: 'submenu',
    key: 'more',
    label,
    entries: [
      ...rowsUnder(rest.slice(0, MORE_MOST), grouped, 'behind', now, timeText),
      ...(beyond > 0 ? [toPage('beyond', `${beyond} more on the status page`)] : []),
    ],
    instead: toPage('more', label),
  };
}

/** Who is hidden can be shown again where it was hidden. */
function hiddenOf(snapshot: Snapshot): MenuEntry[] {
  const hidden = snapshot.personas.filter((p) => p.hidden);
  if (hidden.length === 0) return [];
  const label = `Hidden (${hidden.length})`;
  const beyond = hidden.length - MORE_MOST;
  const entries = hidden.slice(0, MORE_MOST).map(
    (p): MenuEntry => ({
      is: 'command',
      key: `hidden ${p.id}`,
      label: `Show ${nameOf(p)} again`,
      wanted: { name: 'unhide', params: { persona: p.id } },
    }),
  );
  if (beyond > 0) entries.push(toPage('hidden-beyond', `${beyond} more on the status page`));
  return [{ is: 'submenu', key: 'hidden', label, entries, instead: toPage('hidden', label) }];
}

/** A hive that is down while no row of a persona says so: it could not even name anybody. */
function isDownUnseen(snapshot: Snapshot, hive: HiveView): boolean {
  return (
    concerns(snapshot, hive) &&
    hive.state === 'DOWN' &&
    !snapshot.personas.some((p) => p.source === hive.source && !p.hidden && p.reach.is === 'down')
  );
}

function hiveRow(hive: HiveView): MenuEntry {
  const label = `${rowName(hive.source, NAME_MOST)} - DOWN ${rowName(hive.address, NAME_MOST)}`;
  return toPage(`hive ${hive.source}`, label);
}

function causeRow({ key, message }: CauseView): MenuEntry {
  return toPage(`cause ${key}`, rowText(message, CAUSE_MOST));
}

function toPage(key: string, label: string): MenuCommand {
  return { is: 'command', key, label, wanted: PAGE };
}

function rank(p: PersonaView): number {
  if (p.reach.is === 'down') return 0;
  if (atLeastOne(p.urgent.value)) return 1;
  return atLeastOne(p.unread.value) ? 2 : 3;
}
