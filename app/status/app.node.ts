import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import fastify, { type FastifyReply, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import { checkJson, JSON_LIMITS, type JsonLimits } from '../../core/model/index.ts';
import type { Service } from '../../core/services/index.ts';
import {
  answerProblem,
  createBudget,
  createStrangerRefusal,
  createTokenRefusal,
  createUnauthorizedRefusal,
  formatBudgetFull,
  HttpRefusal,
  PAGE_POLICY,
  toProblem,
} from './answer.ts';
import {
  type ActionTable,
  REVALIDATE,
  registerActionRoutes,
  registerApiRoutes,
  registerHiveRoutes,
  registerPermissionRoutes,
} from './api-routes.ts';
import { acceptsGzip, compressAnswers, createMessageEncoder, GZIP_HEADER } from './compress.node.ts';
import { isOtherUser, type UnreadReaders, watchUnread } from './connections.node.ts';
import { createCurrentStatus, matchesEtag } from './current-status.ts';
import { registerDecisionRoutes } from './decision-routes.ts';
import { followDevices, registerDeviceRoutes } from './device-routes.ts';
import { createEventPages, MAX_HOLDS } from './event-pages.ts';
import type { RequestOrigin } from './front-server.node.ts';
import { followLoops, type Loops, registerHealthRoutes } from './health-routes.ts';
import { registerHistoryRoutes } from './history-routes.ts';
import { registerItemRoutes } from './item-routes.ts';
import { registerMailRoutes } from './mail-routes.ts';
import { registerMcpRoute } from './mcp-route.ts';
import { registerMessageRoute } from './message-routes.ts';
import { type Metric, type ProcessFigures, type ReaderFigures, toMetrics } from './metrics.ts';
import { registerNewestRoute } from './newest.ts';
import { registerProjectRoutes } from './project-routes.ts';
import { parseStreamQuery } from './queries.ts';
import { createCallers } from './session.ts';
import { createSessionStream } from './session-stream.node.ts';
import { registerSettingsRoutes } from './settings-routes.ts';
import { registerSignalsRoutes } from './signals-routes.ts';
import type { StatusOptions } from './status-options.ts';
import { createStream, type Stream } from './stream.ts';
import { createRightCheck, type OnceCodes, registerTokenRoute } from './token.ts';
import { registerUptimeRoutes } from './uptime-routes.node.ts';
import type { StatusWire } from './wire.ts';

interface StatusApp {
  /** Each route, as `METHOD /path/:param`. */
  readonly routes: readonly string[];
  /** What is done in the background while clients are connected. Their caller runs them. */
  readonly services: readonly Service[];
  /** Answers a request that passed the guard. */
  handle(request: IncomingMessage, response: ServerResponse, origin: RequestOrigin): void;
  /** Takes over a connection whose request passed the guard. @throws Refusal when the connection stays HTTP */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, origin: RequestOrigin): void;
  /** Ends held requests and streams. */
  close(): Promise<void>;
}

const BODY_LIMIT = 2 * 1024 * 1024;
/** No request body comes near these limits. */
const BODY_JSON: JsonLimits = { ...JSON_LIMITS, depth: 32, values: 10_000 };
/** A persona's name has up to 200 characters, and each takes up to twelve in a path. */
const MAX_PARAM = 2400;

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

/** No route has a schema, because each route checks its own body. So the libraries that compile schemas are not loaded. */
const NO_COMPILERS = {
  buildValidator: () => () => () => true,
  buildSerializer: () => () => JSON.stringify,
} as unknown as Compilers;

