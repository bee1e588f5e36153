import { type Static, type TUnsafe, Type } from 'typebox';
import { PERSONA_REPORT, type PersonaReport } from '../../core/board/persona-report.ts';

/**
 * The content of `/status.json` and of the `status` messages of the stream. This file defines the shape: page, CLI, docs and
 * OpenAPI derive from it, and a test compares real output with it. Within `schema: 1` keys are only ever added.
 */

const closed = { additionalProperties: false };

const Time = (description: string) =>
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}\\+00:00$', description });
const Nullable = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Whole = (description: string) => Type.Integer({ minimum: 0, description });

const Reported = Object.fromEntries(
  Object.entries(PERSONA_REPORT).map(([key, schema]) => [key, Type.Unsafe(schema)]),
) as unknown as { readonly [Key in keyof PersonaReport]: TUnsafe<PersonaReport[Key]> };

const UnreadIs = Type.Union([Type.Literal('exact'), Type.Literal('atLeast'), Type.Literal('unknown')], {
  description:
    'How exact `unread` is: the exact number, a lower bound, or unknown. When unknown, `unread` is null, not 0.',
});
const Silence = Type.Union([Type.Null(), Type.Literal('forever'), Time('Notifications are off until this time.')], {
  description: 'Null when notifications are on.',
});

const GateWire = Type.Object(
  {
    id: Type.String(),
    hook: Type.String({ description: 'The harness event that checks this gate.' }),
    mode: Type.Union([Type.Literal('strict'), Type.Literal('soft')], {
      description: 'A strict gate blocks; a soft gate warns.',
    }),
  },
  closed,
);

const OpenDecisionWire = Type.Object(
  {
    id: Type.Integer({
      minimum: 1,
      description: 'Number of the decision. Its text is in `/api/v1/decisions`, which needs the token.',
    }),
    persona: Type.String({ description: 'Id of the asking persona. It may be missing from `personas`.' }),
    urgency: Type.Union([Type.Literal('low'), Type.Literal('normal'), Type.Literal('high')]),
    blocking: Type.Boolean({ description: 'Whether the persona waits for the answer.' }),
    created: Time('When the decision was asked.'),
    expires: Nullable(Time('After this time nobody can answer.')),
  },
  closed,
);

const OpenPermissionWire = Type.Object(
  {
    number: Type.Integer({
      minimum: 1,
      description: 'Number of the prompt in this run. Its text is in `/api/v1/permissions`, which needs the token.',
    }),
    persona: Type.String({ description: 'Id of the persona whose agent asks.' }),
    created: Time('When the agent asked.'),
    expires: Time('After this time only the agent program itself takes an answer.'),
  },
  closed,
);

const DaemonWire = Type.Object(
  {
    surface: Type.String({ description: 'The surface that the agent works in.' }),
    project: Type.String({ description: 'The project that the daemon is bound to until it ends. Untrusted text.' }),
    fsm: Type.Union(
      [Type.Literal('DISCONNECTED'), Type.Literal('RECONCILING'), Type.Literal('CONNECTED'), Type.Literal('EMITTING')],
      { description: 'State of its connection to the upstream.' },
    ),
    taxonomy: Type.Union(
      [Type.Literal('running'), Type.Literal('sleeping'), Type.Literal('restarting'), Type.Literal('failed')],
      { description: 'What the daemon is doing.' },
    ),
    degraded: Type.Boolean({ description: 'The surface is not reachable, so the daemon cannot ring.' }),
    drainedAt: Time('When items were last fetched; before the first fetch, when the daemon started.'),
    lastErrorClass: Nullable(
      Type.String({ description: 'Class of the last error, one of ten. Null before the first error.' }),
    ),
  },
  closed,
);

