import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type LocalHive, parseInboxQuery, parsePendingQuery, type UnreadLevels } from '../../core/inbox/index.ts';
import { type Count, Fault } from '../../core/model/index.ts';
import { answerJson, requireToken } from './answer.ts';
import type { ClientBudget } from './budget.ts';
import { takeHold } from './event-pages.ts';
import { HttpRefusal } from './problem.ts';

/** The part of the local hive that its routes need. */
export type HiveApi = Pick<LocalHive, 'send' | 'inbox' | 'personas' | 'pending'>;

/**
 * Serves the local hive over HTTP, with the paths, parameters and envelopes of the Kijito contract (a). Message text and sending
 * need the token; names and counts are open. `createHoldSignal` makes the signal that ends a hold when its client leaves or
 * Hivebar stops.
 */
export function registerHiveRoutes(
  app: FastifyInstance,
  hive: HiveApi,
  holds: ClientBudget,
  createHoldSignal: (reply: FastifyReply) => AbortSignal,
): void {
  app.get('/api/inbox', async (request, reply) => {
    requireToken(request);
    return answerJson(reply, hive.inbox(requireParsed(parseInboxQuery(parseParams(request)))));
  });

  app.get('/api/personas', async (_request, reply) =>
    answerJson(reply, { result: hive.personas().map(({ name }) => ({ persona: name })) }),
  );

  app.get('/api/notify/pending', async (request, reply) => {
    const { waitMs, cursor } = requireParsed(parsePendingQuery(parseParams(request)));
    // Without a cursor there is nothing to wait for, so a client that arms is answered at once.
    const hold = cursor !== null && waitMs > 0 ? { cursor, ms: waitMs } : null;
    using _place = hold === null ? null : takeHold(holds, request.client);
    const levels = await hive.pending(hold, createHoldSignal(reply));
    return answerJson(reply, { result: toPendingWire(levels), cursor: levels.cursor });
  });

  app.post('/api/send', async (request, reply) => {
    requireToken(request);
    return answerJson(reply, { result: await hive.send(request.body) });
  });
}

function parseParams(request: FastifyRequest): URLSearchParams {
  const at = request.url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : request.url.slice(at));
}

function requireParsed<T>(parsed: T | Fault): T {
  if (parsed instanceof Fault) throw parsed;
  return parsed;
}

/** Only personas with unread mail are listed. A persona that is absent has none (Kijito contract a). */
function toPendingWire({ byAddress, forAgents }: UnreadLevels): object[] {
  const result: object[] = [];
  for (const persona of new Set([...byAddress.keys(), ...forAgents.keys()])) {
    const level = byAddress.get(persona);
    // The caller is an agent, or watches for one, so messages from Hivebar itself count as well.
    const own = forAgents.get(persona) ?? { unread: 0, urgent: 0 };
    const n = requireCount(level?.unread) + own.unread;
    if (n > 0) result.push({ persona, unread: n, unread_urgent: requireCount(level?.urgent) + own.urgent });
  }
  return result;
}

function requireCount(count: Count | undefined): number {
  if (count === undefined) return 0;
  if (count.is !== 'unknown') return count.n;
  throw new HttpRefusal(503, 'unknown', 'a count is not known now', 'ask again'); // a persona left out would mean "none"
}
