import type { PersonaView, Snapshot } from '../../core/board/index.ts';
import { formatQuantity } from '../../core/format/index.ts';
import { addCounts } from '../../core/model/index.ts';
import type { MenuCommand, MenuEntry } from './model.ts';
import { listNeeding, sortByNeed } from './order.ts';
import { formatKnownCount, formatRowName, isAtLeastOne } from './persona-row.ts';

/** From this many personas of several sources on, each source has a submenu. */
const GROUPS_FROM = 40;
/** So many of those that need a person stay in sight above the groups. */
const TOP = 15;
/** Bounds of the menu as a whole, however many sources and personas there are. */
const MOST_GROUPS = 20;
const MOST_GROUPED = 100;
const NAME_MOST = 40;

/** One source in a menu with many personas. */
interface PersonaGroup {
  readonly source: string;
  /** Those that are not in sight above the groups. */
  readonly members: readonly PersonaView[];
  /** The members that have a row. */
  readonly drawn: readonly PersonaView[];
}

interface GroupedPersonas {
  readonly top: readonly PersonaView[];
  readonly groups: readonly PersonaGroup[];
  /** How many sources have no row. */
  readonly beyond: number;
}

/** Divides many personas into those in sight and a group per source, both by need. Null where the menu is short enough without. */
export function groupPersonas(snapshot: Snapshot): GroupedPersonas | null {
  const personas = sortByNeed(snapshot);
  if (personas.length < GROUPS_FROM || new Set(personas.map(({ source }) => source)).size === 1) return null;
  const top = listNeeding(snapshot).slice(0, TOP);
  const inSight = new Set(top);
  const bySource = [...Map.groupBy(personas, ({ source }) => source)].flatMap(([source, all]) => {
    const members = all.filter((persona) => !inSight.has(persona));
    return members.length === 0 ? [] : [{ source, members }];
  });
  const shown = bySource.slice(0, MOST_GROUPS);
  const most = Math.floor(MOST_GROUPED / Math.max(1, shown.length));
  return {
    top,
    groups: shown.map(({ source, members }) => ({ source, members, drawn: members.slice(0, most) })),
    beyond: bySource.length - shown.length,
  };
}

/** Builds the rows of grouped personas. `page` makes a command that opens the status page. */
export function buildGroupRows(
  { top, groups, beyond }: GroupedPersonas,
  row: (persona: PersonaView) => MenuEntry,
  page: (key: string, label: string) => MenuCommand,
): MenuEntry[] {
  return [
    ...top.map(row),
    ...groups.map((group): MenuEntry => {
      const key = `group ${group.source}`;
      const label = formatGroup(group);
      const more = group.members.length - group.drawn.length;
      return {
        is: 'submenu',
        key,
        label,
        entries: [
          ...group.drawn.map(row),
          ...(more > 0 ? [page(`beyond ${group.source}`, `${more} more on the status page`)] : []),
        ],
        instead: page(key, label),
      };
    }),
    ...(beyond > 0 ? [page('groups beyond', `${formatQuantity(beyond, 'more group')} on the status page`)] : []),
  ];
}

/** Formats `kijito - 400 personas, 12 unread`, without those that are in sight. */
function formatGroup({ source, members }: PersonaGroup): string {
  const unread = addCounts(members.map((persona) => persona.unread));
  const mail = isAtLeastOne(unread) ? `, ${formatKnownCount(unread)} unread` : '';
  return `${formatRowName(source, NAME_MOST)} - ${formatQuantity(members.length, 'persona')}${mail}`;
}
