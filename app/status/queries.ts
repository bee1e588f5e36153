import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { XStatic } from 'typebox/schema';
import { formatSchemaErrors } from '../schema-error.ts';
import { HttpRefusal } from './answer.ts';

/** The longest hold in seconds. A request for more gets this. */
export const MAX_WAIT_SECONDS = 60;
/** The most events in one answer. A request for more gets this. */
export const MAX_EVENTS = 1000;

/** The query of `GET /api/v1/events` and `GET /api/v1/personas/ID/events`. `openapi.json` shows the same schema. */
export const EVENTS_QUERY = {
  type: 'object',
  properties: {
    since: {
      type: 'string',
      maxLength: 1000,
      description:
        'An `event_id`: returns the events after it, oldest first. Empty: all stored events. Omitted: the newest events.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      default: 100,
      description: `Maximum number of events, at most ${MAX_EVENTS} or about 1 MiB.`,
    },
    wait: {
      type: 'number',
      minimum: 0,
      default: 0,
      description: `With \`since\`: seconds to hold the answer until an event arrives, at most ${MAX_WAIT_SECONDS}.`,
    },
  },
  additionalProperties: false,
} as const;

export type EventsQuery = XStatic<typeof EVENTS_QUERY>;

/** The query of `GET /api/v1/stream`. A `Last-Event-ID` header takes precedence. */
export const STREAM_QUERY = {
  type: 'object',
  properties: {
    since: {
      type: 'string',
      maxLength: 1000,
      description:
        'An `event_id`: sends the events after it, then new ones. Empty: all stored events first. Omitted: only new events.',
    },
    events: { type: 'boolean', default: true, description: 'False: sends no `event` messages, only the status.' },
    status: {
      type: 'string',
      enum: ['whole', 'changes'],
      default: 'whole',
      description: 'changes: sends one whole `status`, then `change` messages, and with the token `newest` ones.',
    },
  },
  additionalProperties: false,
} as const;

/** The query of `GET /api/v1/personas/ID/messages`. */
export const MESSAGES_QUERY = {
  type: 'object',
  properties: {
    before: {
      type: 'integer',
      minimum: 1,
      description: 'The `before` of the answer with newer messages. Omitted: the newest.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 200,
      default: 50,
      description: 'An answer has about 512 KiB of text, so it may have fewer. With 1 the text is whole.',
    },
  },
  additionalProperties: false,
} as const;

/** The query of `GET /api/v1/personas/ID/badge.svg`. */
export const BADGE_QUERY = {
  type: 'object',
  properties: {
    kind: { type: 'string', enum: ['state', 'uptime'], default: 'state' },
    span: { type: 'string', enum: ['24h', '7d', '30d'], default: '24h', description: 'For `kind=uptime`.' },
  },
  additionalProperties: false,
} as const;

/** The query of `GET /api/v1/decisions`. */
export const DECISIONS_QUERY = {
  type: 'object',
  properties: {
    state: { type: 'string', enum: ['open', 'all'], default: 'open' },
    persona: { type: 'string', minLength: 1, description: 'Only decisions that this persona asked.' },
    limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  },
  additionalProperties: false,
} as const;

/** The body of `POST /api/v1/permissions`: what a hook asks of a person. */
export const PERMISSION_BODY = {
  type: 'object',
  properties: {
    harness: { type: 'string', minLength: 1, maxLength: 50 },
    session: { type: 'string', minLength: 1, maxLength: 200 },
    persona: { type: ['string', 'null'], maxLength: 200, description: 'Null: the one whose session it is.' },
    subagent: { type: 'boolean' },
    cwd: { type: ['string', 'null'], maxLength: 4096 },
    tool: { type: 'string', minLength: 1, maxLength: 2000 },
    text: { type: 'string', maxLength: 2000, description: 'The call, with every invisible character as a number.' },
    cut: { type: 'integer', minimum: 0, description: 'How many characters `text` lacks.' },
  },
  required: ['harness', 'session', 'persona', 'subagent', 'cwd', 'tool', 'text', 'cut'],
  additionalProperties: false,
} as const;

export type PermissionRequest = XStatic<typeof PERMISSION_BODY>;

/** The body of `POST /api/v1/token`. */
export const TOKEN_BODY = {
  type: 'object',
  properties: { code: { type: 'string', maxLength: 200, description: 'From the one-time link: `#once=CODE`.' } },
  required: ['code'],
  additionalProperties: false,
} as const;

/** The body of `POST /api/v1/settings`: one change. */
export const SETTINGS_BODY = {
  type: 'object',
  properties: {
    set: {
      type: 'object',
      properties: { key: { type: 'string', maxLength: 100 }, value: { description: 'Null: the default.' } },
      required: ['key', 'value'],
      additionalProperties: false,
    },
    addHive: {
      type: 'object',
      properties: { url: { type: 'string', maxLength: 2000 }, name: { type: 'string', maxLength: 100 } },
      required: ['url'],
      additionalProperties: false,
    },
    removeHive: { type: 'string', maxLength: 100, description: 'The name of a hive.' },
  },
  additionalProperties: false,
} as const;

