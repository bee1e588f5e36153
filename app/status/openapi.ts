import { PUSH_FIELDS } from '../../core/inbox/index.ts';
import { PROJECT_SOURCES, type SourceName } from '../../core/sources/derived.ts';
import * as answers from './answer-schemas.ts';
import { AcceptedWire, DrainWire, PendingWire, RegistrationsWire, StaleWire } from './answer-schemas.ts';
import type { ActionTable } from './api-routes.ts';
import { CANCEL_BODY, DECISION_BODY, DECISION_QUERY } from './decision-routes.ts';
import { HOURS, LIMIT } from './history-routes.ts';
import { DRAIN_ITEMS_BODY, PUSH_BODY } from './item-routes.ts';
import { FEED_QUERY, SEARCH_QUERY } from './mail-routes.ts';
import { MCP_QUERY } from './mcp-route.ts';
import {
  BADGE_QUERY,
  DECISIONS_QUERY,
  DRAIN_BODY,
  EVENTS_QUERY,
  MESSAGES_QUERY,
  PENDING_QUERY,
  PERMISSION_BODY,
  REVOKE_BODY,
  SETTINGS_BODY,
  SIGNAL_BODY,
  STREAM_QUERY,
  TOKEN_BODY,
} from './queries.ts';
import {
  CauseWire,
  DecisionWire,
  HivesWire,
  HiveWire,
  MessagesWire,
  PersonaUptimeWire,
  PersonaWire,
  StatusWire,
} from './wire.ts';
import { ProjectsWire, ProjectWire } from './wire-projects.ts';

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly tag: 'status' | 'events' | 'history' | 'actions' | 'local hive' | 'signals' | 'page';
  /** `never`: not even with the setting `tokenEverywhere`, which asks for the token on all other routes. */
  readonly token: 'always' | 'never' | 'when required';
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: ObjectSchema;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly answer: { readonly type: string; readonly schema: object };
  /** The HTTP status of the answer; 200 when absent. */
  readonly status?: number;
  readonly has304?: true;
  /** Further answers that do not have the common form of a refusal. */
  readonly others?: Readonly<Record<number, { readonly what: string; readonly schema: object }>>;
  /** Refusals that only this route has. Those of the guard and of the token apply to every route. */
  readonly refusals?: Readonly<Record<number, string>>;
}

const json = (schema: object) => ({ type: 'application/json', schema });
const text = (type: string) => ({ type, schema: { type: 'string' } });
const PERSONA = { id: 'The id of a persona, percent-encoded.' };
const NO_PERSONA = 'no such persona is watched';
const BAD_BODY = 'the body does not fit';
const DECISION_ID = { id: 'The number of a decision.' };
const NO_DECISION = 'there is no such decision';
const NO_SESSION = 'nobody announced the session, so its persona is unknown';
const TOO_MANY_HOLDS = 'too many answers are held';
const OTHER_SCOPE = 'the token is of another scope, or of another persona';
const BAD_QUERY = 'the query does not fit';
const NO_HISTORY = 'there is no history now';
const EVENT_REFUSALS = {
  400: BAD_QUERY,
  410: 'no stored event has this id: send an empty `since`, or none, and continue from `last`',
  503: TOO_MANY_HOLDS,
};

