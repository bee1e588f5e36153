import {
  type Attention,
  type AttentionItem,
  type AttentionReason,
  type BoardSection,
  findAttentionItems,
  getStatus,
} from './attention.ts';
import type { JournalView } from './journal.ts';
import { type ActivityRecord, type Entity, type Projection, shortenText } from './projection.ts';

/** The most rows of a section in one sheet. */
export const MOST_ROWS = 100;
const MOST_TITLE = 200;
const MOST_TEXT = 600;
const MOST_NAME = 80;

/** The fields that may hold an item's title, the best first. */
const TITLES = ['title', 'name', 'text', 'description', 'scope', 'prompt', 'short_label'] as const;

/** The fields that may hold the text beside the title. */
const TEXTS = ['prompt', 'text', 'description'] as const;

const ENDED: ReadonlySet<string> = new Set([
  ...['completed', 'cancelled', 'failed', 'timed_out', 'expired', 'rerouted', 'interrupted'],
]);
const UNDER_WAY: ReadonlySet<string> = new Set(['in_progress', 'blocked']);

interface SectionPart {
  readonly itemType: string;
  /** Which statuses are shown; absent for all. */
  readonly shows?: (status: string) => boolean;
}

/** What each section shows, in the order of the protocol (observer protocol 6, 6.2). */
const SECTIONS: readonly {
  readonly id: SheetSectionId;
  readonly of: readonly SectionPart[];
  readonly first?: string;
}[] = [
  {
    id: 'in-progress',
    of: [
      { itemType: 'plan', shows: (status) => UNDER_WAY.has(status) },
      { itemType: 'claim', shows: (status) => status === 'active' },
      { itemType: 'assignment', shows: (status) => !ENDED.has(status) },
      { itemType: 'agent_run', shows: (status) => !ENDED.has(status) },
    ],
  },
  {
    id: 'recently-terminal',
    of: [
      { itemType: 'assignment', shows: (status) => ENDED.has(status) },
      { itemType: 'agent_run', shows: (status) => ENDED.has(status) },
    ],
  },
  { id: 'sprints', of: [{ itemType: 'sequence' }], first: 'active' },
  { id: 'backlog', of: [{ itemType: 'plan', shows: (status) => status === 'todo' }] },
  { id: 'candidates', of: [{ itemType: 'candidate', shows: (status) => status === 'pending' }] },
  { id: 'actions', of: [{ itemType: 'state' }], first: 'pending' },
  { id: 'handoffs', of: [{ itemType: 'handoff' }], first: 'open' },
  { id: 'traps', of: [{ itemType: 'trap' }], first: 'active' },
];

/** Which rows of which section a sheet has. Without a page it has the first rows of all sections. */
export interface SheetPage {
  readonly section: string;
  /** How many rows are skipped before the page. */
  readonly from: number;
}

/**
 * All sections with their first rows, newest first, or one page of one section. The attention section is sorted by need and time.
 */
export function toSections(projection: Projection, page: SheetPage | null = null): readonly ProjectSheetSection[] {
  const from = page?.from ?? 0;
  const sections = [
    toSection('attention', sortByNeed(findAttentionItems(projection)), ({ entity, why }) => toRow(entity, why), from),
  ];
  for (const { id, of: parts, first } of SECTIONS) {
    const items = parts.flatMap(({ itemType, shows }) =>
      [...projection.getByType(itemType).values()].filter((entity) => shows?.(getStatus(entity)) !== false),
    );
    sections.push(toSection(id, sortNewestFirst(items, first), (entity) => toRow(entity, null), from));
    if (id === 'candidates')
      sections.push(toSection('activity', projection.activity.toReversed(), toActivityRow, from));
  }
  return page === null ? sections : sections.filter(({ id }) => id === page.section);
}

function toSection<T>(
  id: SheetSectionId,
  items: readonly T[],
  row: (item: T) => ProjectSheetRow,
  from: number,
): ProjectSheetSection {
  const rows = items.slice(from, from + MOST_ROWS).map(row);
  return { id, total: items.length, rows, rest: Math.max(0, items.length - from - rows.length) };
}

