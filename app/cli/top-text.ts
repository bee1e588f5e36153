import { displayName, formatDuration, type NeedLevel, sortByNeed } from '../../core/format/index.ts';
import type { StatusWire } from '../status/index.ts';
import { formatMessageAge, formatPreview, type NewestMessages } from './newest.ts';
import { formatNotes, formatPersonaName, formatState, formatUnread } from './persona-text.ts';
import { parseTime, type StatusPersona } from './status-json.ts';
import { formatDeadHives, formatSummary } from './status-table.ts';
import { cutToWidth, measureWidth, padToWidth } from './terminal-text.ts';
import { TOP_KEYS, type TopView } from './top-view.ts';

/** One persona of the list, with the level that its place follows from. */
export interface TopPersona {
  readonly persona: StatusPersona;
  readonly level: NeedLevel;
}

/** Lists the personas whose name holds the filter, those that need a person first. */
export function listTopPersonas(status: StatusWire, filter: string): readonly TopPersona[] {
  const wanted = filter.toLowerCase();
  const shown = status.personas.filter(
    ({ hidden, id, label }) => !hidden && `${label}\n${id}`.toLowerCase().includes(wanted),
  );
  return sortByNeed(shown, status).map(([persona, { level }]) => ({ persona, level }));
}

/** Text of one style. It is a code of `ESC [ … m`: an attribute, or one of the 16 colours that the person chose. */
interface StyledText {
  readonly text: string;
  readonly style: string;
}

const PLAIN = '';
const BOLD = '1';
const DIM = '2';
const REVERSE = '7';
const RED = '31';

/** Colours are a help: state and order say the same. */
const STYLES: Readonly<Record<NeedLevel, string>> = {
  urgent: '1;31',
  waiting: '1;33',
  failing: RED,
  unread: BOLD,
  quiet: PLAIN,
  gone: DIM,
};

/** A name of more columns is cut. */
const MOST_NAME = 28;
const AGE_WIDTH = 6;
/** More hives than this are counted only, in the summary. */
const MOST_HIVES = 3;

/** Formats the whole screen: as many lines as it has, none wider than it is. */
export function formatTop(status: StatusWire, newest: NewestMessages, view: TopView): readonly string[] {
  const { columns, rows } = view;
  const draw = (spans: readonly StyledText[], isChosen = false): string =>
    paint(spans, columns, isChosen, view.hasColor);
  const head = [
    draw(
      view.isGone
        ? [{ text: 'Hivebar does not answer; trying again', style: '1;31' }]
        : [{ text: formatSummary(status), style: BOLD }],
    ),
    ...formatDeadHives(status)
      .slice(0, MOST_HIVES)
      .map((text) => draw([{ text, style: RED }])),
    '',
  ];
  const foot = [draw(formatBottom(view))];
  const body =
    view.mode === 'help' ? formatKeys(draw) : formatList(status, newest, view, rows - head.length - foot.length, draw);
  const room = Math.max(0, rows - head.length - foot.length);
  const middle = [...body, ...Array.from({ length: room }, () => '')].slice(0, room);
  return [...head, ...middle, ...foot].slice(0, rows);
}

function formatKeys(draw: (spans: readonly StyledText[]) => string): readonly string[] {
  const rows = TOP_KEYS.map(([key, does]) =>
    draw([
      { text: `  ${key.padEnd(14)}`, style: BOLD },
      { text: does, style: PLAIN },
    ]),
  );
  return [draw([{ text: 'Keys', style: BOLD }]), ...rows, '', draw([{ text: 'Any key goes back.', style: DIM }])];
}

/** The last line: a question, the filter while it is typed, what the last key did, or the keys. */
function formatBottom({ mode, filter, note, question }: TopView): readonly StyledText[] {
  if (question !== null) return [{ text: `${question.text} y/n`, style: REVERSE }];
  if (mode === 'filter')
    return [
      { text: `/${displayName(filter)}`, style: PLAIN },
      { text: '_', style: REVERSE },
    ];
  if (note !== '') return [{ text: note, style: BOLD }];
  const keys = 'j/k move  Enter open  n next  o page  m mark as read  / filter  ? keys  q quit';
  return [{ text: filter === '' ? keys : `filter: ${displayName(filter)}  (Esc shows all)`, style: DIM }];
}

