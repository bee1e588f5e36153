import {
  displayName,
  formatAgentState,
  formatCount,
  formatDuration,
  formatQuantity,
  formatWaiting,
  NEED_LEVELS,
  sortByNeed,
} from '../../core/format/index.ts';
import { Fault, parseIso } from '../../core/model/index.ts';
import type { StatusWire } from '../status/index.ts';

export type StatusPersona = StatusWire['personas'][number];

export const SORTS = ['need', 'newest', 'name'] as const;

/** Which personas are shown, and in which order. */
export interface StatusSelection {
  /** `need`: as `sortByNeed`. `newest`: by the newest mail. `name`: by the name. */
  readonly sort: (typeof SORTS)[number];
  /** Only those with unread mail, or that need a person. */
  readonly unread: boolean;
}

/** Lists the personas that a person sees: hidden ones are left out. */
export function listPersonas(status: StatusWire, { sort, unread }: StatusSelection): readonly StatusPersona[] {
  const shown = status.personas.filter(({ hidden }) => !hidden);
  const listed = sortByNeed(shown, status).filter(([, { level }]) => !unread || isNeedy(level));
  const personas = listed.map(([persona]) => persona);
  if (sort === 'need') return personas;
  const byName = personas.toSorted((a, b) => compare(a.label, b.label) || compare(a.id, b.id));
  // The texts of two times are in the order of the times.
  return sort === 'name' ? byName : byName.toSorted((a, b) => compare(b.lastMailAt ?? '', a.lastMailAt ?? ''));
}

