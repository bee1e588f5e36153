import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type CurrentStatus, matchesEtag } from './current.ts';
import type { EventPages } from './event-pages.ts';
import { HttpRefusal } from './problem.ts';
import { EVENTS_QUERY, parseEventsQuery } from './queries.ts';

/** A browser may store the answer, but must ask again before each use. */
export const REVALIDATE = 'private, no-cache';

const PRESET = EVENTS_QUERY.properties;

/**
 * Registers what a script reads: the whole status, its personas, one persona, and delivered events. Everything but the text of
 * events is open (Decision 4). A part of the status has the ETag of the whole.
 */
export function registerApiRoutes(
  app: FastifyInstance,
  current: () => CurrentStatus,
  pages: EventPages,
  createHoldSignal: (reply: FastifyReply) => AbortSignal,
): void {
  const answerFresh = (
    request: FastifyRequest,
    reply: FastifyReply,
    body: (now: CurrentStatus) => string | Buffer,
  ): FastifyReply => {
    const now = current();
    void reply.header('ETag', now.etag).header('Cache-Control', REVALIDATE);
    if (matchesEtag(request.headers['if-none-match'], now.etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(body(now));
  };
  for (const path of ['/status.json', '/api/v1/status']) {
    app.get(path, async (request, reply) => answerFresh(request, reply, ({ bytes }) => bytes));
  }
  app.get('/api/v1/personas', async (request, reply) =>
    answerFresh(request, reply, ({ wire: { rev, generatedAt, personas } }) =>
      JSON.stringify({ rev, generatedAt, personas }),
    ),
  );
  app.get<PersonaRoute>('/api/v1/personas/:id', async (request, reply) =>
    answerFresh(request, reply, (now) => {
      const { rev, generatedAt } = now.wire;
      return JSON.stringify({ rev, generatedAt, persona: requirePersona(now, request.params.id) });
    }),
  );
  const events = async (
    request: FastifyRequest,
    reply: FastifyReply,
    persona: string | null,
  ): Promise<FastifyReply> => {
    const { since, limit = PRESET.limit.default, wait = PRESET.wait.default } = parseEventsQuery(request.url);
    const query = {
      persona,
      since: since ?? null,
      limit,
      waitSeconds: wait,
      right: request.right,
      client: request.client,
    };
    const body = await pages.page(query, createHoldSignal(reply));
    return reply.type('application/json; charset=utf-8').send(body);
  };
  app.get('/api/v1/events', async (request, reply) => events(request, reply, null));
  app.get<PersonaRoute>('/api/v1/personas/:id/events', async (request, reply) => {
    const { id } = requirePersona(current(), request.params.id);
    return events(request, reply, id);
  });
}

interface PersonaRoute {
  Params: { id: string };
}

/** @throws Refusal 404 */
function requirePersona({ wire }: CurrentStatus, id: string) {
  const persona = wire.personas.find((entry) => entry.id === id);
  if (persona !== undefined) return persona;
  const name = JSON.stringify(id.slice(0, 200));
  throw new HttpRefusal(404, 'no-persona', `no persona ${name} is watched`, 'see /api/v1/personas for those that are');
}