/** The body of `POST /api/v1/devices/revoke`. */
export const REVOKE_BODY = {
  type: 'object',
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 200, description: 'The id of one device.' },
    all: { const: true, description: 'Revokes every device.' },
  },
  additionalProperties: false,
} as const;

const ADDRESS = {
  type: 'string',
  minLength: 1,
  maxLength: 1024,
  description: 'The address of the persona. Required with the token of the run directory; a daemon token implies it.',
} as const;

/** The query of `GET /v1/signals/pending` (persona daemon, contract 2). */
export const PENDING_QUERY = { type: 'object', properties: { address: ADDRESS }, additionalProperties: false } as const;

/** The body of `POST /v1/signals/pending/drain`. */
export const DRAIN_BODY = {
  type: 'object',
  properties: {
    max: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    session: { type: 'string', minLength: 1, maxLength: 500, description: 'Includes items for this session only.' },
    address: ADDRESS,
  },
  additionalProperties: false,
} as const;

/** The body of `POST /v1/signals`. */
export const SIGNAL_BODY = {
  type: 'object',
  properties: {
    to: { type: 'string', description: 'A persona of the local hive.' },
    from: { type: 'string', description: 'With an `act` token this must be its own persona.' },
    body: { type: 'string', description: 'At most 1 MiB.' },
    urgent: { type: 'boolean', default: false },
  },
  required: ['to', 'from', 'body'],
  additionalProperties: false,
} as const;

/** Checks the query of this URL. Numbers are given as text. @throws Refusal 400 */
export const parseQuery = <const S extends object>(url: string, schema: S): XStatic<S> =>
  query.checked('query', parseParams(url), schema);

/** Checks a body. @throws Refusal 400 */
export const parseBody = <const S extends object>(body: unknown, schema: S): XStatic<S> =>
  json.checked('body', body, schema);

/** @throws Refusal 400 when the query of this URL does not fit. A key that is unknown or given twice does not fit. */
export const parseEventsQuery = (url: string): EventsQuery => query.checked('query', parseParams(url), EVENTS_QUERY);

/** @throws Refusal 400 */
export const parseStreamQuery = (url: string): XStatic<typeof STREAM_QUERY> =>
  query.checked('query', parseParams(url), STREAM_QUERY);

/** @throws Refusal 400 */
export const parseDecisionsQuery = (url: string): XStatic<typeof DECISIONS_QUERY> =>
  query.checked('query', parseParams(url), DECISIONS_QUERY);

/** @throws Refusal 400 */
export const parsePermissionBody = (body: unknown): XStatic<typeof PERMISSION_BODY> =>
  json.checked('body', body, PERMISSION_BODY);

/** @throws Refusal 400 */
export const parseTokenBody = (body: unknown): XStatic<typeof TOKEN_BODY> => json.checked('body', body, TOKEN_BODY);

/** @throws Refusal 400 */
export const parseSignalsQuery = (url: string): XStatic<typeof PENDING_QUERY> =>
  query.checked('query', parseParams(url), PENDING_QUERY);

/** @throws Refusal 400 */
export const parseDrainBody = (body: unknown): XStatic<typeof DRAIN_BODY> => json.checked('body', body, DRAIN_BODY);

/** @throws Refusal 400 */
export const parseSignalBody = (body: unknown): XStatic<typeof SIGNAL_BODY> => json.checked('body', body, SIGNAL_BODY);

const query = createChecker(true);
const json = createChecker(false);

/** Compiles a schema when it is first needed. With `coerce`, numbers may be given as text. */
function createChecker(coerce: boolean) {
  const compiled = new Map<object, ValidateFunction>();
  let ajv: Ajv2020 | null = null;
  const getValidator = (schema: object): ValidateFunction => {
    ajv ??= new Ajv2020({ strict: true, verbose: true, coerceTypes: coerce });
    const fits = compiled.get(schema) ?? ajv.compile(schema);
    compiled.set(schema, fits);
    return fits;
  };
  return {
    checked<const S extends object>(subject: string, value: unknown, schema: S): XStatic<S> {
      const fits = getValidator(schema);
      if (fits(value)) return value as XStatic<S>;
      const why = formatSchemaErrors(fits.errors, subject);
      throw new HttpRefusal(400, 'usage', why, 'correct the request and send it again; see /openapi.json');
    },
  };
}

function parseParams(url: string): object {
  const at = url.indexOf('?');
  const params = new URLSearchParams(at < 0 ? '' : url.slice(at));
  return Object.fromEntries(
    [...new Set(params.keys())].map((key) => {
      const values = params.getAll(key);
      return [key, values.length === 1 ? values[0] : values];
    }),
  );
}