/** Keyed by method and path, as the router knows them. `:name` stands for the name of each action. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /': { id: 'page', summary: 'The status page', tag: 'page', token: 'never', answer: text('text/html') },
  'GET /assets/:name': {
    id: 'asset',
    summary: 'Files of the status page',
    tag: 'page',
    token: 'never',
    path: { name: 'The name of a file.' },
    answer: text('*/*'),
    has304: true,
  },
  'POST /api/v1/token': {
    id: 'redeem',
    summary: 'Exchanges the code of a one-time link for a device key; a code works once, for a short time',
    tag: 'page',
    token: 'never',
    body: TOKEN_BODY,
    answer: json(answers.TokenAnswer),
    refusals: {
      400: BAD_BODY,
      403: 'the code is used, expired or invalid, or another user of the machine asks',
      413: 'the body is too large',
    },
  },
  'GET /api/v1/settings': {
    id: 'settings',
    summary: 'Every setting, without secrets',
    tag: 'page',
    token: 'always',
    answer: json(answers.SettingsAnswer),
  },
  'POST /api/v1/settings': {
    id: 'set',
    summary: 'Changes one setting that the page may change, or adds or removes a hive',
    tag: 'page',
    token: 'always',
    body: SETTINGS_BODY,
    answer: json(answers.SettingsChangeAnswer),
    refusals: { 400: BAD_BODY },
  },
  'GET /api/v1/devices': {
    id: 'devices',
    summary: 'The browsers that stay logged in',
    tag: 'page',
    token: 'always',
    answer: json(answers.DevicesAnswer),
  },
  'POST /api/v1/devices/revoke': {
    id: 'revoke',
    summary: 'Revokes one device or all; their streams and held requests end at once',
    tag: 'page',
    token: 'always',
    body: REVOKE_BODY,
    answer: json(answers.RevokeAnswer),
    refusals: { 400: BAD_BODY, 404: 'there is no such device' },
  },
  'GET /openapi.json': {
    id: 'openapi',
    summary: 'This document',
    tag: 'page',
    token: 'never',
    answer: json({ type: 'object' }),
    has304: true,
  },
  'GET /healthz': {
    id: 'health',
    summary: 'Whether the process is alive',
    tag: 'status',
    token: 'never',
    answer: json(answers.HealthAnswer),
  },
  'GET /readyz': {
    id: 'ready',
    summary: 'Whether every inbox is polled on schedule',
    tag: 'status',
    token: 'never',
    answer: json(answers.ReadyAnswer),
    refusals: { 503: '`starting`, or `stopped` with the names of inboxes that are no longer polled' },
  },
  'GET /metrics': {
    id: 'metrics',
    summary: 'Metrics for Prometheus',
    tag: 'status',
    token: 'when required',
    answer: text('text/plain'),
  },
  ...Object.fromEntries(
    ['/status.json', '/api/v1/status'].map((path) => [
      `GET ${path}`,
      {
        id: path === '/status.json' ? 'statusJson' : 'status',
        summary: 'The whole status',
        tag: 'status',
        token: 'when required',
        answer: json(StatusWire),
        has304: true,
      } satisfies Operation,
    ]),
  ),
  'GET /api/v1/personas': {
    id: 'personas',
    summary: 'Every persona that is watched',
    tag: 'status',
    token: 'when required',
    answer: json(answers.PersonasAnswer),
    has304: true,
  },
  'GET /api/v1/personas/:id': {
    id: 'persona',
    summary: 'One persona',
    tag: 'status',
    token: 'when required',
    path: PERSONA,
    answer: json(answers.PersonaAnswer),
    has304: true,
    refusals: { 404: NO_PERSONA },
  },
  'GET /api/v1/newest': {
    id: 'newest',
    summary: 'The newest message of each persona',
    tag: 'events',
    token: 'always',
    answer: json(answers.NewestAnswer),
  },
  'GET /api/v1/personas/:id/messages': {
    id: 'messages',
    summary: 'Messages of one persona with their text, newest first; marks nothing as read',
    tag: 'events',
    token: 'always',
    path: PERSONA,
    query: MESSAGES_QUERY,
    answer: json(MessagesWire),
    refusals: { 400: BAD_QUERY, 404: NO_PERSONA },
  },
  'GET /api/v1/feed': {
    id: 'feed',
    summary: 'All mail, newest first',
    tag: 'events',
    token: 'always',
    query: FEED_QUERY,
    answer: json(answers.FoundMailAnswer),
    refusals: { 400: BAD_QUERY },
  },
  'GET /api/v1/search': {
    id: 'search',
    summary: 'Mail with these words, newest first',
    tag: 'events',
    token: 'always',
    query: SEARCH_QUERY,
    answer: json(answers.FoundMailAnswer),
    refusals: { 400: BAD_QUERY },
  },
  'GET /api/v1/events': {
    id: 'events',
    summary: 'Events of all personas; sender and text only with the token',
    tag: 'events',
    token: 'when required',
    query: EVENTS_QUERY,
    answer: json(answers.EventsAnswer),
    refusals: EVENT_REFUSALS,
  },
  'GET /api/v1/personas/:id/events': {
    id: 'personaEvents',
    summary: 'Events of one persona; sender and text only with the token',
    tag: 'events',
    token: 'when required',
    path: PERSONA,
    query: EVENTS_QUERY,
    answer: json(answers.EventsAnswer),
    refusals: { ...EVENT_REFUSALS, 404: NO_PERSONA },
  },
  'GET /api/v1/stream': {
    id: 'stream',
    summary:
      'Server-sent events: `hello`, `gap`, `event`, `status`, `change` and `newest`; sender and text only with the token',
    tag: 'events',
    token: 'when required',
    query: STREAM_QUERY,
    headers: { 'Last-Event-ID': 'Like `since`, and takes precedence over it.' },
    answer: text('text/event-stream'),
    refusals: { 400: BAD_QUERY, 503: 'too many streams are open' },
  },
  'GET /api/v1/history': {
    id: 'history',
    summary: 'Counts and states of all personas over the last hours',
    tag: 'history',
    token: 'when required',
    query: { properties: { hours: HOURS } },
    answer: json(answers.HistoryAnswer),
    refusals: { 400: BAD_QUERY, 503: NO_HISTORY },
  },
  'GET /api/v1/personas/:id/history': {
    id: 'personaHistory',
    summary: 'Counts and states of one persona over the last hours',
    tag: 'history',
    token: 'when required',
    path: PERSONA,
    query: { properties: { hours: HOURS } },
    answer: json(answers.PersonaHistoryAnswer),
    refusals: { 400: BAD_QUERY, 404: 'no history of this persona', 503: NO_HISTORY },
  },
  'GET /api/v1/personas/:id/uptime': {
    id: 'personaUptime',
    summary: 'How much of the time one persona was up',
    tag: 'history',
    token: 'when required',
    path: PERSONA,
    answer: json(PersonaUptimeWire),
    refusals: { 404: 'no history of this persona', 503: NO_HISTORY },
  },
  'GET /api/v1/hives': {
    id: 'hives',
    summary: 'Every hive, and how much of the time its personas were up',
    tag: 'history',
    token: 'when required',
    answer: json(HivesWire),
    refusals: { 503: NO_HISTORY },
  },
  'GET /api/v1/personas/:id/badge.svg': {
    id: 'badge',
    summary: 'A picture of the state and the unread count of one persona, or of its uptime',
    tag: 'history',
    token: 'when required',
    path: PERSONA,
    query: BADGE_QUERY,
    answer: text('image/svg+xml'),
    refusals: { 400: BAD_QUERY, 404: NO_PERSONA, 503: NO_HISTORY },
  },
  'GET /api/v1/alerts': {
    id: 'alerts',
    summary: 'Outages, with their durations',
    tag: 'history',
    token: 'when required',
    query: { properties: { limit: LIMIT } },
    answer: json(answers.AlertsAnswer),
    refusals: { 400: BAD_QUERY, 503: NO_HISTORY },
  },
  'GET /api/v1/decisions': {
    id: 'decisions',
    summary: 'Decisions that agents ask of people; the action `decide` answers one',
    tag: 'actions',
    token: 'always',
    query: DECISIONS_QUERY,
    answer: json(answers.DecisionsAnswer),
    refusals: { 400: BAD_QUERY },
  },
  'POST /api/v1/decisions': {
    id: 'createDecision',
    summary:
      'Asks a person; not idempotent, so look into `GET /api/v1/decisions` before you repeat a request that broke off',
    tag: 'actions',
    token: 'always',
    body: DECISION_BODY,
    answer: json(DecisionWire),
    refusals: { 400: BAD_BODY },
  },
  'GET /api/v1/decisions/:id': {
    id: 'decision',
    summary: 'One decision, or a wait for its answer',
    tag: 'actions',
    token: 'always',
    path: DECISION_ID,
    query: DECISION_QUERY,
    answer: json(DecisionWire),
    refusals: { 400: BAD_QUERY, 404: NO_DECISION, 503: TOO_MANY_HOLDS },
  },
  'POST /api/v1/decisions/:id/cancel': {
    id: 'cancelDecision',
    summary: 'Cancels a decision that is open',
    tag: 'actions',
    token: 'always',
    path: DECISION_ID,
    body: CANCEL_BODY,
    answer: json(answers.CancelAnswer),
    refusals: { 400: BAD_BODY, 404: NO_DECISION },
  },
  'POST /api/v1/items': {
    id: 'pushItem',
    summary: 'Pushes an item to a persona, a session or everybody; the answer comes after it is stored on disk',
    tag: 'local hive',
    token: 'always',
    body: PUSH_BODY,
    answer: json(answers.PushedAnswer),
    refusals: { 400: BAD_BODY, 404: NO_SESSION, 413: 'the body is too large', 507: 'the disk is full' },
  },
  'POST /api/v1/items/drain': {
    id: 'drainItems',
    summary: 'Leases the pending items of a persona for 30 seconds; `ack` in the next request marks them as delivered',
    tag: 'local hive',
    token: 'always',
    body: DRAIN_ITEMS_BODY,
    answer: json(answers.DrainedItemsAnswer),
    refusals: { 400: BAD_BODY, 404: NO_SESSION, 503: TOO_MANY_HOLDS },
  },
  'GET /api/v1/permissions': {
    id: 'permissions',
    summary: 'Permission prompts of agents; the action `permit` answers one',
    tag: 'actions',
    token: 'always',
    answer: json(answers.PermissionsAnswer),
  },
  'POST /api/v1/permissions': {
    id: 'askPermission',
    summary: 'Asks a person, for a hook; held until somebody answers. Only on the owner-only socket',
    tag: 'actions',
    token: 'always',
    body: PERMISSION_BODY,
    answer: json(answers.PermissionReplyAnswer),
    refusals: { 400: BAD_BODY, 403: 'it did not come over the owner-only socket' },
  },
  'GET /mcp': {
    id: 'mcpStream',
    summary: 'Refused: the server says nothing by itself',
    tag: 'local hive',
    token: 'always',
    answer: json(answers.ProblemAnswer),
    status: 405,
  },
  'POST /mcp': {
    id: 'mcp',
    summary: 'The Model Context Protocol (Streamable HTTP), with the setting `mcpOverHttp`',
    tag: 'local hive',
    token: 'always',
    query: MCP_QUERY,
    headers: { 'Hivebar-Persona': 'The agent that the request is for.' },
    body: { type: 'object' },
    answer: { type: 'application/json', schema: { type: 'object' } },
    refusals: { 400: 'no persona is named', 403: 'the setting is off', 503: TOO_MANY_HOLDS },
  },
  'GET /v1/signals/pending': {
    id: 'signalsPending',
    summary: 'Number of pending items of a persona, without ids and content',
    tag: 'signals',
    token: 'always',
    query: PENDING_QUERY,
    answer: json(PendingWire),
    refusals: { 400: BAD_QUERY, 403: OTHER_SCOPE },
  },
  'POST /v1/signals/pending/drain': {
    id: 'drainSignals',
    summary: 'Drains pending items; not allowed with a token of scope `observe`',
    tag: 'signals',
    token: 'always',
    body: DRAIN_BODY,
    answer: json(DrainWire),
    refusals: { 400: BAD_BODY, 403: OTHER_SCOPE },
  },
  'POST /v1/signals': {
    id: 'signal',
    summary: 'Sends a signal to a persona, unless its route is known to be stale',
    tag: 'signals',
    token: 'always',
    body: SIGNAL_BODY,
    answer: json(AcceptedWire),
    status: 202,
    others: { 409: { what: 'The target is stale; nothing was stored', schema: StaleWire } },
    refusals: { 400: BAD_BODY, 403: OTHER_SCOPE },
  },
  'GET /v1/registrations': {
    id: 'registrations',
    summary: 'Connected clients and announced active sessions; daemons and agents are counted separately',
    tag: 'signals',
    token: 'always',
    answer: json(RegistrationsWire),
  },
  ...Object.assign({}, ...PROJECT_SOURCES.map(toProjectOperations)),
  'GET /api/inbox': {
    id: 'inbox',
    summary: 'Messages of the local hive. Marks them as read unless `mark_read=false`',
    tag: 'local hive',
    token: 'always',
    query: {
      properties: {
        persona: { type: 'string' },
        mark_read: { type: 'boolean', default: true },
        before_id: { type: 'integer', minimum: 0, description: 'Only messages older than this id.' },
        limit: { type: 'integer', minimum: 1, default: 200, description: 'At most 1,000.' },
        unread_only: { type: 'boolean', default: false },
      },
      required: ['persona'],
    },
    answer: json(answers.InboxAnswer),
    refusals: { 400: BAD_QUERY },
  },
  'GET /api/personas': {
    id: 'hivePersonas',
    summary: 'Personas of the local hive',
    tag: 'local hive',
    token: 'when required',
    answer: json(answers.HivePersonasAnswer),
  },
  'GET /api/notify/pending': {
    id: 'pending',
    summary: 'Who has unread mail in the local hive',
    tag: 'local hive',
    token: 'when required',
    query: {
      properties: {
        cursor: { type: 'string', description: 'The `cursor` of the previous answer.' },
        wait: {
          type: 'number',
          minimum: 0,
          description: 'With `cursor`: seconds to hold the answer until something changes.',
        },
      },
    },
    answer: json(answers.PendingAnswer),
    refusals: { 400: BAD_QUERY },
  },
  'POST /api/send': {
    id: 'send',
    summary: 'Sends a message in the local hive; the answer comes after it is stored on disk',
    tag: 'local hive',
    token: 'always',
    body: {
      type: 'object',
      properties: {
        to: { type: 'string' },
        from: { type: 'string' },
        content: { type: 'string' },
        urgent: { type: 'boolean', default: false },
        type: { ...PUSH_FIELDS.type, description: 'the type of the item; mail is the default' },
        priority: PUSH_FIELDS.priority,
        ttl: PUSH_FIELDS.ttl,
        dedup_key: PUSH_FIELDS.dedup_key,
        session: { ...PUSH_FIELDS.session, description: 'only for that session' },
      },
      required: ['to', 'from', 'content'],
    },
    answer: json(answers.SentAnswer),
    refusals: { 400: BAD_BODY, 413: 'the message is too large', 507: 'the disk is full' },
  },
};

