import type { Io } from '../../core/command/index.ts';
import {
  displayJson,
  displayName,
  formatAgentState,
  formatCount,
  formatDuration,
  formatWaiting,
} from '../../core/format/index.ts';
import { Fault, parseIso } from '../../core/model/index.ts';
import type { StatusWire } from '../status/index.ts';
import { createStopSignal, getTerminalSize, isTerminal } from './process.node.ts';
import { streamTray } from './tray-stream.node.ts';

/**
 * Shows the status and every change until it is stopped. A terminal is redrawn in place. A pipe gets one block per change, or
 * one line with `json`; a poll that changes no number is not a change.
 * @returns the exit code: 1 when the program does not run at the start
 */
export async function watchStatus(io: Io, json: boolean): Promise<number> {
  const inPlace = !json && isTerminal();
  let shownRev: number | null = null;
  for await (const update of streamTray(io.env, createStopSignal())) {
    if (update.is === 'gone') {
      if (shownRev === null) {
        io.err('hivebar is not running: start it with `hivebar`\n');
        return 1;
      }
      io.err('hivebar is not running; waiting for it\n');
      shownRev = -1; // another run counts from the beginning
      continue;
    }
    const status = parseStatus(update.body);
    if (inPlace) io.out(formatRedraw(formatStatusTable(status)));
    else if (status.rev !== shownRev) io.out(json ? `${displayJson(update.body)}\n` : `${formatStatusTable(status)}\n`);
    shownRev = status.rev;
  }
  return 0;
}

const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Overwrites the screen line by line, so that nothing flickers. Lines and characters that do not fit are left out. */
function formatRedraw(table: string): string {
  const size = getTerminalSize();
  const lines = table.trimEnd().split('\n');
  const fitting = size === null ? lines : lines.slice(0, size.rows - 1).map((line) => line.slice(0, size.columns - 1));
  return `${HOME}${fitting.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
}

export type StatusPersona = StatusWire['personas'][number];

/** Formats the status for a terminal: a summary, then one row per persona. */
export function formatStatusTable(status: StatusWire): string {
  const { totals, generatedAt, decisions } = status;
  const personas = status.personas.filter(({ hidden }) => !hidden).toSorted((a, b) => computeRank(a) - computeRank(b)); // stable: then by id
  const hidden = status.personas.length - personas.length;
  const rows = [
    ['STATE', 'UNREAD', 'SEEN', 'PERSONA'],
    ...personas.map((persona) => [
      formatState(persona),
      formatUnread(persona.unread, persona.unreadIs),
      formatAge(persona, generatedAt),
      formatName(persona, generatedAt),
    ]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map(([state = '', unread = '', age = '', name = '']) =>
    // The name comes last: letters of any width cannot push another column aside.
    [state.padEnd(widths[0] ?? 0), unread.padStart(widths[1] ?? 0), age.padEnd(widths[2] ?? 0), name].join('  '),
  );
  const unread = formatUnread(totals.unread, totals.unreadIs);
  const deadHives = status.hives.filter(({ state }) => state !== 'UP');
  const waiting = personas.filter(({ agent }) => agent === 'waiting').length;
  const questions = personas.reduce((sum, persona) => sum + countQuestions(persona), 0);
  const summary = [
    ...(waiting === 0 ? [] : [formatWaiting(waiting)]),
    `${unread} unread, ${totals.up} up, ${totals.down} down`,
    ...formatHiveCount(deadHives),
    ...(hidden === 0 ? [] : [`${hidden} hidden`]),
    ...(decisions.length === 0 ? [] : [`${formatQuestions(decisions.length)} for you (hivebar decision list)`]),
    ...(questions === 0 ? [] : [`${formatQuestions(questions)} for you in mail`]),
  ].join(', ');
  const hives = deadHives.map(formatHive);
  return `${[summary, ...hives, '', ...(personas.length === 0 ? ['no inbox is watched yet'] : lines)].join('\n')}\n`;
}

/** Agents that wait come first, then inboxes with questions. */
function computeRank(persona: StatusPersona): number {
  if (persona.agent === 'waiting') return 0;
  return countQuestions(persona) > 0 ? 1 : 2;
}

/** Counts the questions in mail to a person. An older tray process does not send it. */
export function countQuestions({ questions }: Partial<StatusPersona>): number {
  return questions ?? 0;
}

export function formatQuestions(count: number): string {
  return `${count} ${count === 1 ? 'question' : 'questions'}`;
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

function formatName(persona: StatusPersona, now: string): string {
  const { id, label, reason, agent, agentReason, agentText, daemon } = persona;
  const name = label === id ? displayName(id) : `${displayName(label)} (${displayName(id)})`;
  const ofDaemon = daemon !== null && agent !== 'live' ? agentReason : null;
  const text = agentText == null ? null : `${agentText} (${agentReason})`; // an older tray process does not send it
  const asked = countQuestions(persona);
  const doing = reason ?? formatAgent(persona, now) ?? text ?? ofDaemon;
  const notes = [
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
function parseTime(text: string): number {
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
