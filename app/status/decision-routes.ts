import type { FastifyInstance } from 'fastify';
import { type Decisions, toDecisionJson } from '../../core/inbox/decisions/index.ts';
import { answerJson, requireToken } from './answer.ts';
import { parseDecisionsQuery } from './queries.ts';

/** The part of the decisions that their route needs. */
export type DecisionsApi = Pick<Decisions, 'list'>;

/**
 * Lists the decisions that agents ask of people. `POST /api/v1/actions/decide` answers them. They are message text, so they need
 * the token.
 */
export function registerDecisionRoutes(app: FastifyInstance, decisions: DecisionsApi): void {
  app.get('/api/v1/decisions', async (request, reply) => {
    requireToken(request);
    const { state = 'open', persona = null, limit = 100 } = parseDecisionsQuery(request.url);
    const listed = decisions.list({ persona, onlyOpen: state === 'open', limit });
    return answerJson(reply, { decisions: listed.map(toDecisionJson) });
  });
}