/** Creates the app with every route, used by all listeners. `port` is known only when the server listens. */
export async function createApp(
  options: StatusOptions,
  runtime: { readonly port: () => number; readonly run: string; readonly once: OnceCodes },
): Promise<StatusApp> {
  const { board, clock, version, token, tokenEverywhere, page, log, findMarks } = options;
  const { port, run } = runtime;
  const app = fastify({
    logger: false,
    trustProxy: false,
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: MAX_PARAM },
    schemaController: { compilersFactory: NO_COMPILERS },
    frameworkErrors: (error, _request, reply) => void answerProblem(reply, toProblem(error)),
  });
  const checkRight = createRightCheck(token, options.devices);
  const callers = createCallers(token, options.keys);
  const origins = new WeakMap<IncomingMessage, RequestOrigin>();
  const holds = new Set<AbortController>();
  const current = createCurrentStatus({ board, clock, version, port, run });
  const stream = createStream({ board, events: options.events, clock, current, findMarks, log });
  const heldAnswers = createBudget(MAX_HOLDS);
  const pages = createEventPages(options.events, clock, heldAnswers);
  const loops = followLoops(board, clock);

  /** Returns a signal that aborts when the client leaves before it has its answer, and when Hivebar stops. */
  const createHoldSignal = ({ raw }: FastifyReply): AbortSignal => {
    const hold = new AbortController();
    holds.add(hold);
    raw.once('close', () => {
      holds.delete(hold);
      if (!raw.writableFinished) hold.abort();
    });
    return hold.signal;
  };
  const answers = followDevices(options.devices);
  const strangers = new WeakMap<Duplex, boolean>();
  /** Asks the system once for each connection, because that takes milliseconds. */
  const isStranger = ({ raw }: FastifyRequest): boolean => {
    if (origins.get(raw)?.place.is === 'owner-socket') return false;
    const known = strangers.get(raw.socket) ?? isOtherUser(raw.socket);
    strangers.set(raw.socket, known);
    return known;
  };
  const maySee = ({ right }: FastifyRequest): boolean => right === 'owner' || !tokenEverywhere;
  const bare = { config: { tellsNothing: true, compresses: true } } as const;
  compressAnswers(app);

  app.decorateRequest('right', 'anyone');
  app.decorateRequest('client', 'anonymous');
  app.decorateRequest('device', null);
  // Runs before a body is read, so that a sender without the right costs nothing.
  app.addHook('onRequest', (request, reply, done) => {
    const origin = origins.get(request.raw);
    const { ownTokens, tellsNothing } = request.routeOptions.config;
    const { authorization } = request.headers;
    if (origin?.place.is === 'owner-socket') {
      request.right = 'owner';
      request.client = 'socket';
      return done();
    }
    if (ownTokens !== undefined) {
      const caller = callers.identify(authorization);
      if (caller === 'nobody') return done(createTokenRefusal());
      if (caller === 'wrong') return done(createUnauthorizedRefusal('the token is unknown'));
      request.client = 'token';
      origin?.trust();
      return done();
    }
    const shown = checkRight(authorization);
    if (shown.is === 'wrong') return done(createUnauthorizedRefusal('the token is not that of the running Hivebar'));
    if (shown.is === 'device') {
      if (isStranger(request)) return done(createStrangerRefusal('the key of a device'));
      request.device = shown.id;
      answers.add(shown.id, reply.raw);
    }
    if (shown.is !== 'nothing') {
      request.right = 'owner';
      request.client = 'token';
      origin?.trust();
    }
    if (tellsNothing !== undefined) return done();
    if (!maySee(request)) return done(createTokenRefusal());
    if (shown.is === 'nothing' && request.method === 'POST' && !request.is404) return done(createTokenRefusal());
    done();
  });
  const routes: string[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const verb of [method].flat()) routes.push(`${verb} ${url}`);
  });
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body.toString();
    if (text.length === 0) return done(null, undefined);
    try {
      checkJson(text, BODY_JSON);
    } catch (error) {
      return done(error as Error);
    }
    void parseJson(request, text, (error: Error | null, value?: unknown) => {
      if (error === null) return done(null, value);
      const next = 'send a complete JSON object';
      done(new HttpRefusal(400, 'bad-request', formatBadBody(text), next));
    });
  });
  app.setNotFoundHandler(() => {
    throw new HttpRefusal(404, 'no-route', 'there is no such path', 'see / or /status.json');
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblem(error, request.routeOptions.bodyLimit);
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
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
      return reply.type(type).send(body);
    });
  }
  const full = (): string | null => board.snapshot().causes.find(({ key }) => key === 'disk')?.message ?? null;
  registerHealthRoutes(app, { identity: { name: 'hivebar', version, ...options.instance }, loops, full, maySee });
  registerApiRoutes(app, current, pages, createHoldSignal);
  registerMessageRoute(app, { current, clock, events: options.events, listStored: options.listStored });
  registerNewestRoute(app, { board, clock, findMarks });
  registerMailRoutes(app, options.mail);
  const unread = watchUnread(clock);
  registerStreamRoute(app, stream, unread);
  registerMetricsRoute(app, {
    status: () => current().wire,
    loops,
    sources: options.sourceMetrics ?? (() => []),
    readers: () => ({ streams: stream.readers, holds: pages.holds }),
  });
  registerOpenapiRoute(app, options.actions);
  registerTokenRoute(app, { once: runtime.once, devices: options.devices, isStranger, log });
  registerDeviceRoutes(app, options.devices, answers);
  registerSettingsRoutes(app, options.settings);
  registerHistoryRoutes(app, options.history, clock);
  registerUptimeRoutes(app, options.history, current);
  registerHiveRoutes(app, options.hive, heldAnswers, createHoldSignal);
  registerActionRoutes(app, options.actions, createHoldSignal);
  registerMcpRoute(app, options.mcp, heldAnswers, createHoldSignal);
  registerItemRoutes(app, options.items, { holds: heldAnswers, clock }, createHoldSignal);
  registerDecisionRoutes(app, options.decisions, heldAnswers, createHoldSignal);
  registerPermissionRoutes(app, options.permissions, createHoldSignal);
  registerProjectRoutes(app, options.projects);
  registerSignalsRoutes(app, options.signals, options.hive, callers, clock);
  const sessions = createSessionStream({ ...options.signals, callers, clock, log });
  await app.ready();

  return {
    routes,
    services: [stream.service, unread.service, sessions.service],
    handle: (request, response, origin) => {
      origins.set(request, origin);
      app.routing(request, response);
    },
    upgrade: sessions.upgrade,
    close: async () => {
      for (const hold of holds) hold.abort();
      stream[Symbol.dispose]();
      sessions[Symbol.dispose]();
      answers[Symbol.dispose]();
      loops[Symbol.dispose]();
      await app.close();
    },
  };
}

