import { formatIso, JSON_LIMITS, JsonRefusal, type MailName, parseJson, parseTimestamp } from '../../model/index.ts';
import { cut, sanitizeText, toOneLine } from '../source-tools.ts';
import { PANE } from './pane.ts';

/**
 * The lines that a source outside of Hivebar writes (specs/sources/external-source, section 1). Whatever it writes is untrusted: each text is cleaned
 * and cut here, and nothing behind this file looks at a raw value.
 */
export type SourceLine = ReadyLine | PersonaLine | ItemLine | FaultLine | DoneLine | ChangedLine | ResultLine;

export interface ReadyLine {
  readonly op: 'ready';
  /** The event key `source`. */
  readonly source: string;
  readonly label: string;
  readonly can: readonly SourceAbility[];
}

export type SourceAbility = 'markRead' | 'reply' | 'hint';

export interface PersonaLine {
  readonly op: 'persona';
  readonly persona: string;
  readonly label: string | null;
  /** Null: unknown. Absent: the number of unread items counts. */
  readonly unread?: number | null;
  readonly urgent?: number | null;
  readonly agent: AgentName | null;
  readonly why: string | null;
  readonly cwd: string | null;
  readonly pane: string | null;
  readonly resume: readonly string[] | null;
  /** It is the inbox of the person. */
  readonly you: boolean;
}

export type AgentName = 'working' | 'waiting' | 'idle' | 'live' | 'stalled' | 'gone' | 'unknown';

export interface ItemLine {
  readonly op: 'item';
  readonly persona: string;
  readonly key: string;
  readonly state: 'unread' | 'read' | 'gone';
  readonly from: string | null;
  readonly created: string | null;
  readonly subject: string | null;
  readonly content: string | null;
  readonly urgent: boolean;
  readonly kind: ItemKind;
  readonly thread: string | null;
  readonly open: OpenTarget | null;
  readonly extra: Readonly<Record<string, string | number | boolean | null>>;
}

/** `mail` is an ordinary message; the others are the events of the same name. */
export type ItemKind = 'mail' | Exclude<MailName, 'new'>;

export type OpenTarget = { readonly url: string } | { readonly argv: readonly string[] };

export interface FaultLine {
  readonly op: 'fault';
  readonly code: 'auth' | 'unreachable' | 'schema' | 'busy' | 'config';
  readonly message: string;
  /** Null: all of its personas. */
  readonly persona: string | null;
  readonly retryMs: number | null;
}

export interface DoneLine {
  readonly op: 'done';
  readonly id: number | null;
  readonly cursor: string | null;
  /** The poll result held everything. Else it held only what changed. */
  readonly full: boolean;
  readonly more: boolean;
}

export interface ChangedLine {
  readonly op: 'changed';
  readonly persona: string | null;
}

export interface ResultLine {
  readonly op: 'result';
  readonly id: number;
  readonly ok: boolean;
  readonly message: string | null;
}

/** What a line was worth. */
export type LineReading =
  /** `defects`: values that were left out or cut, each as a text for a person. */
  | { readonly is: 'line'; readonly line: SourceLine; readonly defects: readonly string[] }
  /** An `op` that this version does not know. It is ignored. */
  | { readonly is: 'unknown'; readonly op: string }
  /** The line is left out; the rest of the poll result counts. */
  | { readonly is: 'refused'; readonly why: string }
  /** Nothing after this line can be relied on: the poll failed. */
  | { readonly is: 'broken'; readonly why: string };

/** What a transport accepts. */
export const LINE_LIMITS = {
  lineBytes: 256 * 1024,
  /** Of one poll result. */
  resultLines: 5000,
  resultBytes: 8 * 1024 * 1024,
  personas: 1000,
  keys: 100_000,
  nameChars: 200,
  labelChars: 80,
  textChars: 500,
  cursorBytes: 4096,
  extraKeys: 16,
  argvItems: 64,
  argvChars: 4096,
} as const;

const JSON_OF_A_LINE = { chars: LINE_LIMITS.lineBytes, depth: 16, values: 4096 };

/** @param contentChars how many code points of content are kept; null leaves content out */
export function parseLine(text: string, contentChars: number | null): LineReading {
  if (Buffer.byteLength(text) > LINE_LIMITS.lineBytes) return { is: 'broken', why: TOO_LONG };
  let value: unknown;
  try {
    value = parseJson(text, JSON_OF_A_LINE);
  } catch (error) {
    const why = error instanceof JsonRefusal ? error.message : quote(text);
    return { is: 'broken', why: `a line is not JSON: ${why}` };
  }
  return readLine(value, contentChars);
}

