import type { FastifyInstance } from 'fastify';
import { formatIso, type PersonaId } from '../../core/model/index.ts';
import type { LoggedMail, MailHit, MailSearch, Mark } from '../../core/search/index.ts';
import { answerJson, requireToken } from './answer.ts';
import { parseQuery } from './queries.ts';
import type { FoundMessageWire } from './wire.ts';

/** The page of a list of mail. */
const PAGE = {
  before: {
    type: 'integer',
    minimum: 0,
    description: 'Only messages before this `place`: the `next` of the answer before. Omitted: the newest.',
  },
  limit: { type: 'integer', minimum: 1, maximum: 200, default: 50, description: 'How many messages at most.' },
} as const;

/** The query of `GET /api/v1/feed`. */
export const FEED_QUERY = { type: 'object', properties: PAGE, additionalProperties: false } as const;

/** The query of `GET /api/v1/search`. */
export const SEARCH_QUERY = {
  type: 'object',
  properties: {
    q: {
      type: 'string',
      minLength: 1,
      maxLength: 500,
      description:
        'Words that a message must all have; "in quotes" side by side. The last may be the beginning of a word.',
    },
    ...PAGE,
  },
  required: ['q'],
  additionalProperties: false,
} as const;

/** One message with what a list shows of it. */
export interface FoundMail extends LoggedMail {
  readonly id: number;
  /** In whose inbox it is; empty for a broadcast of the local hive. */
  readonly persona: PersonaId;
  readonly isUrgent: boolean;
  readonly priority: number | null;
  readonly isRead: boolean | null;
  readonly hasLink: boolean;
  readonly isQuestion: boolean;
}

/** The part of the search that its routes need. */
export type MailSearchApi = Pick<MailSearch<FoundMail>, 'list'>;

/** Lists all mail, newest first, or the mail with some words. Both need the token. */
export function registerMailRoutes(app: FastifyInstance, search: MailSearchApi): void {
  const answer = (words: string | null, before: number | null, limit: number): object => {
    const { hits, hasMore, isComplete } = search.list(words, before, limit);
    return { messages: hits.map(toFoundWire), next: hasMore ? (hits.at(-1)?.id ?? null) : null, complete: isComplete };
  };
  app.get('/api/v1/feed', async (request, reply) => {
    requireToken(request);
    const { before = null, limit = PAGE.limit.default } = parseQuery(request.url, FEED_QUERY);
    return answerJson(reply, answer(null, before, limit));
  });
  app.get('/api/v1/search', async (request, reply) => {
    requireToken(request);
    const { q, before = null, limit = PAGE.limit.default } = parseQuery(request.url, SEARCH_QUERY);
    return answerJson(reply, answer(q, before, limit));
  });
}

function toFoundWire({ id: place, mail, marks }: MailHit<FoundMail>): FoundMessageWire {
  const excerpt = cutAround(mail.text, marks.text);
  return {
    ...{ place, id: mail.id, persona: mail.persona, from: mail.from, to: mail.persona, subject: mail.subject },
    text: excerpt.text,
    at: formatIso(mail.at),
    urgent: mail.isUrgent,
    priority: mail.priority,
    unread: mail.isRead === null ? null : !mail.isRead,
    thread: null,
    link: mail.hasLink,
    question: mail.isQuestion,
    marks: { from: [...marks.from], subject: [...marks.subject], text: excerpt.marks },
  };
}

const EXCERPT_CHARS = 300;
/** How much of the text before the first match is shown. */
const LEAD_CHARS = 60;

/** Cuts the part of a text that shows the first match, with the matches in it. */
function cutAround(text: string, marks: readonly Mark[]): { readonly text: string; readonly marks: Mark[] } {
  const first = marks[0]?.[0] ?? 0;
  const start = first <= LEAD_CHARS ? 0 : text.lastIndexOf(' ', first - LEAD_CHARS) + 1 || first - LEAD_CHARS;
  const end = Math.min(text.length, start + EXCERPT_CHARS);
  const lead = start > 0 ? '…' : '';
  return {
    text: `${lead}${text.slice(start, end).toWellFormed()}${end < text.length ? '…' : ''}`,
    marks: marks.flatMap(([from, to]): Mark[] =>
      from < start || to > end ? [] : [[from - start + lead.length, to - start + lead.length]],
    ),
  };
}