/** Says why a body is refused: it is not JSON, or it has a key that would change every object of the program. */
function formatBadBody(text: string): string {
  try {
    JSON.parse(text);
    return 'the body has a key "__proto__" or "constructor", which is not allowed';
  } catch (error) {
    return `the body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * `GET /openapi.json`: the routes of this server, from the schemas that they use. It is built when somebody asks for it, and
 * shows nothing of what is watched.
 */
function registerOpenapiRoute(app: FastifyInstance, actions: ActionTable): void {
  let built: { readonly body: string; readonly etag: string } | null = null;
  app.get('/openapi.json', { config: { tellsNothing: true, compresses: true } }, async (request, reply) => {
    if (built === null) {
      const { buildOpenapi } = await import('./openapi.ts'); // few ask, and all others need no schemas of answers
      const body = buildOpenapi(actions);
      built = { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
    }
    void reply.header('ETag', built.etag).header('Cache-Control', REVALIDATE);
    if (matchesEtag(request.headers['if-none-match'], built.etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(built.body);
  });
}

/** The most readers without the token. Further ones are refused, so that idle streams cannot use up the process. */
const MAX_ANONYMOUS_READERS = 200;
/** The most readers with the token, and on the owner-only socket. */
const MAX_OWNED_READERS = 1000;

/**
 * `GET /api/v1/stream`. It starts now, or after the event named by `Last-Event-ID` or `?since=` (empty: with the oldest stored
 * event). With `?events=false` it sends only the status, with
 * `?status=changes` only what changes of it.
 */
function registerStreamRoute(app: FastifyInstance, stream: Stream, unread: UnreadReaders): void {
  const budget = createBudget(MAX_ANONYMOUS_READERS, MAX_OWNED_READERS);
  const encode = createMessageEncoder();
  app.get('/api/v1/stream', { exposeHeadRoute: false }, async (request, reply) => {
    const header = request.headers['last-event-id'];
    const { since: querySince = null, events = true, status = 'whole' } = parseStreamQuery(request.url);
    const since = header === undefined ? querySince : decodeHeader(String(header));
    const start = stream.start(since);
    const place = budget.take(request.client);
    if (place === null) {
      const next = `close one${request.client === 'anonymous' ? ', send the token' : ''}, or ask for /status.json`;
      throw new HttpRefusal(503, 'too-many-streams', formatBudgetFull('streams', budget, request.client), next);
    }
    reply.hijack();
    const { raw: response } = reply;
    const isGzip = acceptsGzip(String(request.headers['accept-encoding'] ?? ''));
    response.writeHead(200, {
      ...{ 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no', Vary: 'Accept-Encoding' },
      ...(isGzip ? { 'Content-Encoding': 'gzip' } : {}),
    });
    if (isGzip) response.write(GZIP_HEADER);
    const outlet = {
      write: (text: string, isOpen: boolean) => response.write(isGzip ? encode(text, isOpen) : text),
      drop: () => void response.destroy(),
    };
    const reader = stream.join(outlet, start, { right: request.right, events, status });
    const unreadReader = unread.add(request.raw.socket, outlet.drop);
    response.on('drain', () => reader.drained());
    // 'close' is emitted for every end: the reader left, was dropped, or never read a byte
    response.once('close', () => {
      place[Symbol.dispose]();
      unreadReader[Symbol.dispose]();
      reader[Symbol.dispose]();
    });
    response.on('error', () => {}); // a write after the reader left; the 'close' that follows handles it
  });
}

/** Header bytes arrive as one character each, but ids are UTF-8. */
function decodeHeader(header: string): string {
  return Buffer.from(header, 'latin1').toString('utf8');
}

/**
 * `GET /metrics` for Prometheus. The library formats the text and escapes untrusted names. It is loaded with the first request,
 * and without its collectors, so it sets no timer.
 */
function registerMetricsRoute(
  app: FastifyInstance,
  options: {
    readonly status: () => StatusWire;
    readonly loops: Loops;
    readonly sources: () => readonly Metric[];
    readonly readers: () => ReaderFigures;
  },
): void {
  app.get('/metrics', async (_request, reply) => {
    const write = await loadWriter();
    const { loops, sources, readers, status } = options;
    // after the library is loaded, so that the numbers are those of this moment
    const metrics = toMetrics({
      status: status(),
      tally: loops.tally,
      readers: readers(),
      figures: readProcessFigures(),
    });
    const { type, text } = await write([...metrics, ...sources()]);
    return reply.type(type).send(text);
  });
}

async function loadWriter(): Promise<(metrics: readonly Metric[]) => Promise<{ type: string; text: string }>> {
  const { default: Registry } = await import('prom-client/lib/registry.js');
  const { default: Gauge } = await import('prom-client/lib/gauge.js');
  const { default: Counter } = await import('prom-client/lib/counter.js');
  return async (metrics) => {
    const registry = new Registry();
    for (const { name, help, type, samples } of metrics) {
      const labelNames = Object.keys(samples[0]?.labels ?? {});
      const configuration = { name, help, labelNames, registers: [registry] };
      if (type === 'gauge') {
        const gauge = new Gauge(configuration);
        for (const { labels, value } of samples) gauge.set(labels, value);
      } else {
        const counter = new Counter(configuration);
        for (const { labels, value } of samples) counter.inc(labels, value);
      }
    }
    return { type: registry.contentType, text: await registry.metrics() };
  };
}

function readProcessFigures(): ProcessFigures {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    node: process.version,
    startedAtSeconds: (Date.now() - process.uptime() * 1000) / 1000,
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
  };
}
