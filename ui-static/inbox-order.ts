import type { PersonaWire, StatusWire } from '../app/status/wire.ts';
import { type NeedLevel, sortByNeed } from '../core/format/index.ts';
import { formatName, type Slots } from './present.ts';

/** The order of the overview: its groups, and the personas in them. Pure, and used on both sides, as `present.ts`. */

export const SORTS = ['need', 'newest', 'name'] as const;
export type Sort = (typeof SORTS)[number];

/** From this many personas on, each is one line. */
const ROWS_FROM = 20;

export function isCrowd(personas: readonly PersonaWire[]): boolean {
  return personas.filter(({ hidden }) => !hidden).length >= ROWS_FROM;
}

export interface GroupItem {
  readonly is: 'group';
  readonly key: string;
  readonly source: string;
  readonly slots: Slots;
  readonly isOpen: boolean;
  /** A hive that is down, with more than one inbox: closed unless the person opened it. */
  readonly folds: boolean;
}

export interface PersonaItem {
  readonly is: 'persona';
  readonly key: string;
  readonly persona: PersonaWire;
}

export type ListItem = GroupItem | PersonaItem;

interface ListOrder {
  readonly sort: Sort;
  /** Whether a group shows its personas. */
  readonly isOpen: (source: string, folds: boolean) => boolean;
}

/** The order of a reader who chose nothing: a hive that is down is closed, because what is wrong with it stands above the list. */
export const FIRST_ORDER: ListOrder = { sort: 'need', isOpen: (_source, folds) => !folds };

/**
 * Returns these personas in their order, grouped by source. The group that has the first persona comes first. A single source has no
 * heading, and is never closed.
 */
export function listInboxes(
  personas: readonly PersonaWire[],
  status: StatusWire,
  order: ListOrder,
): readonly ListItem[] {
  const groups = [...Map.groupBy(sort(personas, status, order.sort), ({ source }) => source)];
  const isSingle = groups.length < 2;
  const down = new Set(status.hives.flatMap(({ source, state }) => (state === 'DOWN' ? [source] : [])));
  return groups.flatMap(([source, members]): readonly ListItem[] => {
    const items = members.map((persona) => ({ is: 'persona', key: `p ${persona.id}`, persona }) as const);
    if (isSingle) return items;
    const isDown = down.has(source);
    const folds = isDown && members.length > 1;
    const isOpen = order.isOpen(source, folds);
    const slots = { group: formatName(source), groupWords: formatGroupCounts(members, isDown) };
    return [{ is: 'group', key: `g ${source}`, source, slots, isOpen, folds }, ...(isOpen ? items : [])];
  });
}

/** What asks for something of the person, by the levels of `core/format/need.ts`. */
const NEEDING: ReadonlySet<NeedLevel> = new Set(['urgent', 'waiting', 'failing', 'unread']);

/** Returns the personas that need the person, the greatest need first. */
export function listNeeding(status: StatusWire): readonly PersonaWire[] {
  const visible = status.personas.filter(({ hidden }) => !hidden);
  return sortByNeed(visible, status).flatMap(([persona, { level }]) => (NEEDING.has(level) ? [persona] : []));
}

function sort(personas: readonly PersonaWire[], status: StatusWire, sort: Sort): readonly PersonaWire[] {
  if (sort === 'need') return sortByNeed(personas, status).map(([persona]) => persona);
  const byName = personas.toSorted((a, b) => compareTexts(a.label, b.label) || compareTexts(a.id, b.id));
  // The texts of two instants are in the order of the instants. Who never got mail comes last.
  return sort === 'name' ? byName : byName.sort((a, b) => compareTexts(b.lastMailAt ?? '', a.lastMailAt ?? ''));
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function formatGroupCounts(members: readonly PersonaWire[], isDown: boolean): string {
  const down = members.filter(({ state }) => state === 'DOWN').length;
  const waiting = members.filter(({ agent }) => agent === 'waiting').length;
  const unread = members.reduce((sum, { unread }) => sum + (unread ?? 0), 0);
  return [
    members.length === 1 ? '1 inbox' : `${members.length} inboxes`,
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(isDown ? ['cannot be read'] : down > 0 ? [`${down} down`] : []),
    ...(unread > 0 ? [`${unread} unread`] : []),
  ].join(', ');
}