export const PersonaWire = Type.Object(
  {
    id: Type.String({ description: 'Unique in Hivebar. Untrusted text: it comes from a directory of names.' }),
    stem: Type.String({ description: 'Base name of its files; safe in a path.' }),
    source: Type.String({ description: 'The source that the persona belongs to.' }),
    label: Type.String({ description: 'Display name. Untrusted text.' }),
    state: Type.Union([Type.Literal('UP'), Type.Literal('DOWN'), Type.Literal('PENDING'), Type.Literal('OFF')], {
      description:
        'UP: the inbox can be read, or has failed less often than the threshold. PENDING: not polled yet. OFF is reserved for paused.',
    }),
    reason: Nullable(Type.String({ description: 'Why polls fail or events are held, with the next step.' })),
    since: Nullable(Time('When the present state began.')),
    agent: Type.Union(
      [
        Type.Literal('working', { description: 'It is in a turn.' }),
        Type.Literal('waiting', { description: 'A person must act; `agentReason` says on what.' }),
        Type.Literal('idle', { description: 'It waits for its next turn.' }),
        Type.Literal('live', { description: 'It runs; what it does is not reported.' }),
        Type.Literal('stalled', { description: 'Mail lies although it runs.' }),
        Type.Literal('gone', { description: 'Its process ended.' }),
        Type.Literal('unknown'),
      ],
      { description: 'What the agent does, as somebody reports it. It does not change `state`.' },
    ),
    agentReason: Nullable(Type.String({ description: 'Machine-readable reason for `agent`. Null when live.' })),
    agentText: Nullable(Type.String({ description: 'The reason as a sentence. Null when `agentReason` is enough.' })),
    agentSince: Nullable(Time('When `agent` began. Null when nobody reports it.')),
    cwd: Nullable(Type.String({ description: 'Folder that the agent works in. Untrusted text. Null when unknown.' })),
    model: Nullable(Type.String({ description: 'Language model of the agent. Untrusted text. Null when unknown.' })),
    unread: Nullable(Whole('Null when unknown.')),
    unreadIs: UnreadIs,
    urgent: Nullable(Whole('Unread urgent messages; a lower bound when the source cannot tell. Null when unknown.')),
    cursor: Nullable(Type.Integer({ description: 'Mail up to this id was delivered. Null before the first poll.' })),
    lastEventId: Nullable(Type.String({ description: 'The last event delivered to the agent.' })),
    lastMailAt: Nullable(Time('The `ts` of the last mail delivered to the agent.')),
    asOf: Nullable(Time('When the numbers were read. Null before the first poll.')),
    staleAfter: Nullable(Time('The numbers are stale after this time unless newer ones have arrived.')),
    ...Reported,
    gates: Type.Array(GateWire, { description: 'Open gates: registered, or held by an open decision.' }),
    daemon: Type.Union([Type.Null(), DaemonWire], {
      description:
        'State that the persona daemon reports. Null when the persona is not a daemon or it does not answer.',
    }),
    muted: Silence,
    canMarkRead: Type.Boolean({ description: 'Whether the action `read` can mark its messages as read.' }),
    canReply: Type.Boolean({ description: 'Whether the action `reply` can reach its agent.' }),
    hidden: Type.Boolean({
      description: 'Whether the persona is left out of totals, causes, tray, page and notifications.',
    }),
    eventsFile: Nullable(Type.String({ description: 'Absolute path of the file its agent follows.' })),
  },
  closed,
);

export const CauseWire = Type.Object(
  {
    key: Type.String({ description: 'Identifies the outage: two causes with the same key are the same outage.' }),
    scope: Type.Union([Type.Literal('persona'), Type.Literal('source'), Type.Literal('machine')]),
    since: Time('When the outage began.'),
    message: Type.String({ description: 'What is wrong, with the value and the next step.' }),
    personas: Type.Array(Type.String(), { description: 'Ids of the affected personas.' }),
  },
  closed,
);

export const HiveWire = Type.Object(
  {
    source: Type.String(),
    address: Nullable(Type.String({ description: 'Null until the source reports its address.' })),
    state: Type.Union([Type.Literal('UP'), Type.Literal('DOWN'), Type.Literal('PENDING')]),
    reason: Nullable(Type.String()),
  },
  closed,
);

const StatusProjectWire = Type.Object(
  {
    id: Type.String({ description: 'Id of the project in `/api/SOURCE/ID`.' }),
    board: Type.String({ description: 'Id of the persona that represents the board.' }),
    source: Type.String({ description: 'The source of its personas.' }),
    rev: Type.String({ description: 'Changes when the sheet changes.' }),
  },
  closed,
);

