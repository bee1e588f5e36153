import type { FastifyInstance } from 'fastify';
import { type Decisions, toDecisionJson } from '../../core/inbox/decisions/index.ts';
import { answerJson, requireToken } from './answer.ts';
import { parseDecisionsQuery } from './queries.ts';

/** The decisions, as far as their route needs them. */
export type DecisionsApi = Pick<Decisions, 'list'>;

/** What agents ask of people; answered by `POST /api/v1/actions/decide`. It is message text, and so needs the token. */
export function registerDecisionRoutes(app: FastifyInstance, decisions: DecisionsApi): void {
  app.get('/api/v1/decisions', async (request, reply) => {
    requireToken(request);
    const { state = 'open', persona = null, limit = 100 } = parseDecisionsQuery(request.url);
    const listed = decisions.list({ persona, onlyOpen: state === 'open', limit });
    return answerJson(reply, { decisions: listed.map(toDecisionJson) });
  });
}
