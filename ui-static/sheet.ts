import type { PersonaWire } from '../app/status/wire.ts';
import type { ProjectWire } from '../app/status/wire-projects.ts';
import { displayText } from '../core/format/index.ts';
import { formatAgo, truncate } from './present.ts';

/** Puts the sheet of a project into words. Pure. */

export type Sheet = NonNullable<ProjectWire['sheet']>;
export type SheetSection = Sheet['sections'][number];
export type SheetRow = SheetSection['rows'][number];
export type SheetAgent = Sheet['agents'][number];

const TITLE_CHARS = 300;
const TEXT_CHARS = 1000;
const NAME_CHARS = 100;

const SECTIONS: Readonly<Record<string, string>> = {
  attention: 'Attention',
  'in-progress': 'In progress',
  'recently-terminal': 'Ended',
  sprints: 'Sprints',
  backlog: 'Backlog',
  candidates: 'Candidates',
  activity: 'Activity',
  actions: 'Actions',
  handoffs: 'Handoffs',
  traps: 'Traps',
  defects: 'Store defects',
};

/** Returns the name of a section. An unknown one is shown by its id. */
export const getSectionName = (id: string): string => SECTIONS[id] ?? formatSheetText(id, NAME_CHARS);

const REMARKS: Readonly<Record<string, string>> = {
  'journal-off': 'The journal is off, so open items are unknown.',
  incomplete: 'Parts of the journal are missing or unreadable. There may be more than is shown.',
  'from-checkpoint': 'Older parts of the journal are missing. A checkpoint replaces them and may not hold everything.',
  'registry-partial':
    'The journal does not hold all claims, assignments, runs and actions, so these counts may be too low.',
};

const COUNTS = {
  plans: ['plan', 'plans'],
  claims: ['claim', 'claims'],
  assignments: ['assignment', 'assignments'],
  runs: ['run', 'runs'],
  actions: ['for attention', 'for attention'],
  failedRuns: ['failed run', 'failed runs'],
  agents: ['agent', 'agents'],
  sessions: ['session', 'sessions'],
} as const;
/** The counts that are nowhere else on the board. */
const COUNTED = ['plans', 'claims', 'assignments', 'runs', 'agents', 'sessions'] as const;

/** Formats what must be said beside the numbers, one sentence each. */
export function formatRemarks({ remarks, seeded }: Sheet): readonly string[] {
  const names = seeded.map((name) => COUNTS[name][1]);
  const seedRemark = `From brainclaw at the start of watching, not updated since: ${names.join(', ')}.`;
  return [...remarks.map(formatRemark), ...(names.length === 0 ? [] : [seedRemark])];
}

function formatRemark(remark: string): string {
  const skipped = /^skipped=(\d+)$/.exec(remark)?.[1];
  if (skipped === '1') return '1 unreadable line of the journal is skipped.';
  if (skipped !== undefined) return `${skipped} unreadable lines of the journal are skipped.`;
  return REMARKS[remark] ?? formatSheetText(remark, NAME_CHARS);
}

const WHYS = [
  ['pending_actions', 'pending action'],
  ['pending_human_candidates', 'candidate'],
  ['blocked_assignments', 'blocked assignment'],
  ['stale_runs', 'stalled run'],
] as const;

/** Lists the parts of the attention count. An unknown number is a dash, never 0. */
export function listBreakdown({ attention }: Sheet): readonly { readonly name: string; readonly value: string }[] {
  return WHYS.map(([why, name]) => {
    const n = attention?.[why] ?? null;
    return { name: n === 1 ? name : `${name}s`, value: n === null ? '–' : String(n) };
  });
}

/** Formats the known counts: `Open: 27 plans · 12 claims`. Null when none is known. */
export function formatCounts({ counts }: Sheet): string | null {
  const known = COUNTED.flatMap((name) => {
    const n = counts[name];
    return n === null ? [] : [`${n} ${COUNTS[name][n === 1 ? 0 : 1]}`];
  });
  return known.length === 0 ? null : `Open: ${known.join(' · ')}`;
}

/** Formats the parts of the project's knowledge: `Knowledge: 2 constraints`. Null when there are none, or they are not known. */
export function formatSystem({ system }: Sheet): string | null {
  const present = Object.entries(system ?? {}).filter(([, n]) => n > 0);
  const parts = present.map(([type, n]) => `${n} ${formatTypeName(type)}${n === 1 ? '' : 's'}`);
  return parts.length === 0 ? null : `Knowledge: ${parts.join(' · ')}`;
}