export const StatusWire = Type.Object(
  {
    schema: Type.Literal(1),
    rev: Whole('Increases when anything except freshness changes, within one run of Hivebar.'),
    generatedAt: Time('When this was written.'),
    version: Type.String(),
    port: Type.Integer({ minimum: 0, maximum: 65535, description: 'The loopback port of the status server.' }),
    totals: Type.Object(
      {
        unread: Nullable(
          Whole(
            'The sum over all personas that are not hidden. Mail that two personas share counts once. Null when no count is known.',
          ),
        ),
        unreadIs: UnreadIs,
        urgent: Nullable(Whole('Unread urgent messages, summed like `unread`.')),
        urgentIs: UnreadIs,
        up: Whole('Personas that are UP and not hidden.'),
        down: Whole('Personas that are DOWN and not hidden.'),
        personas: Whole('Personas that are not hidden.'),
      },
      closed,
    ),
    hives: Type.Array(HiveWire),
    projects: Type.Array(StatusProjectWire, { description: 'Projects with their own board, sorted by id.' }),
    personas: Type.Array(PersonaWire, { description: 'Sorted by id in code-unit order.' }),
    causes: Type.Array(CauseWire, {
      description: 'Open outages, oldest first. One outage is one cause, however many personas it affects.',
    }),
    decisions: Type.Array(OpenDecisionWire, {
      description: 'Open decisions, oldest first, without those of hidden personas.',
    }),
    permissions: Type.Array(OpenPermissionWire, {
      description: 'Permission prompts that can be answered here, oldest first, without those of hidden personas.',
    }),
    tray: Type.Object({ state: Type.String({ description: 'State of the tray icon.' }) }, closed),
    notifications: Type.Object(
      {
        state: Type.String({ description: 'State of desktop notifications.' }),
        pausedUntil: Silence,
        quietUntil: Silence,
      },
      closed,
    ),
    autostart: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether Hivebar starts at login. Null when this cannot be determined.',
    }),
  },
  { ...closed, title: 'Hivebar status' },
);

export type StatusWire = Static<typeof StatusWire>;
export type PersonaWire = Static<typeof PersonaWire>;
export type CauseWire = Static<typeof CauseWire>;
export type HiveWire = Static<typeof HiveWire>;

/** A decision as `GET /api/v1/decisions` and the action `decide` return it. The page uses the same type. */

const DecisionTime = Type.String({ description: 'A time in the format of the status.' });

const orNull = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const DecisionWire = Type.Object(
  {
    id: Type.Integer({ minimum: 1 }),
    persona: Type.String({ description: 'The asking persona.' }),
    prompt: Type.String({ description: 'Untrusted text.' }),
    context: orNull(Type.String({ description: 'Untrusted text.' })),
    options: Type.Array(
      Type.Object(
        { id: Type.String(), short: Type.String({ description: 'Short label for a button.' }), label: Type.String() },
        { additionalProperties: false },
      ),
    ),
    freeText: Type.Boolean({ description: 'Whether an answer may be text without an option.' }),
    default: orNull(Type.String({ description: 'The option that applies when nobody answers before `expires`.' })),
    urgency: Type.Union([Type.Literal('low'), Type.Literal('normal'), Type.Literal('high')]),
    blocking: Type.Boolean({ description: 'Whether the persona waits for the answer.' }),
    iteration: Type.Integer({ minimum: 1 }),
    mostIterations: Type.Integer({ minimum: 1 }),
    parent: orNull(Type.Integer()),
    guidance: orNull(Type.String({ description: 'Guidance that was given to the previous iteration.' })),
    created: DecisionTime,
    expires: orNull(DecisionTime),
    state: Type.Union([
      Type.Literal('open'),
      Type.Literal('resolved'),
      Type.Literal('timed-out'),
      Type.Literal('cancelled'),
    ]),
    choice: orNull(Type.String()),
    text: orNull(Type.String()),
    by: orNull(Type.String({ description: 'Who answered. Null on `resolved` when the default applied.' })),
    closed: orNull(DecisionTime),
    next: orNull(Type.Integer({ description: 'The decision that continues this one.' })),
  },
  { additionalProperties: false },
);

export type DecisionWire = Static<typeof DecisionWire>;

/** A message in a list, as `GET /api/v1/newest` returns it. The page uses the same type. */
export const MessageWire = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the message in its inbox.' }),
    persona: Type.String({ description: 'Id of the persona in whose inbox the message is.' }),
    from: Type.String({ description: 'Who it claims to be from. Untrusted text; empty when the source does not say.' }),
    to: Type.String({ description: 'Id of the persona that it was sent to.' }),
    subject: Type.String({ description: 'Untrusted text; empty for none.' }),
    text: Type.String({ description: 'Untrusted text. In a list the first line, at most 200 characters.' }),
    at: orNull(Type.String({ description: 'When it was written. Null when the source does not say.' })),
    urgent: Type.Boolean(),
    priority: Type.Union([Type.Integer({ minimum: 0, maximum: 4 }), Type.Null()], {
      description: '0 is critical, 4 is bulk. Null when the source has no such numbers.',
    }),
    unread: Type.Union([Type.Boolean(), Type.Null()], { description: 'Null when it is not known of this message.' }),
    thread: orNull(Type.Integer({ description: 'Id of the first message of its thread. Null when there is none.' })),
    link: Type.Boolean({ description: 'Whether the source gave a link that opens it.' }),
    question: Type.Boolean({ description: 'Whether a person must answer it.' }),
  },
  { additionalProperties: false },
);

