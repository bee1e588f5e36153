import type { FastifyInstance } from 'fastify';
import { type Board, isSameValue, type MessagePreview, type PersonaView } from '../../core/board/index.ts';
import type { MessageMarks } from '../../core/inbox/index.ts';
import { formatIso, type Instant, type PersonaId, parseTimestamp } from '../../core/model/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import { answerJson, requireToken } from './answer.ts';
import type { MessageWire } from './wire.ts';

/** What the local hive knows of a message of one of its personas; null for the messages of every other source. */
export type FindMessageMarks = (persona: PersonaId, id: number) => MessageMarks | null;

/** What is needed to show the newest messages. */
export interface NewestOptions {
  readonly board: Board;
  readonly clock: Clock;
  readonly findMarks: FindMessageMarks;
}

/** `GET /api/v1/newest`: the newest message of each persona that has one, for a list of personas. It needs the token. */
export function registerNewestRoute(app: FastifyInstance, options: NewestOptions): void {
  app.get('/api/v1/newest', async (request, reply) => {
    requireToken(request);
    return answerJson(reply, { newest: listNewest(options) });
  });
}

function listNewest({ board, clock, findMarks }: NewestOptions): Readonly<Record<PersonaId, MessageWire>> {
  const now = clock.now();
  const messages = board.snapshot().personas.flatMap((view) => {
    const message = toNewestWire(view, findMarks, now);
    return message === null ? [] : [[view.id, message] as const];
  });
  return Object.fromEntries(messages);
}

/** Follows the newest messages, and finds which of them changed. */
export interface NewestFeed {
  /** Takes these personas over, and returns the messages that changed since the last call; null: none did. */
  advance(personas: readonly PersonaView[], now: Instant): Readonly<Record<PersonaId, MessageWire>> | null;
  /** All messages as of the last `advance`. */
  all(): Readonly<Record<PersonaId, MessageWire>>;
}

export function createNewestFeed(findMarks: FindMessageMarks, log: Log): NewestFeed {
  let known = new Map<PersonaId, { readonly view: PersonaView; readonly message: MessageWire | null }>();
  const tryFindMarks: FindMessageMarks = (persona, id) => {
    try {
      return findMarks(persona, id);
    } catch (error) {
      log.warn('the store could not be asked whether a message is unread', { error: String(error) });
      return null;
    }
  };
  const find = (view: PersonaView, now: Instant): MessageWire | null => {
    const before = known.get(view.id);
    if (before !== undefined && isSameMail(before.view, view)) return before.message;
    const message = toNewestWire(view, tryFindMarks, now);
    return isSameValue(before?.message, message) ? (before?.message ?? null) : message;
  };
  return {
    advance(personas, now) {
      const next = new Map(personas.map((view) => [view.id, { view, message: find(view, now) }]));
      const changed = [...next].flatMap(([id, { message }]) =>
        message === null || known.get(id)?.message === message ? [] : [[id, message] as const],
      );
      known = next;
      return changed.length === 0 ? null : Object.fromEntries(changed);
    },
    all: () => Object.fromEntries([...known].flatMap(([id, { message }]) => (message === null ? [] : [[id, message]]))),
  };
}

/** The same messages, of which as many are unread. */
function isSameMail(a: PersonaView, b: PersonaView): boolean {
  return a.latestMessages === b.latestMessages && isSameValue(a.unread, b.unread);
}

/** The longest first line of a message in a list. */
const LINE_CHARS = 200;

/** Returns the newest message of this persona; null when it has none. */
export function toNewestWire(view: PersonaView, findMarks: FindMessageMarks, now: Instant): MessageWire | null {
  const [message] = view.latestMessages;
  if (message === undefined) return null;
  const marks = findMarks(view.id, message.id);
  return {
    id: message.id,
    persona: view.id,
    from: message.from,
    to: view.id,
    subject: message.subject,
    text: cutFirstLine(message.text ?? ''),
    at: toWrittenAt(message, now),
    urgent: marks?.isUrgent ?? message.isUrgent,
    priority: marks?.priority ?? message.priority,
    unread: marks === null ? isUnread(view) : !marks.isRead,
    thread: null,
    link: message.link !== null,
    question: message.isQuestion,
  };
}

/** An inbox without unread mail has none here either. Which of its messages are unread, the board does not know. */
function isUnread({ unread }: PersonaView): boolean | null {
  return unread.is === 'exact' && unread.n === 0 ? false : null;
}

function cutFirstLine(text: string): string {
  const line = text.split(/[\r\n]/).find((part) => part.trim() !== '') ?? '';
  return line.trim().slice(0, LINE_CHARS).toWellFormed();
}

/** A sender's clock may be ahead, so now is the upper limit. */
function toWrittenAt({ created }: MessagePreview, now: Instant): string | null {
  const at = parseTimestamp(created);
  return at === null ? null : formatIso(Math.min(at, now));
}
