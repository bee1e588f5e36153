import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  CANCEL_FIELDS,
  DECISION_FIELDS,
  type Decisions,
  type DecisionWaitResult,
  toDecisionJson,
  toNewDecision,
} from '../../core/inbox/decisions/index.ts';
import { answerJson, type ClientBudget, HttpRefusal, requireToken } from './answer.ts';
import { takeHold } from './event-pages.ts';
import { MAX_WAIT_SECONDS, parseBody, parseDecisionsQuery, parseQuery } from './queries.ts';

/** The body of `POST /api/v1/decisions`. */
export const DECISION_BODY = {
  type: 'object',
  properties: DECISION_FIELDS,
  required: ['persona', 'prompt'],
  additionalProperties: false,
} as const;

/** The query of `GET /api/v1/decisions/ID`. */
export const DECISION_QUERY = {
  type: 'object',
  properties: {
    wait: {
      type: 'number',
      minimum: 0,
      default: 0,
      description: `Seconds to hold the answer until the decision is closed, at most ${MAX_WAIT_SECONDS}.`,
    },
  },
  additionalProperties: false,
} as const;

/** The body of `POST /api/v1/decisions/ID/cancel`. */
export const CANCEL_BODY = {
  type: 'object',
  properties: { ...CANCEL_FIELDS, by: { ...CANCEL_FIELDS.by, default: 'operator' } },
  additionalProperties: false,
} as const;

/** The part of the decisions that their routes need. */
export interface DecisionsApi extends Pick<Decisions, 'list' | 'get' | 'create' | 'cancel'> {
  /** Waits until the decision is closed, for `limitMs`, or until the signal aborts. Meanwhile its persona is marked as waiting. */
  wait(id: number, limitMs: number, signal: AbortSignal): Promise<DecisionWaitResult>;
}

/**
 * Lets programs ask a person, wait for the answer, and list and cancel what was asked, as `hivebar decision` does.
 * `POST /api/v1/actions/decide` answers. Decisions are message text, so they need the token.
 */
export function registerDecisionRoutes(
  app: FastifyInstance,
  decisions: DecisionsApi,
  holds: ClientBudget,
  createHoldSignal: (reply: FastifyReply) => AbortSignal,
): void {
  app.get('/api/v1/decisions', async (request, reply) => {
    requireToken(request);
    const { state = 'open', persona = null, limit = 100 } = parseDecisionsQuery(request.url);
    const listed = decisions.list({ persona, onlyOpen: state === 'open', limit });
    return answerJson(reply, { decisions: listed.map(toDecisionJson) });
  });

  app.post('/api/v1/decisions', async (request, reply) => {
    requireToken(request);
    const decision = decisions.create(toNewDecision(parseBody(request.body, DECISION_BODY)));
    return answerJson(reply, toDecisionJson(decision));
  });

  app.get<DecisionRoute>('/api/v1/decisions/:id', async (request, reply) => {
    requireToken(request);
    const { wait = 0 } = parseQuery(request.url, DECISION_QUERY);
    const id = parseDecisionId(request.params.id);
    const decision = decisions.get(id);
    if (decision === null) throw createMissingRefusal(request.params.id);
    if (wait === 0 || decision.outcome.is !== 'open') return answerJson(reply, toDecisionJson(decision));
    using _place = takeHold(holds, request.client);
    const waited = await decisions.wait(id, Math.min(wait, MAX_WAIT_SECONDS) * 1000, createHoldSignal(reply));
    if (waited.is === 'none') throw createMissingRefusal(request.params.id);
    return answerJson(reply, toDecisionJson(waited.decision));
  });

  app.post<DecisionRoute>('/api/v1/decisions/:id/cancel', async (request, reply) => {
    requireToken(request);
    const { by = CANCEL_BODY.properties.by.default, reason = null } = parseBody(request.body ?? {}, CANCEL_BODY);
    const done = decisions.cancel(parseDecisionId(request.params.id), by, reason);
    if (done.is === 'none') throw createMissingRefusal(request.params.id);
    return answerJson(reply, { accepted: done.is === 'done', decision: toDecisionJson(done.decision) });
  });
}

interface DecisionRoute {
  Params: { id: string };
}

/** @throws Refusal 404 */
function parseDecisionId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw createMissingRefusal(text);
}

function createMissingRefusal(id: string): HttpRefusal {
  const next = 'see /api/v1/decisions?state=all for those that there are';
  return new HttpRefusal(404, 'no-decision', `there is no decision ${JSON.stringify(id.slice(0, 100))}`, next);
}
