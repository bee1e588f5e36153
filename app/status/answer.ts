import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientClass } from './budget.ts';
import { formatProblem, HttpRefusal, type Problem } from './problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the sender may do: `owner` with the token or on the owner-only socket. */
    right: 'owner' | 'anyone';
    /** The class of client whose places a long request takes. */
    client: ClientClass;
  }
  interface FastifyContextConfig {
    /** When present, the route answers without the token whatever the settings say, and shows nothing of what is watched. */
    readonly tellsNothing?: true;
    /** When present, the route checks tokens itself, because it also accepts the tokens of daemons. */
    readonly ownTokens?: true;
  }
}

/** Requires the token, which message text and actions need (Decision 4). @throws Refusal 401 unless the sender has it. */
export function requireToken(request: FastifyRequest): void {
  if (request.right !== 'owner') throw createTokenRefusal();
}

export function createTokenRefusal(): HttpRefusal {
  return createUnauthorizedRefusal('this needs the token');
}

export function createUnauthorizedRefusal(message: string): HttpRefusal {
  const next = 'send Authorization: Bearer TOKEN with the token of the run directory, or use the CLI';
  return new HttpRefusal(401, 'unauthorized', message, next);
}

export function answerProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 401) void reply.header('WWW-Authenticate', 'Bearer');
  return reply.code(problem.status).type('application/json; charset=utf-8').send(formatProblem(problem));
}

export function answerJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(value));
}
