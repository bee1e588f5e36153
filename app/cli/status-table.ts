import { countAsked, displayName, formatNeeds } from '../../core/format/index.ts';
import type { StatusWire } from '../status/index.ts';
import { formatMessageAge, formatPreview, type NewestMessages } from './newest.ts';
import { formatNotes, formatPersonaName, formatState, formatUnread } from './persona-text.ts';
import { listPersonas, type StatusPersona, type StatusSelection } from './status-json.ts';
import { cutToWidth, measureWidth, padToWidth } from './terminal-text.ts';

/** What a terminal has room for beside the rows of personas. */
export interface MessageColumn {
  readonly newest: NewestMessages;
  /** The columns of the terminal. */
  readonly columns: number;
}

/** Formats the status for a person: a summary, the hives that are not up, then one row per persona. */
export function formatStatusTable(
  status: StatusWire,
  selection: StatusSelection = { sort: 'need', unread: false },
  messages: MessageColumn | null = null,
): string {
  const personas = listPersonas(status, selection);
  const isEmpty = status.personas.every(({ hidden }) => hidden);
  const none = isEmpty ? 'no inbox is watched yet' : 'nobody has unread mail or needs you';
  const rows = personas.length === 0 ? [none] : formatRows(personas, status, messages);
  return `${[formatSummary(status), ...formatNextSteps(status), ...formatDeadHives(status), '', ...rows].join('\n')}\n`;
}

/** Formats what is asked of the person, as every surface says it, then what there is: `1 question for you, 6 unread, 4 up, 0 down`. */
export function formatSummary(status: StatusWire): string {
  const { totals, personas, hives } = status;
  const hidden = personas.filter((persona) => persona.hidden).length;
  return [
    formatNeeds({ ...countAsked(status), ...totals }),
    `${totals.up} up, ${totals.down} down`,
    ...formatHiveCount(hives),
    ...(hidden === 0 ? [] : [`${hidden} hidden`]),
  ].join(', ');
}

/** Names the commands that show what is asked. */
function formatNextSteps({ decisions, permissions }: StatusWire): readonly string[] {
  const commands = [
    ...(decisions.length === 0 ? [] : ['hivebar decision list']),
    ...(permissions.length === 0 ? [] : ['hivebar permission list']),
  ];
  return commands.length === 0 ? [] : [`see what is asked with: ${commands.join(', ')}`];
}

/** Age and message in fewer columns say nothing, and are left out. */
const LEAST_PREVIEW = 28;
/** The widest age of a message, `59 min`. */
const AGE_WIDTH = 6;

function formatRows(
  personas: readonly StatusPersona[],
  status: StatusWire,
  messages: MessageColumn | null,
): readonly string[] {
  const rows = personas.map((persona) => toRow(persona, status, messages));
  const hasMessages = rows.some(({ message }) => message !== '');
  rows.unshift({
    ...{ state: 'STATE', unread: 'UNREAD', name: 'PERSONA' },
    message: hasMessages ? `${'AGE'.padEnd(AGE_WIDTH)}  NEWEST MESSAGE` : '',
  });
  const stateWidth = Math.max(...rows.map(({ state }) => state.length));
  const unreadWidth = Math.max(...rows.map(({ unread }) => unread.length));
  const right = messages === null ? 0 : messages.columns - stateWidth - unreadWidth - 4; // two blanks behind each
  const most = right - LEAST_PREVIEW - 2; // a long reason of one persona does not push away the messages of all
  const widths = rows.map(({ name }) => measureWidth(name));
  const hasRoom = (widths[0] ?? 0) <= most;
  const nameWidth = Math.max(...widths.filter((width) => width <= most));
  return rows.map(({ state, unread, name, message }) => {
    const isShown = hasRoom && message !== '' && measureWidth(name) <= nameWidth;
    const end = isShown ? `${padToWidth(name, nameWidth)}  ${cutToWidth(message, right - nameWidth - 2)}` : name;
    // The name comes behind the columns of known width: its letters cannot push them aside.
    return `${state.padEnd(stateWidth)}  ${unread.padStart(unreadWidth)}  ${end}`;
  });
}

interface TableRow {
  readonly state: string;
  readonly unread: string;
  readonly name: string;
  readonly message: string;
}

function toRow(persona: StatusPersona, status: StatusWire, messages: MessageColumn | null): TableRow {
  const { id, unread, unreadIs } = persona;
  const notes = formatNotes(persona, status);
  const name = formatPersonaName(persona);
  const message = messages?.newest[id];
  return {
    state: formatState(persona),
    unread: formatUnread(unread, unreadIs),
    name: notes === '' ? name : `${name}: ${notes}`,
    message:
      message === undefined
        ? ''
        : `${formatMessageAge(message, status.generatedAt).padEnd(AGE_WIDTH)}  ${formatPreview(message)}`,
  };
}

/** Counts the hives that are down, for the summary. A hive that is down may have no persona that shows it. */
function formatHiveCount(hives: StatusWire['hives']): readonly string[] {
  const down = hives.filter(({ state }) => state === 'DOWN').length;
  if (down === 0) return [];
  return [down === 1 ? '1 hive down' : `${down} hives down`];
}

/** Formats the hives that are not up, each as one line. */
export function formatDeadHives({ hives }: StatusWire): readonly string[] {
  return hives.filter(({ state }) => state !== 'UP').map(formatHive);
}

function formatHive({ source, address, state, reason }: StatusWire['hives'][number]): string {
  const where = address === null ? '' : ` ${displayName(address)}`;
  const why = reason ?? (state === 'PENDING' ? 'not reached yet' : null);
  return `hive ${displayName(source)}${where} is ${state}${why === null ? '' : `: ${displayName(why)}`}`;
}
