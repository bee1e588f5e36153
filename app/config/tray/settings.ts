import type { XStatic } from 'typebox/schema';
import { type Primary, SOURCE_SETTINGS, type SourceSettings } from '../../../core/sources/derived.ts';
import { createChannelsSchema, NOTIFY_SETTING } from '../../notify/channels/index.ts';

/** The NATS server through which the local hives of several machines exchange items. */
const NATS = {
  type: 'object',
  properties: {
    /** `nats://HOST:PORT`, or `tls://HOST:PORT`. */
    url: { type: 'string', minLength: 1 },
    tokenFile: { type: 'string', minLength: 1 },
    /** The personas that live on this machine. Default: those that its local hive knows. */
    personas: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 200 } },
  },
  required: ['url'],
  additionalProperties: false,
  atNextStart: true,
  description: 'the NATS server through which the local hives of several machines exchange items',
} as const;

/** How an idle agent is nudged when something waits, in addition to an address that it registered itself. */
const NUDGE = {
  type: 'object',
  properties: {
    /** Type words into the tmux pane of an idle Claude Code. Default: false. */
    tmux: { type: 'boolean' },
    /** Let the hooks of Claude Code wait for mail while it is idle. Default: true. */
    waiter: { type: 'boolean' },
    /** Use the inbox socket of an idle session of Claude Code that has no waiter. Default: true. */
    socket: { type: 'boolean' },
    /** Use `codex queue` for a thread that is running. Default: true. */
    codexQueue: { type: 'boolean' },
  },
  additionalProperties: false,
  default: {},
  atNextStart: true,
  description: 'how to tell an idle agent that items wait for it',
} as const;

