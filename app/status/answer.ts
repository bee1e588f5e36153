import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientClass } from './budget.ts';
import { formatProblem, HttpRefusal, type Problem } from './problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the sender may do: `owner` with the token, or on the owner-only socket. */
    right: 'owner' | 'anyone';
    /** Whose places it takes, where it stays open for long. */
    client: ClientClass;
  }
  interface FastifyContextConfig {
    /** There: the route answers without the token whatever the settings say, and then tells nothing that is watched. */
    readonly tellsNothing?: true;
    /** There: the route looks at the token itself, since tokens of daemons are good for it too. */
    readonly ownTokens?: true;
  }
}

/** @throws Refusal 401 unless the sender has the token. Message text and actions ask for it (Decision 4). */
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
