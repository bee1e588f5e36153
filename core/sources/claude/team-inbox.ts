import { type Extra, type MailName, parseTimestamp } from '../../model/index.ts';
import type { Clock, Stat } from '../../ports/index.ts';
import { cut, sanitizeText } from '../source-tools.ts';
import { createMailLog, type MailEntry, type MailLog } from './mail-log.ts';
import {
  type MessageKind,
  parseTeamInbox,
  parseTyped,
  type ReadCalls,
  readKind,
  readWhole,
  type TeamInboxContent,
  type TeamMessage,
  type TranscriptMessage,
  tryStat,
} from './read/index.ts';
import { cleanText, toHash } from './texts.ts';

/** How text of mail is handed on. */
export interface TextRules {
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
}

/** The inbox of one name in a team. */
export interface TeamInbox {
  readonly team: string;
  readonly name: string;
  readonly path: string;
  readonly log: MailLog;
  /** Messages in the file whose end was seen. */
  endedKeys: ReadonlySet<string>;
  /** Its file as it was read last; null when it never was. */
  content: TeamInboxContent | null;
  stat: Stat | null;
  /** Whether what is read in it when it is first seen is from before. */
  isOld: boolean;
  /** Whether it was ever read. */
  wasRead: boolean;
  /** Why it cannot be read since then, on the monotonic clock; null when it can. */
  trouble: { readonly why: string; readonly since: number } | null;
  defects: readonly string[];
  /** How often each text was seen in the file and is still to be found in the transcript of its reader. */
  readonly unmatched: Map<string, number>;
  /** Rises whenever anything in it changed. */
  revision: number;
}

export function createTeamInbox({
  team,
  name,
  path,
  isOld,
}: Pick<TeamInbox, 'team' | 'name' | 'path' | 'isOld'>): TeamInbox {
  const endedKeys: ReadonlySet<string> = new Set();
  const start = { content: null, stat: null, wasRead: false, trouble: null, defects: [], revision: 0 } as const;
  return { team, name, path, isOld, log: createMailLog(), endedKeys, unmatched: new Map(), ...start };
}

const MOST_INBOX_BYTES = 64 * 1024 * 1024;
/** A plan that nobody approves within this time waits for a person. The program of the lead approves most of them itself. */
const PLAN_WAITS_MS = 3000;
/** A file that could not be read is read again after 50, 200 and 800 ms. Then it counts as unreadable. */
export const RETRIES_MS: readonly number[] = [50, 250, 1050];
const UNREADABLE_AFTER_MS = 1050;

/** Why the box counts as unreadable; null when it does not, or not yet. */
export function findBoxTrouble({ trouble, wasRead }: TeamInbox, now: number): string | null {
  if (trouble === null) return null;
  return !wasRead || now - trouble.since >= UNREADABLE_AFTER_MS ? trouble.why : null;
}

/** A large file is replaced, never changed in place, so it is the same one while its stat is. A small one is quicker read than told apart. */
function isSameLargeFile(a: Stat, b: Stat | null): boolean {
  return b !== null && a.size >= LARGE_BYTES && a.size === b.size && a.ino === b.ino && a.ctimeMs === b.ctimeMs;
}

const LARGE_BYTES = 64 * 1024;

/** Its file went away, with all that was unread in it. @returns whether anything was */
export function loseMail(box: TeamInbox): boolean {
  box.content = null;
  box.stat = null;
  const hasChanged = box.log.end('gone', () => true);
  if (hasChanged) box.revision += 1;
  return hasChanged;
}

/** Reads the file of an inbox again, and notes what came and what was taken. @returns whether anything changed */
export function updateTeamInbox(box: TeamInbox, files: ReadCalls, clock: Clock, texts: TextRules): boolean {
  const hasChanged = readTeamInbox(box, files, clock, texts);
  if (hasChanged) box.revision += 1;
  return hasChanged;
}

function readTeamInbox(box: TeamInbox, files: ReadCalls, clock: Clock, texts: TextRules): boolean {
  const stat = tryStat(files, box.path);
  if (stat !== null && box.trouble === null && isSameLargeFile(stat, box.stat)) return false;
  const content = readWhole(files, box.path, MOST_INBOX_BYTES);
  const now = clock.monotonic();
  box.stat = content.is === 'bytes' ? content.stat : null;
  let inbox: TeamInboxContent | null = null;
  let why: string;
  if (content.is === 'bytes') {
    try {
      inbox = parseTeamInbox(content.bytes, box.content);
      if (inbox === box.content && box.trouble === null) return false;
      why = '';
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      why = /^is |^has /.test(error.message)
        ? error.message
        : `is cut off after ${content.bytes.length} bytes, or is no JSON`;
    }
  } else why = content.is === 'absent' ? 'is not there' : content.why;
  if (inbox === null) {
    const isNew = box.trouble?.why !== why;
    box.trouble = { why, since: box.trouble?.since ?? now };
    if (content.is !== 'absent' || now - box.trouble.since < UNREADABLE_AFTER_MS) return isNew;
    box.trouble = null;
    return loseMail(box); // it was removed
  }
  box.content = inbox;
  let hasChanged = box.trouble !== null || inbox.defects.join() !== box.defects.join();
  box.trouble = null;
  box.defects = inbox.defects;
  const present = new Set<string>();
  const endedKeys = new Set<string>();
  for (const message of inbox.messages) {
    const { key, isRead } = message;
    present.add(key);
    const entry = box.log.entries.get(key);
    if (isRead) endedKeys.add(key);
    if (entry !== undefined) {
      const state = isRead ? 'read' : 'unread'; // one that was gone may be back
      if (entry.state !== state) {
        entry.state = state;
        hasChanged = true;
      }
      continue;
    }
    if (isRead && (box.endedKeys.has(key) || (box.isOld && !box.wasRead))) continue;
    box.log.add(toEntry(message, box.team, isRead, clock, texts));
    noteText(box, message, 1);
    hasChanged = true;
  }
  if (box.log.end('read', ({ key }) => !present.has(key))) hasChanged = true;
  box.endedKeys = endedKeys;
  box.wasRead = true;
  return hasChanged;
}

