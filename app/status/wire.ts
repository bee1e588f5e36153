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
    'How well `unread` is known: that many; that many or more; not at all, and then `unread` is null and not 0.',
});
const Silence = Type.Union([Type.Null(), Type.Literal('forever'), Time('Silent until then.')], {
  description: 'Null: not silent.',
});

const GateWire = Type.Object(
  {
    id: Type.String(),
    hook: Type.String({ description: 'The event of the harness at which it stands.' }),
    mode: Type.Union([Type.Literal('strict'), Type.Literal('soft')], {
      description: 'Strict: it blocks. Soft: it warns.',
    }),
  },
  closed,
);

const OpenDecisionWire = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'What was asked is in `/api/v1/decisions`, with the token.' }),
    persona: Type.String({ description: 'Id of who asks. It need not be among `personas`.' }),
    urgency: Type.Union([Type.Literal('low'), Type.Literal('normal'), Type.Literal('high')]),
    blocking: Type.Boolean({ description: 'The persona waits.' }),
    created: Time('When it was asked.'),
    expires: Nullable(Time('Nobody can answer from then on.')),
  },
  closed,
);

const DaemonWire = Type.Object(
  {
    surface: Type.String({ description: 'What its agent works in.' }),
    project: Type.String({ description: 'What it is bound to for its life. Untrusted text.' }),
    fsm: Type.Union(
      [Type.Literal('DISCONNECTED'), Type.Literal('RECONCILING'), Type.Literal('CONNECTED'), Type.Literal('EMITTING')],
      { description: 'The state machine of its stream.' },
    ),
    taxonomy: Type.Union(
      [Type.Literal('running'), Type.Literal('sleeping'), Type.Literal('restarting'), Type.Literal('failed')],
      { description: 'What it does.' },
    ),
    degraded: Type.Boolean({ description: 'Its surface is away, so that it cannot ring.' }),
    drainedAt: Time('When something was fetched last, else when the daemon began.'),
    lastErrorClass: Nullable(Type.String({ description: 'One of the ten classes. Null: none yet.' })),
  },
  closed,
);

export const PersonaWire = Type.Object(
  {
    id: Type.String({ description: 'Unique in Hivebar. Untrusted text: it comes from a directory of names.' }),
    stem: Type.String({ description: 'What the names of its files are made from; safe in a path.' }),
    source: Type.String({ description: 'The inbox system it lives in.' }),
    label: Type.String({ description: 'What a person reads. Untrusted text.' }),
    state: Type.Union([Type.Literal('UP'), Type.Literal('DOWN'), Type.Literal('PENDING'), Type.Literal('OFF')], {
      description:
        'UP: can be read, also while it fails below the threshold. PENDING: not seen yet. OFF is reserved for paused.',
    }),
    reason: Nullable(
      Type.String({ description: 'Why it fails or is down, or why its events wait, and the next step.' }),
    ),
    since: Nullable(Time('When the present state began.')),
    agent: Type.Union([Type.Literal('live'), Type.Literal('gone'), Type.Literal('stalled'), Type.Literal('unknown')], {
      description: 'What the inbox says of its reader. It changes no state.',
    }),
    agentReason: Nullable(Type.String({ description: 'Null when live.' })),
    agentText: Nullable(Type.String({ description: 'The reason in words; null where it says enough by itself.' })),
    unread: Nullable(Whole('Null when unknown.')),
    unreadIs: UnreadIs,
    urgent: Nullable(Whole('Unread and urgent; a lower bound where the source cannot tell. Null when unknown.')),
    cursor: Nullable(Type.Integer({ description: 'Mail up to this id was handed over. Null before the first look.' })),
    lastEventId: Nullable(Type.String({ description: 'The last event its agent was told.' })),
    lastMailAt: Nullable(Time('The `ts` of the last mail its agent was told.')),
    asOf: Nullable(Time('When the numbers were seen. Null: never.')),
    staleAfter: Nullable(Time('The numbers are old when nothing newer has come by then.')),
    ...Reported,
    gates: Type.Array(GateWire, { description: 'Open gates: registered, or held by an open decision.' }),
    daemon: Type.Union([Type.Null(), DaemonWire], {
      description: 'What a persona daemon says of itself. Null: it is none, or it does not answer.',
    }),
    muted: Silence,
    canMarkRead: Type.Boolean({ description: 'Its messages can be marked as read by the action `read`.' }),
    hidden: Type.Boolean({ description: 'Left out of totals and causes, and of tray, page and notifications.' }),
    eventsFile: Nullable(Type.String({ description: 'Absolute path of the file its agent follows.' })),
  },
  closed,
);