/** The routes of the projects of a source. */
function toProjectOperations(source: SourceName): Readonly<Record<string, Operation>> {
  return {
    [`GET /api/${source}`]: {
      id: 'projects',
      summary: 'Counts of every watched project',
      tag: 'status',
      token: 'when required',
      answer: json(ProjectsWire),
      has304: true,
    },
    [`GET /api/${source}/:id`]: {
      id: 'project',
      summary: 'The sheet of one project; its rows and its folder only with the token',
      tag: 'status',
      token: 'when required',
      path: { id: 'The id of a project, percent-encoded.' },
      query: {
        properties: {
          section: { type: 'string', description: 'Only this section.' },
          from: { type: 'integer', minimum: 0, default: 0, description: 'Index of the first row to return.' },
        },
      },
      answer: json(ProjectWire),
      has304: true,
      refusals: { 400: BAD_QUERY, 404: 'no such project is watched' },
    },
  };
}

/** The actions, whose params are the schemas that check them. */
function actionOperations(actions: ActionTable): readonly (readonly [string, Operation])[] {
  return [...actions].map(([name, { title, params, asks }]) => [
    `POST /api/v1/actions/${name}`,
    {
      id: `action-${name}`,
      summary: title,
      tag: 'actions',
      token: asks === 'nothing' ? 'when required' : 'always',
      body: params,
      answer: json(answers.ActionAnswer),
      refusals: {
        400: 'the params do not fit',
        ...(asks === 'run-token' ? { 403: 'a device key does not suffice' } : {}),
      },
    },
  ]);
}