export type MessageWire = Static<typeof MessageWire>;

/** What a person sent through Hivebar in answer to a message. */
const SentReplyWire = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the reply in the inbox that it was sent to.' }),
    to: Type.String({ description: 'Name of the persona that it was sent to.' }),
    text: Type.String(),
    at: DecisionTime,
  },
  { additionalProperties: false },
);

/** A message with its text, as `GET /api/v1/personas/ID/messages` lists it. */
export const MailWire = Type.Object(
  {
    ...MessageWire.properties,
    text: Type.String({
      description: 'Untrusted text: at most 20,000 characters, with `limit=1` all of it. Empty where it is not kept.',
    }),
    truncated: Type.Boolean({ description: 'Whether `text` lacks something.' }),
    url: orNull(
      Type.String({ description: 'The link that the source gave. Untrusted; the action `open-item` opens it.' }),
    ),
    replyTo: orNull(
      Type.String({
        description: 'What the action `reply` takes as `message` to answer it. Null: it cannot be answered.',
      }),
    ),
    conversation: orNull(
      Type.String({ description: 'What its source calls the thread. Untrusted text. Null for none.' }),
    ),
    replies: Type.Array(SentReplyWire, { description: 'What a person replied through Hivebar, oldest first.' }),
    own: Type.Boolean({
      description: 'Hivebar itself says this, such as what a person wrote with the action `reply`.',
    }),
  },
  { additionalProperties: false },
);

export const MessagesWire = Type.Object(
  {
    messages: Type.Array(MailWire, { description: 'Newest first.' }),
    before: orNull(
      Type.Integer({ description: 'The `before` of the next older page. Null: there are no older ones.' }),
    ),
    from: Type.Union([Type.Literal('store'), Type.Literal('events')], {
      description:
        'store: the local hive, with every message it keeps. events: what was delivered to the agent and is still kept.',
    }),
  },
  { additionalProperties: false },
);

export type MailWire = Static<typeof MailWire>;
export type MessagesWire = Static<typeof MessagesWire>;

/** The data of a `change` message of the stream: what differs from the status before. */
export interface StatusChangeWire {
  readonly rev: number;
  readonly generatedAt: string;
  /** Every number of a persona that is not stale was read at this time or later; null: none is. */
  readonly asOf: string | null;
  /** The other keys of the status that changed, each with its whole value. */
  readonly set: Partial<Omit<StatusWire, 'rev' | 'generatedAt' | 'personas'>>;
  /** The personas that are new or changed in more than `asOf` and `staleAfter`. */
  readonly personas: readonly PersonaWire[];
  readonly removed: readonly string[];
  /** When the numbers of each persona whose numbers are stale were read, by id. Absent: as before. */
  readonly stale?: Readonly<Record<string, string>>;
}

/** The data of a `newest` message of the stream, and the answer of `GET /api/v1/newest`. */
export interface NewestWire {
  readonly newest: Readonly<Record<string, MessageWire>>;
}

const Marks = Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }), {
  description: 'Where the searched words stand: from the first UTF-16 unit up to, not including, the second.',
});

/** A message as `GET /api/v1/feed` and `GET /api/v1/search` return it. The page uses the same type. */
export const FoundMessageWire = Type.Object(
  {
    ...MessageWire.properties,
    persona: Type.String({ description: 'Id of the persona in whose inbox it is; empty for a broadcast.' }),
    to: Type.String({ description: 'Id of the persona that it was sent to; empty for a broadcast.' }),
    text: Type.String({ description: 'Untrusted text: at most 300 characters around the first match.' }),
    place: Type.Integer({ description: 'Its place in the order of time.' }),
    marks: Type.Object({ from: Marks, subject: Marks, text: Marks }, { additionalProperties: false }),
  },
  { additionalProperties: false },
);

export type FoundMessageWire = Static<typeof FoundMessageWire>;

