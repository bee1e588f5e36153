import type { XStatic } from 'typebox/schema';

/** Which hive owns the bare persona names. Decided on the first run and never changed by itself: file names hang on it. */
const PRIMARY = {
  oneOf: [
    { type: 'object', properties: { is: { const: 'local' } }, required: ['is'], additionalProperties: false },
    {
      type: 'object',
      properties: { is: { const: 'kijito' }, base: { type: 'string', minLength: 1 } },
      required: ['is', 'base'],
      additionalProperties: false,
    },
  ],
} as const;

/**
 * The user's settings as a JSON Schema: the whole of `config.json`. State, such as mutes, is never kept here. A schema by
 * hand and not by a library's functions, which would be 20 MiB of the running program.
 */
export const SETTINGS = {
  type: 'object',
  properties: {
    primary: PRIMARY,
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      default: 7475,
      description: 'port of the status server; 0: any',
    },
    tokenFile: { type: 'string', minLength: 1, description: "file with the primary hive's token" },
    pollSeconds: { type: 'number', minimum: 1, default: 60, description: 'time between polls of a hive' },
    holdSeconds: { type: 'number', minimum: 0, default: 50, description: 'long-poll hold; 0: never hold' },
    alertAfter: { type: 'integer', minimum: 1, default: 3, description: 'consecutive failures that make an outage' },
    maxReplay: {
      type: 'integer',
      minimum: 0,
      default: 500,
      description: 'most messages replayed per persona at a start',
    },
    resyncEvery: { type: 'integer', minimum: 1, default: 10, description: 'full look at least after this many skips' },
    contentChars: { type: 'integer', minimum: 0, default: 220, description: 'code points of content in an event' },
    heartbeatSeconds: { type: 'integer', minimum: 0, default: 0, description: 'heartbeat events this often; 0: none' },
    keepMailDays: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 30,
      description: 'how long the local hive keeps mail',
    },
    eventsMaxBytes: {
      type: 'integer',
      default: 5_000_000,
      description: 'event files rotate at this size; 0 or less: never',
    },
    eventsKeep: { type: 'integer', minimum: 1, default: 5, description: 'rotated event files to keep' },
    tray: { enum: ['auto', 'sni', 'systray2', 'none'], default: 'auto', description: 'how the tray icon is shown' },
    notifications: { type: 'boolean', default: true, description: 'show notifications' },
    tokenEverywhere: {
      type: 'boolean',
      default: false,
      description: 'ask for the token for counts and states too, on a machine that others use',
    },
  },
  required: [
    'port',
    'pollSeconds',
    'holdSeconds',
    'alertAfter',
    'maxReplay',
    'resyncEvery',
    'contentChars',
    'heartbeatSeconds',
    'keepMailDays',
    'eventsMaxBytes',
    'eventsKeep',
    'tray',
    'notifications',
    'tokenEverywhere',
  ],
  additionalProperties: false,
} as const;

export type Settings = XStatic<typeof SETTINGS>;
export type Primary = NonNullable<Settings['primary']>;
