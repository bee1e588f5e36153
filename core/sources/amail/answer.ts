import { formatIso, type Instant, JsonRefusal, parseJson, parseTimestamp } from '../../model/index.ts';
import { parseJsonInParts, type YieldTurn } from '../json-parts.ts';
import { cut, sanitizeText } from '../source-tools.ts';
import { createServerFault } from './settings.ts';

/** One message of the server, reduced to what Hivebar keeps. All texts are cleaned and cut. */
export interface AgentMail {
  readonly id: number;
  /** The slug of its project. */
  readonly project: string;
  readonly sender: string;
  readonly subject: string;
  /** Null: content is left out. */
  readonly content: string | null;
  /** UTC, as events have it. */
  readonly created: string;
  /** Null: the server gives no time that can be read. */
  readonly createdAt: Instant | null;
  readonly isUrgent: boolean;
  /** Whether each recipient has read it; null when the server does not say. */
  readonly readBy: ReadonlyMap<string, boolean | null>;
}

export interface MailProject {
  readonly slug: string;
  /** The absolute path of the project's folder, as the server has it. */
  readonly folder: string;
}

/** One answer of `GET /mail/api/unified-inbox` (agent-mail contract 2). */
export interface UnifiedInbox {
  /** By rising id, each id once. */
  readonly messages: readonly AgentMail[];
  /** The projects of its list, and those of its messages. Archived projects are left out. */
  readonly projects: readonly MailProject[];
  /** Whether the answer has a list of projects. The Python server sends one, empty, even when it was not asked for. */
  readonly listsProjects: boolean;
  /** How many entries of the list could not be read. */
  readonly unreadable: number;
  readonly isDegraded: boolean;
}

const SUBJECT_CHARS = 200;
const NAME_CHARS = 128;
const SLUG = /^(?!\.{1,2}$)[\w.~-]{1,255}$/;

/**
 * Parses the bytes of an answer in parts. Of each message only what is kept outlives its part, so a body of many megabytes costs
 * memory for a moment.
 * @param from names the answer in the message of a fault
 * @throws Fault `amail-answer`
 */
export async function parseUnifiedInbox(
  body: Uint8Array,
  from: string,
  { turn, contentChars }: { readonly turn: YieldTurn; readonly contentChars: number | null },
): Promise<UnifiedInbox> {
  const answer = await parseAnswer(body, from, 'messages', turn);
  const { messages: list, projects } = answer;
  if (!Array.isArray(list)) throw createServerFault('amail-answer', `${from}: the answer has no list "messages"`);
  const folders = new Map<string, string>();
  const byId = new Map<number, AgentMail>();
  let unreadable = 0;
  for (const [index, value] of list.entries()) {
    if (index % 50 === 49) await turn();
    const message = isRecord(value) ? parseMessage(value, contentChars) : null;
    if (message === null) {
      unreadable += 1;
      continue;
    }
    byId.set(message.id, message);
    const folder = isRecord(value) ? value.project_name : null;
    if (!folders.has(message.project)) folders.set(message.project, typeof folder === 'string' ? folder : '');
  }
  if (byId.size === 0 && list.length > 0)
    throw createServerFault('amail-answer', `${from}: none of its ${list.length} messages has an id and a project`);
  for (const project of Array.isArray(projects) ? projects : []) {
    const { slug, human_key: folder, archived_at: archived } = isRecord(project) ? project : {};
    if (typeof slug !== 'string' || !SLUG.test(slug)) continue;
    if (typeof archived === 'string') folders.delete(slug);
    else folders.set(slug, typeof folder === 'string' ? folder : '');
  }
  return {
    messages: [...byId.values()].sort((a, b) => a.id - b.id),
    projects: [...folders].map(([slug, folder]) => ({ slug, folder: clean(folder, 4096) })),
    listsProjects: Array.isArray(projects),
    unreadable,
    isDegraded: hasMode(answer, 'degraded_read_only'),
  };
}