/** Returns whether a person has something to do at this level. */
export function isNeedy(level: (typeof NEED_LEVELS)[number]): boolean {
  return NEED_LEVELS.indexOf(level) <= NEED_LEVELS.indexOf('unread');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Formats the status for a terminal: a summary, then one row per persona. */
export function formatStatusTable(
  status: StatusWire,
  selection: StatusSelection = { sort: 'need', unread: false },
): string {
  const { totals, generatedAt, decisions } = status;
  const visible = status.personas.filter(({ hidden }) => !hidden);
  const hidden = status.personas.length - visible.length;
  const rows = [
    ['STATE', 'UNREAD', 'SEEN', 'PERSONA'],
    ...listPersonas(status, selection).map((persona) => [
      formatState(persona),
      formatUnread(persona.unread, persona.unreadIs),
      formatAge(persona, generatedAt),
      formatRowName(persona, generatedAt),
    ]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map(([state = '', unread = '', age = '', name = '']) =>
    // The name comes last: letters of any width cannot push another column aside.
    [state.padEnd(widths[0] ?? 0), unread.padStart(widths[1] ?? 0), age.padEnd(widths[2] ?? 0), name].join('  '),
  );
  const unread = formatUnread(totals.unread, totals.unreadIs);
  const deadHives = status.hives.filter(({ state }) => state !== 'UP');
  const waiting = visible.filter(({ agent }) => agent === 'waiting').length;
  const questions = visible.reduce((sum, persona) => sum + countQuestions(persona), 0);
  const summary = [
    ...(waiting === 0 ? [] : [formatWaiting(waiting)]),
    `${unread} unread, ${totals.up} up, ${totals.down} down`,
    ...formatHiveCount(deadHives),
    ...(hidden === 0 ? [] : [`${hidden} hidden`]),
    ...(decisions.length === 0 ? [] : [`${formatQuestions(decisions.length)} for you (hivebar decision list)`]),
    ...(questions === 0 ? [] : [`${formatQuestions(questions)} for you in mail`]),
  ].join(', ');
  const hives = deadHives.map(formatHive);
  const none = visible.length === 0 ? 'no inbox is watched yet' : 'nobody has unread mail or needs you';
  return `${[summary, ...hives, '', ...(rows.length === 1 ? [none] : lines)].join('\n')}\n`;
}

/** Counts the questions in mail to a person. An older tray process does not send it. */
export function countQuestions({ questions }: Partial<StatusPersona>): number {
  return questions ?? 0;
}

export function formatQuestions(count: number): string {
  return formatQuantity(count, 'question');
}

/** Counts the hives that are down, for the summary. A hive that is down may have no persona that shows it. */
function formatHiveCount(dead: StatusWire['hives']): readonly string[] {
  const down = dead.filter(({ state }) => state === 'DOWN').length;
  if (down === 0) return [];
  return [down === 1 ? '1 hive down' : `${down} hives down`];
}

function formatHive({ source, address, state, reason }: StatusWire['hives'][number]): string {
  const where = address === null ? '' : ` ${displayName(address)}`;
  const why = reason ?? (state === 'PENDING' ? 'not reached yet' : null);
  return `hive ${displayName(source)}${where} is ${state}${why === null ? '' : `: ${displayName(why)}`}`;
}

export function formatPersonaName({ id, label }: StatusPersona): string {
  return label === id ? displayName(id) : `${displayName(label)} (${displayName(id)})`;
}

function formatRowName(persona: StatusPersona, now: string): string {
  const { urgent, reason, agent, agentReason, agentText, daemon } = persona;
  const name = formatPersonaName(persona);
  const ofDaemon = daemon !== null && agent !== 'live' ? agentReason : null;
  const text = agentText == null ? null : `${agentText} (${agentReason})`; // an older tray process does not send it
  const asked = countQuestions(persona);
  const doing = reason ?? formatAgent(persona, now) ?? text ?? ofDaemon;
  const notes = [
    ...((urgent ?? 0) > 0 ? [`${urgent} urgent`] : []),
    ...(asked > 0 ? [`${formatQuestions(asked)} for you`] : []),
    ...(doing === null ? [] : [displayName(doing)]),
  ];
  return notes.length === 0 ? name : `${name}: ${notes.join(', ')}`;
}

/** Formats what the agent does, and for how long: `waits at a permission prompt, 3 min`. Null when nobody says it. */
function formatAgent({ agent, agentReason, agentText, agentSince }: StatusPersona, now: string): string | null {
  const doing = formatAgentState(agent, agentReason, agentText ?? null);
  if (doing === null) return null;
  const why = agent === 'stalled' ? ` (${agentReason})` : '';
  const age = agentSince == null ? '' : `, ${formatDuration(parseTime(now) - parseTime(agentSince))}`;
  return `${doing.charAt(0).toLowerCase()}${doing.slice(1)}${why}${age}`;
}

/** A persona that is up, but whose agent waits or whose mail nobody takes, has a state of its own. */
function formatState({ state, agent }: StatusPersona): string {
  if (state !== 'UP') return state;
  return agent === 'waiting' ? 'WAITS' : agent === 'stalled' ? 'STALLED' : state;
}

export function formatUnread(count: number | null, is: StatusPersona['unreadIs']): string {
  if (count === null || (count === 0 && is !== 'exact')) return '?';
  return is === 'unknown' ? '?' : formatCount(count, is);
}

/** Formats the age of the count, by the clock of the program that served it. */
function formatAge({ asOf, staleAfter }: StatusPersona, now: string): string {
  if (asOf === null) return 'never';
  const age = formatDuration(parseTime(now) - parseTime(asOf));
  return staleAfter !== null && parseTime(staleAfter) < parseTime(now) ? `${age}, old` : age;
}

/** @throws RangeError when the text is no UTC time */
export function parseTime(text: string): number {
  const at = parseIso(text);
  if (at === null) throw new RangeError(`no UTC time: ${text}`);
  return at;
}

/**
 * Parses the status JSON. This program's own tray process served it, so only the schema number needs a check.
 * @throws Fault `shape` when the number differs
 */
export function parseStatus(body: string): StatusWire {
  const value: unknown = JSON.parse(body);
  if (typeof value === 'object' && value !== null && 'schema' in value && value.schema === 1)
    return value as StatusWire;
  throw new Fault('shape', 'the running Hivebar is another version: stop it and start this one', {
    is: 'machine',
    key: 'tray',
  });
}