/** Items that are blocked without a person come first, items that can wait last. */
const NEED: readonly AttentionReason[] = [
  'pending_actions',
  'blocked_assignments',
  'stale_runs',
  'pending_human_candidates',
];
/**
 * How many items of each kind come before all others. The page shows eight rows at first, so many items of one kind do not hide
 * the other kinds.
 */
const FIRST_OF_KIND = 2;

/** Sorts by need, then newest first, after the newest few of every kind. */
function sortByNeed(items: readonly AttentionItem[]): readonly AttentionItem[] {
  const newest = items.toSorted((a, b) => (b.entity.seq ?? 0) - (a.entity.seq ?? 0));
  const kinds = NEED.map((why) => newest.filter((item) => item.why === why));
  return [
    ...kinds.flatMap((kind) => kind.slice(0, FIRST_OF_KIND)),
    ...kinds.flatMap((kind) => kind.slice(FIRST_OF_KIND)),
  ];
}

/** Sorts by the record that last changed each item; items from a checkpoint count as oldest. */
function sortNewestFirst(items: readonly Entity[], first: string | undefined): readonly Entity[] {
  const rank = (entity: Entity): number => (getStatus(entity) === first ? 0 : 1);
  return items.toSorted((a, b) => rank(a) - rank(b) || (b.seq ?? 0) - (a.seq ?? 0));
}

function toRow(entity: Entity, why: AttentionReason | null): ProjectSheetRow {
  const { item_type: itemType, item_id: id, payload, seq, ts, agent } = entity;
  const title = findTitle(entity);
  return {
    ...{ key: `${itemType}:${id}`, itemType, id, title, text: findText(entity, title) },
    status: tidy(getStatus(entity), MOST_NAME),
    agent: parseName(payload.agent ?? payload.assignee ?? payload.to),
    from: parseName(payload.from ?? payload.dispatcher_agent ?? payload.author) ?? parseName(agent),
    ts: ts ?? parseName(payload.updated_at ?? payload.created_at),
    ...{ seq, why },
  };
}

function findTitle({ payload }: Entity): string {
  for (const key of TITLES) {
    const text = payload[key];
    if (typeof text === 'string' && text.trim() !== '') return tidy(text, MOST_TITLE);
  }
  return '';
}

function findText({ payload }: Entity, title: string): string | null {
  for (const key of TEXTS) {
    const value = payload[key];
    const text = typeof value === 'string' ? tidy(value, MOST_TEXT) : '';
    if (text !== '' && tidy(text, MOST_TITLE) !== title) return text;
  }
  return null;
}

function toActivityRow({ seq, ts, agent, action, item_type, item_id, summary }: ActivityRecord): ProjectSheetRow {
  return {
    ...{ key: `seq:${seq}`, itemType: item_type, id: item_id, title: tidy(summary ?? '', MOST_TITLE), text: null },
    ...{ status: tidy(action, MOST_NAME), agent: parseName(agent), from: parseName(agent), ts, seq, why: null },
  };
}

function parseName(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? tidy(value, MOST_NAME) : null;
}

/** The text as one line of at most `most` characters, without control characters and marks that change the text direction. */
function tidy(text: string, most: number): string {
  const line = shortenText(text, 4 * most)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
  return line.length <= most ? line : `${shortenText(line, most - 1)}…`;
}

/**
 * What every surface shows of a project, in plain values that are valid JSON. Texts come from anybody who writes to the store.
 * They are cut and hold no control characters, and every surface still has to escape them.
 */