/** What a transport says of a line that has more bytes than `LINE_LIMITS.lineBytes`. */
export const TOO_LONG = `a line is longer than ${LINE_LIMITS.lineBytes / 1024} KiB`;

/**
 * Reads a whole file of lines: one JSON array of them, or one JSON object per line. It is read completely or not at all.
 * @returns `broken`: why nothing of it counts; null when all of it does
 */
export function parseLines(
  text: string,
  contentChars: number | null,
): { readonly readings: readonly LineReading[]; readonly broken: string | null } {
  if (Buffer.byteLength(text) > LINE_LIMITS.resultBytes)
    return { readings: [], broken: `it is larger than ${LINE_LIMITS.resultBytes / 1024 / 1024} MiB` };
  const readings: LineReading[] = [];
  for (const reading of listReadings(text, contentChars)) {
    if (reading.is === 'broken') return { readings: [], broken: reading.why };
    if (readings.length === LINE_LIMITS.resultLines)
      return { readings: [], broken: `it has more than ${LINE_LIMITS.resultLines} lines` };
    readings.push(reading);
  }
  return { readings, broken: null };
}

function* listReadings(text: string, contentChars: number | null): Iterable<LineReading> {
  if (!text.trimStart().startsWith('[')) {
    for (const line of text.split('\n')) if (line.trim() !== '') yield parseLine(line, contentChars);
    return;
  }
  let list: unknown;
  try {
    list = parseJson(text, { ...JSON_LIMITS, values: JSON_OF_A_LINE.values * LINE_LIMITS.resultLines });
  } catch (error) {
    yield { is: 'broken', why: `it is not JSON: ${error instanceof JsonRefusal ? error.message : quote(text)}` };
    return;
  }
  if (Array.isArray(list)) for (const value of list) yield readLine(value, contentChars);
}

/** Reads a line that was parsed already, such as an element of a JSON array. */
export function readLine(value: unknown, contentChars: number | null): LineReading {
  if (!isObject(value)) return { is: 'broken', why: `a line is not a JSON object: ${quote(value)}` };
  const { op } = value;
  if (typeof op !== 'string') return { is: 'broken', why: `a line has no op: ${quote(value)}` };
  const reader = READERS.get(op);
  if (reader === undefined) return { is: 'unknown', op: toOneLine(op, 40) };
  const fields = new Fields(op, value, contentChars);
  try {
    return { is: 'line', line: reader(fields), defects: fields.defects };
  } catch (error) {
    if (!(error instanceof LineRefusal)) throw error;
    return { is: op === 'persona' || op === 'item' || op === 'changed' ? 'refused' : 'broken', why: error.message };
  }
}

/** A value without which a line means nothing. */
class LineRefusal extends Error {}

type Values = Readonly<Record<string, unknown>>;

const AGENTS = ['working', 'waiting', 'idle', 'live', 'stalled', 'gone', 'unknown'] as const;
const STATES = ['unread', 'read', 'gone'] as const;
const KINDS = ['mail', 'handoff', 'assigned', 'action', 'question'] as const;
const FAULT_CODES = ['auth', 'unreachable', 'schema', 'busy', 'config'] as const;
const ABILITIES = ['markRead', 'reply', 'hint'] as const;
const KIND_NAME = /^[a-z][a-z0-9-]{1,31}$/;
const EXTRA_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const MOST_RETRY_MS = 3_600_000;
/** Signs that break a line, a terminal or a file name. */
const CONTROLS = /[\p{Cc}\u2028\u2029]/u;
/** A path segment that leads elsewhere. */
const DOTS = /(?:^|[/\\])\.\.?(?:[/\\]|$)/;

const READERS: ReadonlyMap<string, (fields: Fields) => SourceLine> = new Map<string, (fields: Fields) => SourceLine>([
  ['ready', readReady],
  ['persona', readPersona],
  ['item', readItem],
  ['fault', readFault],
  ['done', readDone],
  ['changed', readChanged],
  ['result', readResult],
]);

function readReady(fields: Fields): ReadyLine {
  const { protocol, source, can } = fields.values;
  if (protocol !== 1) fields.refuse('protocol', 'is not 1');
  if (typeof source !== 'string' || !KIND_NAME.test(source))
    fields.refuse('source', `does not match ${KIND_NAME.source}`);
  const abilities = Array.isArray(can) ? ABILITIES.filter((ability) => can.includes(ability)) : [];
  return { op: 'ready', source, label: fields.text('label', LINE_LIMITS.labelChars) ?? source, can: abilities };
}

