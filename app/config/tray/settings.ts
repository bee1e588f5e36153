import { type Static, Type } from 'typebox';

/** Which hive owns the bare persona names. Decided on the first run and never changed by itself: file names hang on it. */
export const Primary = Type.Union([
  Type.Object({ is: Type.Literal('local') }, { additionalProperties: false }),
  Type.Object({ is: Type.Literal('kijito'), base: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
]);

/** The user's settings: the whole of `config.json`. State, such as mutes, is never kept here. */
export const Settings = Type.Object(
  {
    primary: Type.Optional(Primary),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 7475,
      description: 'port of the status server; 0: any',
    }),
    tokenFile: Type.Optional(Type.String({ minLength: 1, description: "file with the primary hive's token" })),
    pollSeconds: Type.Number({ minimum: 1, default: 60, description: 'time between polls of a hive' }),
    holdSeconds: Type.Number({ minimum: 0, default: 50, description: 'long-poll hold; 0: never hold' }),
    alertAfter: Type.Integer({ minimum: 1, default: 3, description: 'consecutive failures that make an outage' }),
    maxReplay: Type.Integer({ minimum: 0, default: 500, description: 'most messages replayed per persona at a start' }),
    resyncEvery: Type.Integer({ minimum: 1, default: 10, description: 'full look at least after this many skips' }),
    contentChars: Type.Integer({ minimum: 0, default: 220, description: 'code points of content in an event' }),
    heartbeatSeconds: Type.Integer({ minimum: 0, default: 0, description: 'heartbeat events this often; 0: none' }),
    keepMailDays: Type.Number({ minimum: 0.01, default: 30, description: 'how long the local hive keeps mail' }),
    eventsMaxBytes: Type.Integer({
      default: 5_000_000,
      description: 'event files rotate at this size; 0 or less: never',
    }),
    eventsKeep: Type.Integer({ minimum: 1, default: 5, description: 'rotated event files to keep' }),
    tray: Type.Union([Type.Literal('auto'), Type.Literal('sni'), Type.Literal('systray2'), Type.Literal('none')], {
      default: 'auto',
      description: 'how the tray icon is shown',
    }),
    notifications: Type.Boolean({ default: true, description: 'show notifications' }),
  },
  { additionalProperties: false },
);

export type Settings = Static<typeof Settings>;
export type Primary = Static<typeof Primary>;