export interface ProjectSheet {
  /** What has to be shown beside the numbers. */
  readonly remarks: readonly Remark[];
  /** The highest seq that was applied; null when the journal is off or empty. */
  readonly seq: number | null;
  /** When the last record was written, as its writer states it; null when it does not, or there is no record. */
  readonly ts: string | null;
  /** Null means unknown, not zero. */
  readonly counts: Readonly<Record<SheetCount, number | null>>;
  /** Null means unknown: the journal is off. */
  readonly attention: Attention | null;
  /** How many items make up the project's knowledge, by item type; null means unknown. */
  readonly system: Readonly<Record<string, number>> | null;
  /** Sorted by name. */
  readonly agents: readonly ProjectSheetAgent[];
  /** In the order of the protocol (observer protocol 6.2); empty while the journal is off. */
  readonly sections: readonly ProjectSheetSection[];
  /** Counts that do not come from the journal but from brainclaw's one answer (brainclaw contract 9). */
  readonly seeded: readonly SheetCount[];
}

export type SheetCount = 'plans' | 'claims' | 'assignments' | 'runs' | 'actions' | 'failedRuns' | 'agents' | 'sessions';

/** `recently-terminal` is shown below `in-progress`; `system` and `agents` are separate fields of the sheet. */
export type SheetSectionId = Exclude<BoardSection, 'system' | 'agents'> | 'recently-terminal';

export interface ProjectSheetSection {
  readonly id: SheetSectionId;
  /** How many items the section has. */
  readonly total: number;
  /** The first rows, or those of the requested page. */
  readonly rows: readonly ProjectSheetRow[];
  /** How many items follow that are left out. */
  readonly rest: number;
}

export interface ProjectSheetRow {
  /** `item_type:item_id`, or for an activity record `seq:` and its number. Unique in a section. */
  readonly key: string;
  readonly itemType: string;
  /** Null for an activity record that is about no item. */
  readonly id: string | null;
  /** Short and on one line; empty when the item has no text. */
  readonly title: string;
  /** The text beside the title, on one line, such as what an action asks. Null when there is none. */
  readonly text: string | null;
  /** The status of an item, or the action of an activity record. Empty when there is none. */
  readonly status: string;
  /** The agent it is about or addressed to; for an activity record the one who wrote it. Null for nobody. */
  readonly agent: string | null;
  /** Who wrote or sent it; null when unknown. */
  readonly from: string | null;
  /** UTC, as the writer states it; null when unknown. */
  readonly ts: string | null;
  /** The seq of the record that last changed it; null when it comes from a checkpoint. */
  readonly seq: number | null;
  /** In the attention section, why the item is listed; null in all others. */
  readonly why: AttentionReason | null;
}

/** An agent of a project. Null means unknown, because mail is switched off or the journal is off. */
export interface ProjectSheetAgent {
  /** The name of its inbox. */
  readonly agent: string;
  /** How many messages nobody has read. */
  readonly pending: number | null;
  /** How many messages ask for something. */
  readonly actionable: number | null;
  readonly open_handoffs: number | null;
  readonly assignments: number | null;
  readonly actions: number | null;
  /** How many files in its inbox are no messages; null when mail is switched off. */
  readonly skipped: number | null;
}

/** What has to be shown beside the numbers of a board (brainclaw contract 4, 9). */
export type Remark = 'journal-off' | 'incomplete' | 'from-checkpoint' | 'registry-partial' | `skipped=${number}`;

/**
 * The remarks about a board. An empty list means that the board shows everything there is.
 * `journal-off`: the numbers are unknown, not zero. `registry-partial`: the numbers of claims, assignments, runs and actions may
 * be too low. `incomplete`: segments are gone or cannot be read.
 * @param view null when the journal is off
 */
export function findRemarks(view: JournalView | null): readonly Remark[] {
  if (view === null) return ['journal-off'];
  const { replay, base, isComplete } = view;
  const { skipped } = replay.diagnosis;
  return [
    ...(isComplete ? [] : (['incomplete'] as const)),
    ...(base === null ? [] : (['from-checkpoint'] as const)),
    ...(replay.projection.registryAuthoritative ? [] : (['registry-partial'] as const)),
    ...(skipped === 0 ? [] : ([`skipped=${skipped}`] as const)),
  ];
}