function readPersona(fields: Fields): PersonaLine {
  const unread = fields.count('unread');
  const urgent = fields.count('urgent');
  return {
    op: 'persona',
    persona: fields.name('persona'),
    label: fields.text('label', LINE_LIMITS.labelChars),
    ...(unread === undefined ? {} : { unread }),
    ...(urgent === undefined ? {} : { urgent }),
    agent: fields.choice('agent', AGENTS),
    why: fields.text('why', 80),
    cwd: fields.path('cwd'),
    pane: fields.pane('pane'),
    resume: fields.argv('resume', fields.values.resume),
    you: fields.values.you === true,
  };
}

function readItem(fields: Fields): ItemLine {
  const persona = fields.name('persona');
  const key = fields.name('key');
  const state = fields.choice('state', STATES);
  if (state === null) fields.refuse('state', `is none of ${STATES.join(', ')}`);
  return {
    ...{ op: 'item', persona, key, state },
    from: fields.text('from', LINE_LIMITS.nameChars),
    created: fields.time('created'),
    subject: fields.text('subject', LINE_LIMITS.textChars),
    content: fields.content('content'),
    urgent: fields.values.urgent === true,
    kind: fields.choice('kind', KINDS) ?? 'mail',
    thread: fields.text('thread', LINE_LIMITS.nameChars),
    open: fields.open('open'),
    extra: fields.flat('extra'),
  };
}

function readFault(fields: Fields): FaultLine {
  const code = fields.choice('code', FAULT_CODES);
  if (code === null) fields.refuse('code', `is none of ${FAULT_CODES.join(', ')}`);
  const { retryMs } = fields.values;
  const isDelay = typeof retryMs === 'number' && retryMs >= 0 && retryMs <= MOST_RETRY_MS;
  if (!isDelay && retryMs !== undefined) fields.leaveOut('retryMs', `is not a number from 0 to ${MOST_RETRY_MS}`);
  return {
    ...{ op: 'fault', code },
    message: fields.text('message', LINE_LIMITS.textChars) ?? code,
    persona: fields.values.persona == null ? null : fields.name('persona'),
    retryMs: isDelay ? retryMs : null,
  };
}

function readDone(fields: Fields): DoneLine {
  const { id = null, cursor = null, full = true, more = false } = fields.values;
  if (id !== null && !isCount(id)) fields.refuse('id', 'is not the id of a look');
  if (cursor !== null && (typeof cursor !== 'string' || Buffer.byteLength(cursor) > LINE_LIMITS.cursorBytes))
    fields.refuse('cursor', `is not a text of at most ${LINE_LIMITS.cursorBytes} bytes`);
  if (typeof full !== 'boolean') fields.refuse('full', 'is not true or false');
  if (typeof more !== 'boolean') fields.refuse('more', 'is not true or false');
  if (more && cursor === null) fields.refuse('more', 'is true without a cursor from which the next look goes on');
  return { op: 'done', id, cursor: cursor === null ? null : sanitizeText(cursor), full, more };
}

function readChanged(fields: Fields): ChangedLine {
  return { op: 'changed', persona: fields.values.persona == null ? null : fields.name('persona') };
}

function readResult(fields: Fields): ResultLine {
  const { id, ok } = fields.values;
  if (!isCount(id)) fields.refuse('id', 'is not the id of an act');
  if (typeof ok !== 'boolean') fields.refuse('ok', 'is not true or false');
  return { op: 'result', id, ok, message: fields.text('message', LINE_LIMITS.textChars) };
}

/** The values of one line. What may be absent and cannot be used is left out, with a defect. */
class Fields {
  readonly defects: string[] = [];
  readonly #op: string;
  readonly values: Values;
  readonly #contentChars: number | null;

  constructor(op: string, values: Values, contentChars: number | null) {
    this.#op = op;
    this.values = values;
    this.#contentChars = contentChars;
  }

  /** @throws LineRefusal */
  refuse(field: string, why: string): never {
    throw new LineRefusal(`${this.#op}: ${field} ${quote(this.values[field])} ${why}`);
  }

  leaveOut(field: string, why: string): null {
    this.defects.push(`${this.#op}: ${field} ${quote(this.values[field])} ${why}`);
    return null;
  }

  /** The address of a persona, or a key. */
  name(field: string): string {
    const value = this.values[field];
    const most = LINE_LIMITS.nameChars;
    if (typeof value !== 'string' || value.length === 0 || value.length > most)
      return this.refuse(field, `is not a text of 1 to ${most} characters`);
    if (!value.isWellFormed() || CONTROLS.test(value)) return this.refuse(field, 'holds a sign that no name may have');
    if (value === '__proto__' || (field === 'persona' && DOTS.test(value))) return this.refuse(field, 'is no name');
    return value;
  }