/**
 * Notes a message of the transcript of the reader. One that was never seen in the file came and went between two reads of it.
 * @param box null: it came from another session, or its team is gone
 * @returns whether it is news
 */
export function noteLateMessage(
  message: TranscriptMessage,
  box: TeamInbox | null,
  log: MailLog,
  clock: Clock,
  texts: TextRules,
): boolean {
  const kind = readKind(message.text);
  if (kind === null || log.entries.has(message.key)) return false;
  if (box !== null && noteText(box, message, -1)) return false;
  log.add(toEntry({ ...message, kind, isRead: true }, box?.team ?? null, true, clock, texts));
  if (box !== null) box.revision += 1;
  return true;
}

/** Counts one more or one less of a text that is to be found in the transcript. @returns false when there is none to take away */
function noteText({ unmatched }: TeamInbox, { from, text }: Pick<TeamMessage, 'from' | 'text'>, by: 1 | -1): boolean {
  const key = toHash(JSON.stringify([from, text.trim()]));
  const count = unmatched.get(key) ?? 0;
  if (count + by < 0) return false;
  unmatched.delete(key);
  if (count + by > 0) unmatched.set(key, count + by);
  const [oldest] = unmatched.keys();
  if (unmatched.size > MOST_UNMATCHED && oldest !== undefined) unmatched.delete(oldest);
  return true;
}

const MOST_UNMATCHED = 5000;

function toEntry(
  message: TeamMessage,
  team: string | null,
  isRead: boolean,
  clock: Clock,
  texts: TextRules,
): MailEntry {
  const { key, kind, from, text, summary, created } = message;
  const { contentChars } = texts;
  const isQuestion = kind !== 'mail';
  const subject =
    summary === null ? (isQuestion ? formatQuestion(kind, text) : null) : cleanText(summary, SUBJECT_CHARS);
  const extra: Extra = {
    ...(team === null ? {} : { team }),
    ...(subject === null ? {} : { subject }),
    ...(isQuestion ? { asks: kind } : {}),
  };
  const appeared: MailName = isQuestion ? 'question' : 'new';
  const now = clock.monotonic();
  const createdAt = created === null ? null : parseTimestamp(created);
  const age = createdAt === null ? 0 : Math.max(0, clock.now() - createdAt);
  return {
    ...{ key, appeared, state: isRead ? 'read' : 'unread', extra },
    from: sanitizeText(from),
    created: createdAt === null ? null : created,
    content: contentChars === null ? null : cut(sanitizeText(isQuestion ? formatRequest(text) : text), contentChars),
    isUrgent: isQuestion || /^(?:URGENT|\[URGENT\])/.test(summary ?? ''),
    quietUntil: kind === 'plan' ? now - age + PLAN_WAITS_MS : 0,
    since: now - age,
    sinceAt: createdAt ?? clock.now(),
  };
}

const SUBJECT_CHARS = 200;

type QuestionKind = Exclude<MessageKind, 'mail'>;

const QUESTIONS: Readonly<Record<QuestionKind, string>> = {
  permission: 'permission',
  plan: 'approval of a plan',
  sandbox: 'permission of the sandbox',
};

function formatQuestion(kind: QuestionKind, text: string): string {
  const tool = parseTyped(text)?.tool_name;
  const asked = QUESTIONS[kind];
  return cleanText(typeof tool === 'string' ? `${asked}: ${tool}` : asked, SUBJECT_CHARS);
}

/** The fields of a request that say to a person what it is about; the request itself when it has none. */
const REQUEST_FIELDS = ['description', 'planContent', 'plan', 'host', 'reason', 'message'] as const;

function formatRequest(text: string): string {
  const request = parseTyped(text) ?? {};
  const parts = REQUEST_FIELDS.flatMap((name) => (typeof request[name] === 'string' ? [request[name]] : []));
  if (typeof request.input === 'object' && request.input !== null) parts.push(JSON.stringify(request.input));
  return parts.length === 0 ? text : parts.join('\n');
}
