import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import fastify, { type FastifyReply, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import { actionRoutes } from './action-routes.ts';
import { answerProblem, tokenNeeded, unauthorized } from './answer.ts';
import { apiRoutes, REVALIDATE } from './api-routes.ts';
import { callersBy } from './callers.ts';
import { currentStatus, matches } from './current.ts';
import { decisionRoutes } from './decision-routes.ts';
import { eventPages } from './event-pages.ts';
import type { Place } from './guard.ts';
import { PAGE_POLICY } from './headers.ts';
import { healthRoutes } from './health-routes.ts';
import { historyRoutes } from './history-routes.ts';
import { hiveRoutes } from './hive-routes.ts';
import { followLoops } from './loops.ts';
import { metricsRoute } from './metrics-route.node.ts';
import type { OnceCodes } from './once.ts';
import { openapiRoute } from './openapi-route.node.ts';
import { problemOf, Refusal } from './problem.ts';
import { projectRoutes } from './project-routes.ts';
import type { StatusOptions } from './server.node.ts';
import { createSessionStream } from './session-stream.node.ts';
import { signalsRoutes } from './signals-routes.ts';
import { createStream } from './stream.ts';
import { streamRoute } from './stream-route.node.ts';
import { rightsBy } from './token.ts';
import { tokenRoute } from './token-route.ts';

export interface StatusApp {
  /** `METHOD /path/:param`. */
  readonly routes: readonly string[];
  /** Answers a request that passed the guard. */
  handle(request: IncomingMessage, response: ServerResponse, place: Place): void;
  /** Takes over a connection whose request passed the guard. @throws Refusal when it stays what it is */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, place: Place): void;
  /** Ends holds and streams. */
  close(): Promise<void>;
}

const BODY_LIMIT = 2 * 1024 * 1024;
/** A persona's name has up to 200 characters, each up to twelve as it stands in a path. */
const MAX_PARAM = 2400;

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

/** No route has a schema, since who takes a body says what it must be: so the libraries that compile them are not loaded. */
const NO_COMPILERS = {
  buildValidator: () => () => () => true,
  buildSerializer: () => () => JSON.stringify,
} as unknown as Compilers;

/** Every route, once, whatever listener a request came in on. `port` is known only when the server listens. */
export async function createApp(
  options: StatusOptions,
  of: { readonly port: () => number; readonly run: string; readonly once: OnceCodes },
): Promise<StatusApp> {
  const { board, clock, version, token, tokenEverywhere, page, log } = options;
  const { port, run } = of;
  const app = fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: MAX_PARAM },
    schemaController: { compilersFactory: NO_COMPILERS },
    frameworkErrors: (error, _request, reply) => void answerProblem(reply, problemOf(error)),
  });
  const rightOf = rightsBy(token);
  const places = new WeakMap<IncomingMessage, Place>();
  const holds = new Set<AbortController>();
  const current = currentStatus({ board, clock, version, port, run });
  const stream = createStream({ board, events: options.events, clock, current, log });
  const pages = eventPages(options.events, clock);
  const loops = followLoops(board, clock);

  /** Aborts when the client leaves before it has its answer, and when Hivebar stops. */
  const signalOf = ({ raw }: FastifyReply): AbortSignal => {
    const hold = new AbortController();
    holds.add(hold);
    raw.once('close', () => {
      holds.delete(hold);
      if (!raw.writableFinished) hold.abort();
    });
    return hold.signal;
  };
  const maySee = ({ right }: FastifyRequest): boolean => right === 'owner' || !tokenEverywhere;
  const bare = { config: { tellsNothing: true } } as const;

  app.decorateRequest('right', 'anyone');
  app.addHook('onRequest', (request, _reply, done) => {
    if (places.get(request.raw)?.is === 'owner-socket') request.right = 'owner';
    else if (request.routeOptions.config.ownTokens === undefined) {
      const right = rightOf(request.headers.authorization);
      if (right === 'wrong') return done(unauthorized('the token is not the one of this Hivebar'));
      request.right = right;
      if (request.routeOptions.config.tellsNothing === undefined && !maySee(request)) return done(tokenNeeded());
    }
    done();
  });
  const routes: string[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push(`${one} ${url}`);
  });
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else void parseJson(request, body.toString(), done);
  });
  app.setNotFoundHandler(() => {
    throw new Refusal(404, 'no-route', 'there is nothing here', 'see / or /status.json');
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error);
    if (problem.code === 'internal')
      log.error('a request failed', { method: request.method, route: request.routeOptions.url, error });
    return answerProblem(reply, problem);
  });

  app.get('/', bare, async (request, reply) => {
    void reply.header('Content-Security-Policy', PAGE_POLICY).type('text/html; charset=utf-8');
    return reply.send(page.html(maySee(request) ? current().wire : null, clock.now()));
  });
  for (const [name, { type, body }] of page.files) {
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    app.get(`/assets/${name}`, bare, async (request, reply) => {
      void reply.header('ETag', etag).header('Cache-Control', REVALIDATE);
      if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send();
      return reply.type(type).send(body);
    });
  }
  healthRoutes(app, { who: { name: 'hivebar', version, ...options.instance }, loops, maySee });
  apiRoutes(app, current, pages, signalOf);
  streamRoute(app, stream);
  metricsRoute(app, {
    status: () => current().wire,
    loops,
    daemons: options.daemonMetrics ?? (() => []),
    readers: () => ({ streams: stream.readers, holds: pages.holds }),
  });
  openapiRoute(app);
  tokenRoute(app, of.once, token, log);
  historyRoutes(app, options.history, clock);
  hiveRoutes(app, options.hive, signalOf);
  actionRoutes(app, options.actions, signalOf);
  decisionRoutes(app, options.decisions);
  projectRoutes(app, options.projects);
  const callers = callersBy(token, options.keys);
  signalsRoutes(app, options.signals, options.hive, callers, clock);
  const sessions = createSessionStream({ ...options.signals, callers, clock, log });
  await app.ready();

  return {
    routes,
    handle: (request, response, place) => {
      places.set(request, place);
      app.routing(request, response);
    },
    upgrade: sessions.upgrade,
    close: async () => {
      for (const hold of holds) hold.abort();
      stream[Symbol.dispose]();
      sessions[Symbol.dispose]();
      loops[Symbol.dispose]();
      await app.close();
    },
  };
}