/**
 * Parses the bytes of `GET /mail/api/projects/SLUG/agents`.
 * @throws Fault `amail-answer`
 */
export async function parseAgentNames(body: Uint8Array, from: string, turn: YieldTurn): Promise<readonly string[]> {
  const { agents } = await parseAnswer(body, from, 'agents', turn);
  if (!Array.isArray(agents)) throw createServerFault('amail-answer', `${from}: the answer has no list "agents"`);
  return agents.filter(isName);
}

/** Whether an answer of the liveness route is that of such a server, and not of another program. */
export function isLivenessAnswer(body: Uint8Array): boolean {
  if (body.length > 4096) return false;
  try {
    const answer = parseJson(decode(body));
    return isRecord(answer) && answer.status === 'alive';
  } catch {
    return false; // another program
  }
}

async function parseAnswer(
  body: Uint8Array,
  from: string,
  list: string,
  turn: YieldTurn,
): Promise<Readonly<Record<string, unknown>>> {
  let answer: unknown;
  try {
    answer = await parseJsonInParts(decode(body), list, turn);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The message says the length and not the text, which may be mail.
    const why = error instanceof JsonRefusal ? `not read, since ${error.message}` : 'not JSON';
    throw createServerFault('amail-answer', `${from}: the answer of ${body.length} bytes is ${why}`, { cause: error });
  }
  if (!isRecord(answer)) throw createServerFault('amail-answer', `${from}: the answer is no object`);
  return answer;
}

function decode(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function parseMessage(row: Readonly<Record<string, unknown>>, contentChars: number | null): AgentMail | null {
  const { id, project_slug: project, importance } = row;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1) return null;
  if (typeof project !== 'string' || !SLUG.test(project)) return null;
  const createdAt = parseCreated(row);
  return {
    id,
    project,
    sender: clean(row.sender, NAME_CHARS),
    subject: clean(row.subject, SUBJECT_CHARS),
    content: contentChars === null ? null : clean(row.body_md ?? row.excerpt, contentChars),
    created: createdAt === null ? clean(row.created, NAME_CHARS) : formatIso(createdAt),
    createdAt,
    isUrgent: importance === 'urgent' || importance === 'high',
    readBy: parseReaders(row),
  };
}

/** Rust writes microseconds, Python a text without a zone. */
function parseCreated({ created_ts: stamp, created }: Readonly<Record<string, unknown>>): Instant | null {
  if (typeof stamp === 'number' && Number.isFinite(stamp)) return stamp / 1000;
  const text = typeof stamp === 'string' ? stamp : created;
  return typeof text === 'string' ? parseTimestamp(text) : null;
}

function parseReaders(row: Readonly<Record<string, unknown>>): ReadonlyMap<string, boolean | null> {
  const { recipient_names: names, recipients, recipient_read: read } = row;
  const listed = Array.isArray(names) ? names : typeof recipients === 'string' ? recipients.split(',') : [];
  const readers = new Map<string, boolean | null>();
  for (const entry of listed) {
    const name = typeof entry === 'string' ? entry.trim() : entry;
    if (!isName(name)) continue;
    const isRead = isRecord(read) && Object.hasOwn(read, name) ? read[name] : null;
    readers.set(name, typeof isRead === 'boolean' ? isRead : null);
  }
  return readers;
}

/** What can be a part of an address and of a path. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= NAME_CHARS && !/[/\p{Cc}]/u.test(value);
}

function clean(value: unknown, chars: number): string {
  return typeof value === 'string' ? cut(sanitizeText(value.slice(0, 4 * chars)), chars) : '';
}

/** Finds a mode that the server names in one of the objects of its answer, such as `recovery.mode`. */
function hasMode(answer: Readonly<Record<string, unknown>>, mode: string): boolean {
  if (answer[mode] === true || answer.mode === mode || answer.status === mode) return true;
  return Object.values(answer).some((value) => isRecord(value) && (value[mode] === true || value.mode === mode));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