function formatList(
  status: StatusWire,
  newest: NewestMessages,
  { selected, filter, columns }: TopView,
  lines: number,
  draw: (spans: readonly StyledText[], isChosen?: boolean) => string,
): readonly string[] {
  const listed = listTopPersonas(status, filter);
  if (listed.length === 0)
    return [draw([{ text: filter === '' ? 'no inbox is watched yet' : 'no name holds this', style: DIM }])];
  const names = listed.map(({ persona }) => measureWidth(formatPersonaName(persona)));
  const nameWidth = Math.min(MOST_NAME, Math.floor(columns / 4), Math.max('PERSONA'.length, ...names));
  const room = lines - 1;
  const at = Math.max(
    0,
    listed.findIndex(({ persona }) => persona.id === selected),
  );
  const first = Math.max(0, Math.min(at - Math.floor(room / 2), listed.length - room));
  const shown = listed.slice(first, first + room);
  const place = shown.length < listed.length ? ` (${at + 1} of ${listed.length})` : '';
  const titles = [padToWidth('PERSONA', nameWidth), 'AGE'.padEnd(AGE_WIDTH), `NEWEST MESSAGE${place}`];
  const head = ['  STATE  ', 'UNREAD', ...titles];
  return [
    draw([{ text: head.join('  '), style: DIM }]),
    ...shown.map(({ persona, level }, i) => {
      const isChosen = first + i === at;
      const message = newest[persona.id];
      const notes = formatNotes(persona, status);
      const cells = [
        padToWidth(cutToWidth(formatPersonaName(persona), nameWidth), nameWidth),
        formatAge(persona, message, status.generatedAt).padEnd(AGE_WIDTH),
      ];
      const separator = notes !== '' && message !== undefined ? ' · ' : '';
      return draw(
        [
          {
            text: `${isChosen ? '>' : ' '} ${formatState(persona).padEnd(7)}`,
            style: isState(level) ? STYLES[level] : PLAIN,
          },
          { text: `  ${formatUnread(persona.unread, persona.unreadIs).padStart(6)}`, style: STYLES[level] },
          { text: `  ${cells.join('  ')}  `, style: level === 'gone' ? DIM : PLAIN },
          { text: notes, style: STYLES[level] },
          {
            text: `${separator}${message === undefined ? '' : formatPreview(message)}`,
            style: level === 'gone' ? DIM : PLAIN,
          },
        ],
        isChosen,
      );
    }),
  ];
}

/** Whether the level follows from the state, which is then in its colour. `UP` in red would be read as down. */
function isState(level: NeedLevel): boolean {
  return level === 'waiting' || level === 'failing' || level === 'gone';
}

/** Formats the age of the newest message, else of the last mail. */
function formatAge({ lastMailAt }: StatusPersona, message: NewestMessages[string] | undefined, now: string): string {
  if (message !== undefined && message.at !== null) return formatMessageAge(message, now);
  return lastMailAt === null ? '' : formatDuration(parseTime(now) - parseTime(lastMailAt));
}

/** Joins spans to a line of the terminal, cut at its last column. The chosen line is reversed to its end. */
function paint(spans: readonly StyledText[], columns: number, isChosen: boolean, hasColor: boolean): string {
  let left = columns;
  let line = '';
  for (const { text, style } of spans) {
    const cut = cutToWidth(text, left);
    left -= measureWidth(cut);
    const ownStyle = hasColor ? style : style.replace(/;?3\d/, '');
    const code = [isChosen ? REVERSE : '', ownStyle].filter((part) => part !== '').join(';');
    line += code === '' || cut === '' ? cut : `\u001b[${code}m${cut}\u001b[0m`;
    if (cut !== text) break;
  }
  return isChosen && left > 0 ? `${line}\u001b[${REVERSE}m${' '.repeat(left)}\u001b[0m` : line;
}
