import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseName } from '../../core/inbox/index.ts';
import { type ClientBudget, HttpRefusal, isGone, refuseDevice, requireToken } from './answer.ts';
import { takeHold } from './event-pages.ts';
import { parseQuery } from './queries.ts';

/** The query of `POST /mcp`. */
export const MCP_QUERY = {
  type: 'object',
  properties: {
    persona: {
      type: 'string',
      description: 'The agent that the request is for, unless the header `Hivebar-Persona` names it.',
    },
  },
  additionalProperties: false,
} as const;

/** One request of a client of the Model Context Protocol. */
export interface McpRequest {
  /** The agent that the request is for. */
  readonly persona: string;
  readonly method: string;
  readonly headers: FastifyRequest['headers'];
  /** Parsed; undefined when there is none. */
  readonly body: unknown;
  /** Aborts when the client is gone, and when Hivebar stops. */
  readonly signal: AbortSignal;
}

export interface McpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: NodeJS.ReadableStream | null;
  /** Called once, when the whole answer was handed to the system, or never will be. */
  ended(isWritten: boolean): void;
}

/** The tools of `hivebar mcp`, for one request at a time. */
export interface McpHttp {
  answer(request: McpRequest): Promise<McpAnswer>;
}

/**
 * `POST /mcp`: the tools of `hivebar mcp` for clients that cannot start a program. What answers is loaded with the first request.
 * @param load null: the setting `mcpOverHttp` is off
 */
export function registerMcpRoute(
  app: FastifyInstance,
  load: (() => Promise<McpHttp>) | null,
  holds: ClientBudget,
  createHoldSignal: (reply: FastifyReply) => AbortSignal,
): void {
  let loaded: Promise<McpHttp> | null = null;
  // Clients ask for a stream of what the server says by itself, and go on without one.
  app.get('/mcp', { exposeHeadRoute: false }, async (request) => {
    requireToken(request);
    throw new HttpRefusal(405, 'bad-method', 'there is no stream here', 'use POST');
  });
  app.post('/mcp', async (request, reply) => {
    requireToken(request);
    refuseDevice(request);
    if (load === null) {
      const next =
        'run hivebar config set mcpOverHttp true, and start Hivebar again; or let the client start hivebar mcp';
      throw new HttpRefusal(403, 'mcp-off', 'MCP over HTTP is off', next);
    }
    const persona = findPersona(request);
    const place = takeHold(holds, request.client);
    reply.raw.once('close', () => place[Symbol.dispose]());
    loaded ??= load();
    const { method, headers, body } = request;
    const answer = await (await loaded).answer({ persona, method, headers, body, signal: createHoldSignal(reply) });
    if (isGone(reply)) {
      answer.ended(false);
      return reply.hijack();
    }
    reply.raw.once('close', () => answer.ended(reply.raw.writableFinished));
    return reply
      .code(answer.status)
      .headers(answer.headers)
      .send(answer.body ?? '');
  });
}

/** @throws Refusal 400 @throws Fault `usage` */
function findPersona(request: FastifyRequest): string {
  const header = request.headers['hivebar-persona'];
  const { persona } = parseQuery(request.url, MCP_QUERY);
  const named = header === undefined ? undefined : Buffer.from(String(header), 'latin1').toString('utf8');
  if (named !== undefined && persona !== undefined && named !== persona) {
    const names = `${JSON.stringify(named.slice(0, 200))} and ${JSON.stringify(persona.slice(0, 200))}`;
    throw new HttpRefusal(400, 'usage', `the header and the query name two personas: ${names}`, 'name one');
  }
  return parseName('persona', persona ?? named);
}