const NAMED: readonly (readonly [string, object])[] = [
  ['Status', StatusWire],
  ['Persona', PersonaWire],
  ['Cause', CauseWire],
  ['Hive', HiveWire],
  ['Event', answers.EventWire],
  ['Decision', DecisionWire],
  ['Problem', answers.ProblemAnswer],
];

/** Builds the OpenAPI document of every route from the schemas of the wire, the queries and the actions. */
export function buildOpenapi(actions: ActionTable): string {
  const paths: Record<string, Record<string, object>> = {};
  for (const [route, operation] of [...Object.entries(OPERATIONS), ...actionOperations(actions)]) {
    const [method = '', path = ''] = route.split(' ');
    const template = path.replaceAll(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method.toLowerCase()]: toOpenapiOperation(operation) };
  }
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Hivebar',
      version: '1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Counts and states are open on loopback; message text and actions need the token of the run directory. Within this version keys are only ever added.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The line of `run/token`, or the key of a device.' },
      },
      responses: {
        Problem: {
          description: 'Refused, with the next step',
          content: { 'application/json': { schema: buildRef('Problem') } },
        },
      },
      schemas: Object.fromEntries(NAMED.map(([name, schema]) => [name, resolveNested(schema)])),
    },
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

function toOpenapiOperation(operation: Operation): object {
  const { id, summary, tag, token, path, query, headers, body, answer, has304, refusals } = operation;
  const { status = 200, others = {} } = operation;
  const parameters = [
    ...Object.entries(path ?? {}).map(([name, description]) =>
      buildParameter('path', name, { type: 'string', description }, true),
    ),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) =>
      buildParameter('query', name, schema, query?.required?.includes(name) ?? false),
    ),
    ...Object.entries(headers ?? {}).map(([name, description]) =>
      buildParameter('header', name, { type: 'string', description }, false),
    ),
  ];
  const problem = { $ref: '#/components/responses/Problem' };
  const described = Object.entries(refusals ?? {}).map(([status, description]) => [
    status,
    { description, content: { 'application/json': { schema: buildRef('Problem') } } },
  ]);
  return {
    operationId: id,
    summary,
    tags: [tag],
    security: token === 'always' ? [{ token: [] }] : token === 'never' ? [{}] : [{}, { token: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined ? {} : { requestBody: { content: { 'application/json': { schema: body } } } }),
    responses: {
      [status]: { description: 'OK', content: { [answer.type]: { schema: toSchema(answer.schema) } } },
      ...Object.fromEntries(
        Object.entries(others).map(([code, { what, schema }]) => [
          code,
          { description: what, content: { 'application/json': { schema: toSchema(schema) } } },
        ]),
      ),
      ...(has304 ? { 304: { description: 'Not modified since the `ETag` in `If-None-Match`' } } : {}),
      ...Object.fromEntries(described),
      default: problem,
    },
  };
}

function buildParameter(place: string, name: string, schema: object, required: boolean): object {
  const { description, ...rest } = schema as { description?: string };
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema: rest };
}

function buildRef(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

function toSchema(schema: object): unknown {
  const name = NAMED.find(([, named]) => named === schema)?.[0];
  return name === undefined ? resolveNested(schema) : buildRef(name);
}

/** What is in a schema, with those that have a name named. */
function resolveNested(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? toSchema(item) : item));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, isObject(item) ? toSchema(item) : item]));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
