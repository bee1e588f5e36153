import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OpenPermission } from '../../core/board/index.ts';
import type { PermissionAnswer } from '../../core/hooks/index.ts';
import { type LocalHive, parseInboxQuery, parsePendingQuery, type UnreadLevels } from '../../core/inbox/index.ts';
import { type Count, Fault, formatIso } from '../../core/model/index.ts';
import { answerJson, type ClientBudget, HttpRefusal, refuseDevice, requireToken } from './answer.ts';
import { type CurrentStatus, matchesEtag } from './current-status.ts';
import { type EventPages, takeHold } from './event-pages.ts';
import { EVENTS_QUERY, type PermissionRequest, parseEventsQuery, parsePermissionBody } from './queries.ts';
import type { PermissionWire } from './wire.ts';

/** A browser may store the answer, but must ask again before each use. */
export const REVALIDATE = 'private, no-cache';

/** For what anyone may read. */
export const COMPRESSED = { config: { compresses: true } } as const;

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
    app.get(path, COMPRESSED, async (request, reply) => answerFresh(request, reply, ({ bytes }) => bytes));
  }
  app.get('/api/v1/personas', COMPRESSED, async (request, reply) =>
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

export interface PersonaRoute {
  Params: { id: string };
}

/** @throws Refusal 404 */
export function requirePersona({ wire }: CurrentStatus, id: string) {
  const persona = wire.personas.find((entry) => entry.id === id);
  if (persona !== undefined) return persona;
  const name = JSON.stringify(id.slice(0, 200));
  throw new HttpRefusal(404, 'no-persona', `no persona ${name} is watched`, 'see /api/v1/personas for those that are');
}

/** The part of the table of actions that the routes and their OpenAPI document need. */
export type ActionTable = ReadonlyMap<
  string,
  {
    readonly title: string;
    /** A JSON Schema. */
    readonly params: object;
    /** `run-token`: a device key does not suffice. */
    readonly asks: 'nothing' | 'token' | 'run-token';
    /** @throws Fault `usage` when the params do not fit. */
    run(params: unknown, signal: AbortSignal): Promise<unknown>;
  }
>;

/** `POST /api/v1/actions/NAME`. The JSON body has the params (empty = `{}`), and the answer is `{"result": ...}`. */
export function registerActionRoutes(
  app: FastifyInstance,
  actions: ActionTable,
  createHoldSignal: (reply: FastifyReply) => AbortSignal,
): void {
  app.post<{ Params: { name: string } }>('/api/v1/actions/:name', async (request, reply) => {
    const action = actions.get(request.params.name);
    if (action?.asks !== 'nothing') requireToken(request);
    if (action?.asks === 'run-token') refuseDevice(request);
    if (action === undefined) {
      const name = JSON.stringify(request.params.name.slice(0, 100));
      throw new HttpRefusal(
        404,
        'no-action',
        `there is no action ${name}`,
        `use one of: ${[...actions.keys()].join(', ')}`,
      );
    }
    return answerJson(reply, { result: (await action.run(request.body ?? {}, createHoldSignal(reply))) ?? null });
  });
}

/** The permission prompts that their routes need. */
export interface PermissionsApi {
  list(): readonly OpenPermission[];
  /** Asks a person. Null: nobody answers here. */
  ask(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer | null>;
}

/**
 * Lists the permission prompts that can be answered, for which the token is needed, and takes those of hooks. The prompt of a hook lives
 * as long as its connection. Only the owner-only socket takes one, because no hook asks otherwise.
 */
export function registerPermissionRoutes(
  app: FastifyInstance,
  permissions: PermissionsApi,
  createHoldSignal: (reply: FastifyReply) => AbortSignal,
): void {
  app.get('/api/v1/permissions', async (request, reply) => {
    requireToken(request);
    return answerJson(reply, { permissions: permissions.list().map(toPermissionWire) });
  });
  app.post('/api/v1/permissions', async (request, reply) => {
    requireToken(request);
    if (request.client !== 'socket') {
      const next = 'answer prompts with the action permit';
      throw new HttpRefusal(403, 'socket-only', 'only a hook asks for permissions, over the owner-only socket', next);
    }
    const body = parsePermissionBody(request.body);
    return answerJson(reply, { answer: await permissions.ask(body, createHoldSignal(reply)) });
  });
}

function toPermissionWire(permission: OpenPermission): PermissionWire {
  const { number, id, persona, harness, isSubagent: subagent, cwd, tool, text, cut, created, expires } = permission;
  const times = { created: formatIso(created), expires: formatIso(expires) };
  return { number, id, persona, harness, subagent, cwd, tool, text, cut, ...times };
}

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
