import type { FastifyInstance } from 'fastify';
import { type Decisions, decisionJson } from '../../core/inbox/decisions/index.ts';
import { answerJson, needToken } from './answer.ts';
import { decisionsQuery } from './queries.ts';

/** The decisions, as far as their route needs them. */
export type DecisionsApi = Pick<Decisions, 'list'>;

/** What agents ask of people; answered by `POST /api/v1/actions/decide`. It is message text, and so needs the token. */
export function decisionRoutes(app: FastifyInstance, decisions: DecisionsApi): void {
  app.get('/api/v1/decisions', async (request, reply) => {
    needToken(request);
    const { state = 'open', persona = null, limit = 100 } = decisionsQuery(request.url);
    const found = decisions.list({ persona, onlyOpen: state === 'open', limit });
    return answerJson(reply, { decisions: found.map(decisionJson) });
  });
}