const TIME_OF_DAY = { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' } as const;

/** What opens a persona's session. `command` and `terminal` are lists of arguments, never given to a shell. */
const OPENER = {
  type: 'object',
  discriminator: { propertyName: 'is' },
  oneOf: [
    { type: 'object', properties: { is: { enum: ['auto', 'page'] } }, required: ['is'], additionalProperties: false },
    {
      type: 'object',
      properties: {
        is: { const: 'command' },
        argv: { type: 'array', items: { type: 'string' }, minItems: 1 },
      },
      required: ['is', 'argv'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: { is: { const: 'url' }, template: { type: 'string', minLength: 1 } },
      required: ['is', 'template'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        is: { const: 'terminal' },
        argv: { type: 'array', items: { type: 'string' }, minItems: 1 },
      },
      required: ['is'],
      additionalProperties: false,
    },
  ],
  default: { is: 'auto' },
  description: "what opens a persona's session",
} as const;

/** The channels beside the desktop, each with its own schema. One that is not named is off. */
const CHANNELS_SETTING = {
  ...(createChannelsSchema() as {
    readonly type: 'object';
    readonly additionalProperties: { readonly type: 'object' };
  }),
  default: {},
  description: 'further ways to notify a person, by name',
} as const;

/** The settings of Hivebar itself. The schema is written by hand, because a schema library would add 20 MiB to the running program. */
const OWN_SETTINGS = {
  type: 'object',
  properties: {
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      default: 7475,
      atNextStart: true,
      description: 'port of the status server; 0: any free port',
    },
    nats: NATS,
    pollSeconds: { type: 'number', minimum: 1, default: 60, description: 'time between polls of a hive' },
    holdSeconds: { type: 'number', minimum: 0, default: 50, description: 'long-poll hold; 0: never hold' },
    alertAfter: { type: 'integer', minimum: 1, default: 3, description: 'consecutive failures that make an outage' },
    strandedAlerts: { type: 'boolean', default: true, description: 'alerts of mail in inboxes that nobody reads' },
    urgentAlerts: { type: 'boolean', default: true, description: 'alerts of urgent mail that nobody answers' },
    maxReplay: {
      type: 'integer',
      minimum: 0,
      default: 500,
      description: 'most messages replayed per persona at a start',
    },
    resyncEvery: {
      type: 'integer',
      minimum: 1,
      default: 10,
      description: 'poll an inbox at least after this many skipped polls',
    },
    contentChars: {
      type: 'integer',
      minimum: 0,
      default: 220,
      atNextStart: true,
      description: 'code points of content in an event',
    },
    heartbeatSeconds: { type: 'integer', minimum: 0, default: 0, description: 'heartbeat events this often; 0: none' },
    keepMailDays: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 30,
      atNextStart: true,
      description: 'how long the local hive keeps mail',
    },
    eventsMaxBytes: {
      type: 'integer',
      default: 5_000_000,
      atNextStart: true,
      description: 'event files rotate at this size; 0 or less: never',
    },
    eventsKeep: {
      type: 'integer',
      minimum: 1,
      default: 5,
      atNextStart: true,
      description: 'rotated event files to keep',
    },
    tray: {
      enum: ['auto', 'sni', 'systray2', 'none'],
      default: 'auto',
      atNextStart: true,
      description: 'how the tray icon is shown',
    },
    notifications: { type: 'boolean', default: true, description: 'show notifications on the desktop' },
    sound: { type: 'boolean', default: false, description: 'notifications on the desktop make a sound' },
    channels: CHANNELS_SETTING,
    quietHours: {
      type: 'object',
      properties: { from: TIME_OF_DAY, to: TIME_OF_DAY, urgent: { type: 'boolean' } },
      required: ['from', 'to'],
      additionalProperties: false,
      description: 'no notifications between these times of day; urgent: still notify of urgent mail',
    },
    notify: NOTIFY_SETTING,
    remindMinutes: {
      type: 'number',
      minimum: 0,
      default: 0,
      description: 'notify again of a decision that is still open after this time; 0: never',
    },
    nudge: NUDGE,
    answerPermissions: {
      type: 'boolean',
      default: false,
      description: 'permission prompts of agents can be answered in Hivebar',
    },
    mcpOverHttp: {
      type: 'boolean',
      default: false,
      atNextStart: true,
      description: 'serve MCP at /mcp, with the token, to clients that cannot start hivebar mcp',
    },
    opener: OPENER,
    urlSchemes: {
      type: 'array',
      items: { type: 'string', pattern: '^[a-z][a-z0-9+.-]*$' },
      default: ['https', 'http', 'vscode', 'cursor'],
      description: 'URL schemes that Hivebar may open',
    },
    iconTheme: {
      enum: ['auto', 'light', 'dark'],
      default: 'auto',
      atNextStart: true,
      description: 'the panel that shows the icon',
    },
    historyDays: {
      type: 'number',
      exclusiveMinimum: 0,
      default: 30,
      atNextStart: true,
      description: 'how long history is kept',
    },
    tokenEverywhere: {
      type: 'boolean',
      default: false,
      atNextStart: true,
      description: 'require the token for counts and states too, for a machine that others use',
    },
  },
  required: [
    'port',
    'pollSeconds',
    'holdSeconds',
    'alertAfter',
    'strandedAlerts',
    'urgentAlerts',
    'maxReplay',
    'resyncEvery',
    'contentChars',
    'heartbeatSeconds',
    'keepMailDays',
    'eventsMaxBytes',
    'eventsKeep',
    'tray',
    'notifications',
    'sound',
    'channels',
    'notify',
    'remindMinutes',
    'nudge',
    'answerPermissions',
    'opener',
    'urlSchemes',
    'iconTheme',
    'historyDays',
    'tokenEverywhere',
  ],
  additionalProperties: false,
} as const;

/**
 * The user's settings as a JSON Schema: the whole of `config.json`, those of the sources first. State, such as mutes, is never
 * stored here.
 */
export const SETTINGS = {
  ...OWN_SETTINGS,
  properties: { ...SOURCE_SETTINGS, ...OWN_SETTINGS.properties },
  required: [
    ...Object.entries(SOURCE_SETTINGS).flatMap(([name, schema]: [string, object]) => ('default' in schema ? name : [])),
    ...OWN_SETTINGS.required,
  ],
} as const;

/** Returns whether a change of this setting applies at the next start only. Its schema says so. */
export function appliesAtNextStart(name: keyof typeof SETTINGS.properties): boolean {
  return 'atNextStart' in SETTINGS.properties[name];
}

type OwnSettings = XStatic<typeof OWN_SETTINGS>;
export type Settings = SourceSettings & OwnSettings;
export type { Primary };
export type OpenerConfig = OwnSettings['opener'];
export type QuietHoursSetting = NonNullable<OwnSettings['quietHours']>;
