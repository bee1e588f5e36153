import type { FastifyInstance } from 'fastify';
import { isMail, parseEventLine, readMailExtras, readMailUrgency } from '../../core/events/index.ts';
import type { MailboxMessage } from '../../core/inbox/index.ts';
import { formatIso, type Instant, type PersonaId, parseTimestamp } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import type { OutboxReader } from '../../core/sinks/outbox/index.ts';
import { answerJson, requireToken } from './answer.ts';
import { type PersonaRoute, requirePersona } from './api-routes.ts';
import type { CurrentStatus } from './current-status.ts';
import { MESSAGES_QUERY, parseQuery } from './queries.ts';
import type { MailWire, MessagesWire, PersonaWire } from './wire.ts';

/** A message of the local hive, and whether its sender has an inbox there that a reply can go to. */
export interface StoredMessage extends MailboxMessage {
  readonly canReply: boolean;
}

export interface MessagesOptions {
  readonly current: () => CurrentStatus;
  readonly clock: Clock;
  readonly events: Pick<OutboxReader, 'mailBefore'>;
  /** The messages of a persona of the local hive that are older than an id, newest first; null for a persona of any other source. */
  readonly listStored: (persona: PersonaId, before: number | null) => Iterable<StoredMessage> | null;
}

/** The longest text in a list, in characters. Alone (`limit=1`) a message is whole. */
const TEXT_CHARS = 20_000;
/** A page ends after about this many characters of text. */
const PAGE_CHARS = 512 * 1024;
const BATCH = 64;
const NAME_CHARS = 200;

/**
 * `GET /api/v1/personas/ID/messages`: the messages of one inbox, newest first, page by page. It marks nothing as read. The local hive
 * has all of them; of any other source those that were delivered to its agent and are still kept.
 */
export function registerMessageRoute(app: FastifyInstance, options: MessagesOptions): void {
  app.get<PersonaRoute>('/api/v1/personas/:id/messages', async (request, reply) => {
    requireToken(request);
    const persona = requirePersona(options.current(), request.params.id);
    const query = parseQuery(request.url, MESSAGES_QUERY);
    const { before = null, limit = MESSAGES_QUERY.properties.limit.default } = query;
    const now = options.clock.now();
    const stored = options.listStored(persona.id, before);
    const rows =
      stored === null ? listDelivered(options.events, persona, before, now) : listOfStore(stored, persona.id);
    const page = takePage(rows, limit);
    return answerJson(reply, { ...page, from: stored === null ? 'events' : 'store' } satisfies MessagesWire);
  });
}

interface ListedMessage {
  /** The position in the list, which only falls. */
  readonly at: number;
  readonly message: MailWire;
}

function takePage(rows: Iterable<ListedMessage>, limit: number): Pick<MessagesWire, 'messages' | 'before'> {
  const messages: MailWire[] = [];
  let last = 0;
  let left = PAGE_CHARS;
  for (const { at, message } of rows) {
    if (messages.length === limit || left <= 0) return { messages, before: last };
    const text = limit === 1 ? message.text : message.text.slice(0, TEXT_CHARS).toWellFormed();
    messages.push({ ...message, text, truncated: text.length < message.text.length });
    left -= text.length;
    last = at;
  }
  return { messages, before: null };
}

function* listOfStore(messages: Iterable<StoredMessage>, persona: PersonaId): Iterable<ListedMessage> {
  for (const message of messages) {
    const { id, from, content, created, urgent, priority, read, origin, answers, canReply } = message;
    const about = { id, persona, from, to: persona, subject: '', text: content, truncated: false, at: created };
    const marks = { urgent, priority, unread: !read, thread: answers, conversation: null, question: false };
    const replies = message.replies.map((reply) => ({
      id: reply.id,
      to: reply.to,
      text: reply.content,
      at: reply.created,
    }));
    const ways = { link: false, url: null, replyTo: canReply ? `${id}` : null };
    yield { at: id, message: { ...about, ...marks, ...ways, replies, own: origin !== undefined } };
  }
}

function* listDelivered(
  events: MessagesOptions['events'],
  persona: PersonaWire,
  before: number | null,
  now: Instant,
): Iterable<ListedMessage> {
  // Which messages of an inbox are unread, its source does not say. Without unread mail none is.
  const unread = persona.unreadIs === 'exact' && persona.unread === 0 ? false : null;
  for (let next = before, hasMore = true; hasMore; ) {
    const rows = events.mailBefore(persona.id, next, BATCH);
    for (const { seq, line } of rows) {
      const event = parseEventLine(line);
      if (event === null || !isMail(event)) continue;
      const { subject, link } = readMailExtras(event);
      const { isUrgent: urgent, priority } = readMailUrgency(event);
      const { message, thread } = event as { readonly message?: unknown; readonly thread?: unknown };
      const replyTo = persona.canReply ? toName(message) : null;
      const sent = parseTimestamp(event.created ?? '');
      // A sender's clock may be ahead, so now is the upper limit.
      const at = sent === null ? event.ts : formatIso(Math.min(sent, now));
      const about = { id: event.id, persona: persona.id, from: event.from ?? '', to: persona.id, subject, at };
      const text = { text: formatContent(event.content), truncated: false };
      const marks = { urgent, priority, unread, thread: null, conversation: toName(thread) };
      const ways = { link: link !== null, url: link, replyTo, replies: [], own: event.origin !== undefined };
      yield { at: seq, message: { ...about, ...text, ...marks, ...ways, question: event.event === 'question' } };
    }
    next = rows.at(-1)?.seq ?? next;
    hasMore = rows.length === BATCH;
  }
}

function toName(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, NAME_CHARS) : null;
}

/** Usually text, but another agent may have sent any JSON. */
function formatContent(content: unknown): string {
  if (content === undefined || content === null) return '';
  return typeof content === 'string' ? content : JSON.stringify(content);
}