/** Describes an agent; null where there is nothing to say. */
export function describeAgent(
  agent: SheetAgent,
): Readonly<Record<'pending' | 'actionable' | 'work' | 'skipped', string | null>> {
  const formatSome = (n: number | null, singular: string, plural: string): readonly string[] =>
    n === null || n === 0 ? [] : [`${n} ${n === 1 ? singular : plural}`];
  const work = [
    ...formatSome(agent.open_handoffs, 'handoff', 'handoffs'),
    ...formatSome(agent.assignments, 'assignment', 'assignments'),
    ...formatSome(agent.actions, 'action', 'actions'),
  ];
  return {
    pending: `${agent.pending ?? '–'} unread`,
    actionable: `${agent.actionable ?? '–'} to act on`,
    work: work.length === 0 ? null : work.join(', '),
    skipped: formatSome(agent.skipped, 'unreadable message file', 'unreadable message files')[0] ?? null,
  };
}

/** Formats when the journal last grew, according to its writer. */
export function formatLastRecord({ ts }: Sheet, now: number): string | null {
  const at = ts === null ? Number.NaN : Date.parse(ts);
  return Number.isNaN(at) ? null : `last record ${formatAgo(now - at)}`;
}

/** Converts one text of a list to a row. */
export const toTextRow = (text: string): SheetRow => ({
  ...{ key: text, itemType: '', id: null, title: text, text: null, status: '', agent: null },
  ...{ from: null, ts: null, seq: null, why: null },
});

interface RowText {
  readonly type: string;
  readonly title: string;
  /** Null when it says no more than the title. */
  readonly text: string | null;
  readonly status: string;
  /** Formatted as `from → for`, or only the known name; null when neither is known. */
  readonly people: string | null;
  readonly tone: 'warn' | 'news' | 'plain';
  /** When it got this status, in milliseconds; null when that is not given, or has an unknown form. */
  readonly at: number | null;
}

const WARNS: ReadonlySet<string> = new Set(['blocked', 'failed', 'waiting_input', 'timed_out', 'expired', 'retrying']);

/** Describes a row. A record of activity without a title shows what was done instead. */
export function describeRow({ itemType, id, title, text, status, agent, from, ts }: SheetRow): RowText {
  const does = formatSheetText(status, NAME_CHARS).replaceAll('_', ' ');
  const isSilent = title === '' && id === null;
  const names = [from, agent].flatMap((name) => (name === null ? [] : [formatSheetText(name, NAME_CHARS)]));
  const at = ts === null ? Number.NaN : Date.parse(ts);
  return {
    type: formatTypeName(itemType),
    title: isSilent ? does : formatSheetText(title === '' ? (id ?? '') : title, TITLE_CHARS),
    text: text === null ? null : formatSheetText(text, TEXT_CHARS),
    status: isSilent ? '' : does,
    people: names.length === 0 ? null : [...new Set(names)].join(' → '),
    tone: WARNS.has(status) ? 'warn' : status === 'pending' ? 'news' : 'plain',
    at: Number.isNaN(at) ? null : at,
  };
}

const TYPES: Readonly<Record<string, string>> = { state: 'action', agent_run: 'run', runtime_note: 'note' };

const formatTypeName = (itemType: string): string =>
  TYPES[itemType] ?? formatSheetText(itemType, NAME_CHARS).replaceAll('_', ' ');

/** Formats untrusted text: one line, without control characters, and not more than a person reads. */
const formatSheetText = (text: string, most: number): string =>
  truncate(displayText(text).replaceAll(/\s+/g, ' '), most);

/** An agent of a project on the board: the state of its inbox from the status, and its work from the sheet. */
export interface ProjectAgent {
  /** Null when its inbox is not watched. */
  readonly persona: PersonaWire | null;
  /** Null when the sheet is not loaded yet, or does not have the agent. */
  readonly sheet: SheetAgent | null;
}

/**
 * Joins the agents of the sheet with their inboxes, and adds inboxes that the sheet does not have, sorted by name. Hidden
 * personas are left out.
 * @param board id of the project's board: an agent's inbox is named by it and the agent's name
 */
export function joinAgents(
  board: string,
  sheets: readonly SheetAgent[],
  personas: readonly PersonaWire[],
): readonly ProjectAgent[] {
  const rest = new Map(personas.map((persona) => [persona.id, persona]));
  const known = sheets.map((sheet) => {
    const id = `${board}-${sheet.agent}`;
    const persona = rest.get(id) ?? null;
    rest.delete(id);
    return { persona, sheet };
  });
  return [...known, ...[...rest.values()].map((persona) => ({ persona, sheet: null }))]
    .filter(({ persona }) => persona?.hidden !== true)
    .toSorted((a, b) => (getAgentName(a) < getAgentName(b) ? -1 : 1));
}

/** The agent's name in the sheet, or else that of its inbox. */
export const getAgentName = ({ persona, sheet }: ProjectAgent): string => sheet?.agent ?? persona?.label ?? '';