/** A permission prompt as `GET /api/v1/permissions` returns it. The page uses the same type. */
export const PermissionWire = Type.Object(
  {
    number: Type.Integer({ minimum: 1 }),
    id: Type.String({ description: 'What the action `permit` takes. It belongs to this prompt and works once.' }),
    persona: Type.String(),
    harness: Type.String({ description: 'The agent program that asks.' }),
    subagent: Type.Boolean({ description: 'A subagent asks.' }),
    cwd: orNull(Type.String({ description: 'The folder of the session. Untrusted text.' })),
    tool: Type.String({ description: 'The tool that is to run. Untrusted text.' }),
    text: Type.String({ description: 'The whole call. Untrusted text; characters that cannot be seen are numbers.' }),
    cut: Type.Integer({ minimum: 0, description: 'How many characters `text` lacks. Above 0 it cannot be allowed.' }),
    created: DecisionTime,
    expires: DecisionTime,
  },
  { additionalProperties: false },
);

export type PermissionWire = Static<typeof PermissionWire>;

/** A setting as `GET /api/v1/settings` returns it. The page uses the same type. */
export const SettingWire = Type.Object(
  {
    key: Type.String(),
    value: Type.Unknown({ description: 'Its value in the file, else its default. Secrets are hidden. Null: not set.' }),
    isDefault: Type.Boolean({ description: 'The file does not name it.' }),
    atNextStart: Type.Boolean({ description: 'A change applies at the next start only.' }),
    canChange: Type.Boolean({ description: 'The page may change it.' }),
    description: Type.String(),
  },
  { additionalProperties: false },
);

export type SettingWire = Static<typeof SettingWire>;

/** A logged-in browser as `GET /api/v1/devices` returns it. The page uses the same type. */
export const DeviceWire = Type.Object(
  {
    id: Type.String({ description: 'What `revoke` takes. It is no secret.' }),
    name: Type.String({ description: 'What the browser says that it is.' }),
    created: Type.String({ format: 'date-time' }),
    lastUsed: Type.String({ format: 'date', description: 'The day, in UTC.' }),
    isThis: Type.Boolean({ description: 'The device that asked.' }),
  },
  { additionalProperties: false },
);

export type DeviceWire = Static<typeof DeviceWire>;

/** The answers of the history routes. The page uses the same types. */

/** The answer of `GET /api/v1/history`. `states` has one letter per slot: U up, F failing, D down, - unknown. */
export interface HistoryWire {
  readonly from: string;
  readonly to: string;
  readonly slots: number;
  readonly personas: Readonly<Record<string, { readonly unread: readonly (number | null)[]; readonly states: string }>>;
}

/** The answer of `GET /api/v1/personas/ID/history`. */
export interface PersonaHistoryWire {
  readonly from: string;
  readonly to: string;
  readonly points: readonly (readonly [string, number | null])[];
  readonly states: readonly {
    readonly state: 'up' | 'failing' | 'down' | 'unknown';
    readonly from: string;
    readonly to: string;
  }[];
}

const UptimeShare = Type.Object(
  {
    up: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description: 'The share of the known time in which it was up, rounded down. Null when nothing is known.',
    }),
    knownSeconds: Type.Integer({ minimum: 0, description: 'Time in which Hivebar ran and knew the state.' }),
  },
  closed,
);

/** Uptime over three spans that end now. */
const UptimeWire = Type.Object({ '24h': UptimeShare, '7d': UptimeShare, '30d': UptimeShare }, closed);

export const PersonaUptimeWire = Type.Object({ persona: Type.String(), uptime: UptimeWire }, closed);

export const HivesWire = Type.Object(
  {
    rev: StatusWire.properties.rev,
    generatedAt: StatusWire.properties.generatedAt,
    hives: Type.Array(
      Type.Object(
        {
          ...HiveWire.properties,
          uptime: Type.Unsafe<Static<typeof UptimeWire>>({
            ...UptimeWire,
            description: 'Of all its personas together.',
          }),
        },
        closed,
      ),
    ),
  },
  closed,
);

export type UptimeWire = Static<typeof UptimeWire>;
export type PersonaUptimeWire = Static<typeof PersonaUptimeWire>;
export type HivesWire = Static<typeof HivesWire>;

/** One entry of `GET /api/v1/alerts`. A null `until` means that it goes on, for `seconds` so far. */
export interface AlertWire {
  readonly key: string;
  readonly scope: 'persona' | 'source' | 'machine';
  readonly message: string;
  readonly personas: readonly string[];
  readonly since: string;
  readonly until: string | null;
  readonly seconds: number;
}