  /** A text of one line, cleaned and cut; null when there is none. */
  text(field: string, chars: number): string | null {
    const value = this.values[field];
    if (value == null) return null;
    if (typeof value !== 'string') return this.leaveOut(field, 'is not a text');
    return toOneLine(value, chars) || null;
  }

  content(field: string): string | null {
    const value = this.values[field];
    if (value == null) return null;
    if (typeof value !== 'string') return this.leaveOut(field, 'is not a text');
    return this.#contentChars === null ? null : cut(sanitizeText(value), this.#contentChars);
  }

  choice<const T extends string>(field: string, choices: readonly T[]): T | null {
    const value = this.values[field];
    if (value == null) return null;
    return choices.find((choice) => choice === value) ?? this.leaveOut(field, `is none of ${choices.join(', ')}`);
  }

  /** Undefined: the line does not say it. Null: the source does not know it. */
  count(field: string): number | null | undefined {
    const value = this.values[field];
    if (value == null || isCount(value)) return value;
    return this.leaveOut(field, 'is not a whole number');
  }

  path(field: string): string | null {
    const value = this.values[field];
    if (value == null) return null;
    const isPath = isPlainText(value, LINE_LIMITS.argvChars) && /^(?:\/|[A-Za-z]:[\\/])/.test(value);
    return isPath ? value : this.leaveOut(field, 'is not an absolute path');
  }

  time(field: string): string | null {
    const value = this.values[field];
    if (value == null) return null;
    const at = typeof value === 'string' ? parseTimestamp(value) : null;
    if (at === null || typeof value !== 'string')
      return this.leaveOut(field, 'is not a time such as 2026-11-29T09:00:00Z');
    const text = value.trim();
    return /z$/i.test(text) ? text : formatIso(at);
  }

  pane(field: string): string | null {
    const value = this.text(field, LINE_LIMITS.textChars);
    if (value === null || PANE.test(value)) return value;
    return this.leaveOut(field, 'is not "$TMUX $TMUX_PANE", such as "/tmp/tmux-1000/default,4711,0 %7"');
  }

  argv(field: string, value: unknown): readonly string[] | null {
    if (value == null) return null;
    const { argvItems, argvChars } = LINE_LIMITS;
    const isArgv =
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= argvItems &&
      value.every((item) => isPlainText(item, argvChars)) &&
      value[0] !== '';
    return isArgv ? (value as string[]) : this.leaveOut(field, `is not a list of 1 to ${argvItems} plain texts`);
  }

  open(field: string): OpenTarget | null {
    const value = this.values[field];
    if (value == null) return null;
    if (!isObject(value)) return this.leaveOut(field, 'is neither {url} nor {argv}');
    if (isPlainText(value.url, LINE_LIMITS.argvChars) && URL.canParse(value.url)) return { url: value.url };
    if (value.url !== undefined || value.argv === undefined) return this.leaveOut(field, 'is neither {url} nor {argv}');
    const argv = this.argv(field, value.argv);
    return argv === null ? null : { argv };
  }

  /** Further keys of the events of an item. */
  flat(field: string): ItemLine['extra'] {
    const value = this.values[field];
    const extra: Record<string, string | number | boolean | null> = {};
    if (value == null) return extra;
    if (!isObject(value)) {
      this.leaveOut(field, 'is not an object');
      return extra;
    }
    const entries = Object.entries(value);
    if (entries.length > LINE_LIMITS.extraKeys) this.leaveOut(field, `has more than ${LINE_LIMITS.extraKeys} keys`);
    for (const [name, entry] of entries.slice(0, LINE_LIMITS.extraKeys)) {
      if (!EXTRA_NAME.test(name))
        this.defects.push(`${this.#op}: ${field} has a key that no event can have: ${quote(name)}`);
      else if (typeof entry === 'string') extra[name] = toOneLine(entry, LINE_LIMITS.textChars);
      else if (entry === null || typeof entry === 'boolean' || Number.isFinite(entry))
        extra[name] = entry as number | boolean | null;
      else this.defects.push(`${this.#op}: ${field}.${name} is not flat: ${quote(entry)}`);
    }
    return extra;
  }
}

/** A value in the words of a diagnostic. It may be long, and may be anything. */
function quote(value: unknown): string {
  if (value === undefined) return '(absent)';
  const text =
    typeof value === 'string' ? value.slice(0, 200) : typeof value === 'object' && value !== null ? '{..}' : value;
  return toOneLine(JSON.stringify(text), 60);
}

function isPlainText(value: unknown, chars: number): value is string {
  return typeof value === 'string' && value.length <= chars && value.isWellFormed() && !CONTROLS.test(value);
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
