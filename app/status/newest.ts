import type { FastifyInstance } from 'fastify';
import type { Board, MessagePreview, PersonaView } from '../../core/board/index.ts';
import type { MessageMarks } from '../../core/inbox/index.ts';
import { formatIso, type Instant, type PersonaId, parseTimestamp } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
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