export const CauseWire = Type.Object(
  {
    key: Type.String({ description: 'The same key is the same outage.' }),
    scope: Type.Union([Type.Literal('persona'), Type.Literal('source'), Type.Literal('machine')]),
    since: Time('When it began.'),
    message: Type.String({ description: 'What is wrong, with which value, and the next step.' }),
    personas: Type.Array(Type.String(), { description: 'Ids of those it takes down or holds up.' }),
  },
  closed,
);

export const HiveWire = Type.Object(
  {
    source: Type.String(),
    address: Nullable(Type.String({ description: 'Null until the source has said where it is.' })),
    state: Type.Union([Type.Literal('UP'), Type.Literal('DOWN'), Type.Literal('PENDING')]),
    reason: Nullable(Type.String()),
  },
  closed,
);

const StatusProjectWire = Type.Object(
  {
    id: Type.String({ description: 'What stands in the address of its sheet.' }),
    board: Type.String({ description: 'Id of the persona that stands for its board.' }),
    source: Type.String({ description: 'Of its personas.' }),
    rev: Type.String({ description: 'Differs when its sheet differs.' }),
  },
  closed,
);

export const StatusWire = Type.Object(
  {
    schema: Type.Literal(1),
    rev: Whole('Rises when anything but freshness changes, within one run of Hivebar.'),
    generatedAt: Time('When this was written.'),
    version: Type.String(),
    port: Type.Integer({ minimum: 0, maximum: 65535, description: 'The loopback port of the status server.' }),
    totals: Type.Object(
      {
        unread: Nullable(
          Whole(
            'The sum over all personas that are not hidden, mail that two of them show counted once. Null when no part of it is known.',
          ),
        ),
        unreadIs: UnreadIs,
        urgent: Nullable(Whole('As unread.')),
        urgentIs: UnreadIs,
        up: Whole('Personas that are UP and not hidden.'),
        down: Whole('Personas that are DOWN and not hidden.'),
        personas: Whole('All that are not hidden.'),
      },
      closed,
    ),
    hives: Type.Array(HiveWire),
    projects: Type.Array(StatusProjectWire, { description: 'Projects with a board of their own, by id.' }),
    personas: Type.Array(PersonaWire, { description: 'By id, in code-unit order.' }),
    causes: Type.Array(CauseWire, {
      description: 'Oldest first. One outage is one cause, however many it takes down.',
    }),
    decisions: Type.Array(OpenDecisionWire, {
      description: 'What agents ask of people and nobody answered yet, oldest first; not those of hidden personas.',
    }),
    tray: Type.Object({ state: Type.String({ description: 'How the tray icon does.' }) }, closed),
    notifications: Type.Object(
      {
        state: Type.String({ description: 'How desktop notifications do.' }),
        pausedUntil: Silence,
        quietUntil: Silence,
      },
      closed,
    ),
    autostart: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether Hivebar starts at login. Null: it cannot be told here.',
    }),
  },
  { ...closed, title: 'Hivebar status' },
);

export type StatusWire = Static<typeof StatusWire>;
export type PersonaWire = Static<typeof PersonaWire>;
export type CauseWire = Static<typeof CauseWire>;
export type HiveWire = Static<typeof HiveWire>;

/** A decision as `GET /api/v1/decisions` and the action `decide` return it. The page uses the same type. */

const DecisionTime = Type.String({ description: 'As every time of the status.' });

const orNull = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const DecisionWire = Type.Object(
  {
    id: Type.Integer({ minimum: 1 }),
    persona: Type.String({ description: 'Who asked.' }),
    prompt: Type.String({ description: 'Untrusted text.' }),
    context: orNull(Type.String({ description: 'Untrusted text.' })),
    options: Type.Array(
      Type.Object(
        { id: Type.String(), short: Type.String({ description: 'For a button.' }), label: Type.String() },
        { additionalProperties: false },
      ),
    ),
    freeText: Type.Boolean({ description: 'Text alone is an answer.' }),
    default: orNull(Type.String({ description: 'The option that applies when nobody answers in time.' })),
    urgency: Type.Union([Type.Literal('low'), Type.Literal('normal'), Type.Literal('high')]),
    blocking: Type.Boolean({ description: 'The persona waits.' }),
    iteration: Type.Integer({ minimum: 1 }),
    mostIterations: Type.Integer({ minimum: 1 }),
    parent: orNull(Type.Integer()),
    guidance: orNull(Type.String({ description: 'What was said to the iteration before.' })),
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
    by: orNull(Type.String({ description: 'Null on `resolved`: nobody, the default applies.' })),
    closed: orNull(DecisionTime),
    next: orNull(Type.Integer({ description: 'The decision that goes on from this one.' })),
  },
  { additionalProperties: false },
);

export type DecisionWire = Static<typeof DecisionWire>;

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
