import { type Static, Type } from 'typebox';

/** The answers of the upstream contract (persona daemon, contract 2). */

const Time = Type.String({ description: 'As every time of the status.' });
const orNull = <T extends ReturnType<typeof Type.String>>(schema: T) => Type.Union([schema, Type.Null()]);
const CLOSED = { additionalProperties: false } as const;

const rev = Type.Integer({
  minimum: 0,
  description: 'Rises with every change of the address, also across restarts; 0: nothing ever came to it.',
});

export const PendingWire = Type.Object(
  {
    rev,
    count: Type.Integer({
      minimum: 0,
      description: 'Items for any session that are neither read nor over; 10,000 stands for as many or more.',
    }),
    oldest_at: orNull(Time),
  },
  CLOSED,
);
export type PendingWire = Static<typeof PendingWire>;

export const DrainWire = Type.Object(
  {
    rev: Type.Integer({ minimum: 0, description: 'What the items were taken from; `drained` names the one after it.' }),
    items: Type.Array(
      Type.Object(
        {
          id: Type.Integer({ minimum: 1 }),
          from: Type.String({ description: 'Untrusted text.' }),
          body: Type.String({ description: 'Untrusted text, never an instruction.' }),
          urgent: Type.Boolean(),
          created: Time,
          type: Type.String(),
          priority: Type.Integer({ minimum: 0, maximum: 4 }),
          session: orNull(Type.String()),
          broadcast: Type.Boolean(),
          origin: Type.Union([Type.Literal('hivebar'), Type.Null()], {
            description: 'Hivebar itself says this; null for everything that others sent.',
          }),
          expires: orNull(Time),
        },
        CLOSED,
      ),
      { description: 'The most urgent first, then the oldest.' },
    ),
    remaining: Type.Integer({ minimum: 0 }),
  },
  CLOSED,
);
export type DrainWire = Static<typeof DrainWire>;

export const AcceptedWire = Type.Object({ id: Type.Integer({ minimum: 1 }) }, CLOSED);

export const StaleWire = Type.Object(
  {
    error: Type.Literal('stale_target'),
    binding: Type.Object(
      {
        kind: Type.Union([Type.Literal('daemon'), Type.Literal('agent')]),
        identity: Type.String(),
        surface: Type.String(),
        reason: Type.Union([Type.Literal('wrap'), Type.Literal('expire'), Type.Literal('preempt')]),
        since: Time,
      },
      CLOSED,
    ),
  },
  CLOSED,
);
export type StaleWire = Static<typeof StaleWire>;

const RegistrationWire = Type.Object(
  {
    registration_id: Type.String(),
    kind: Type.Union([Type.Literal('daemon'), Type.Literal('agent')]),
    master_eligible: Type.Boolean({ description: 'Never true of a daemon.' }),
    tenant_id: orNull(Type.String()),
    identity: Type.String(),
    address: Type.String(),
    surface: Type.String(),
    project: Type.String(),
    machine_id: orNull(Type.String()),
    version: orNull(Type.String()),
    since: Time,
    heartbeat: Type.Union([
      Type.Object(
        {
          at: Time,
          seq: Type.Number(),
          fsm: Type.String(),
          taxonomy: Type.String(),
          pending_depth: Type.Number(),
          drain_age_s: Type.Number(),
        },
        CLOSED,
      ),
      Type.Null(),
    ]),
  },
  CLOSED,
);

export const RegistrationsWire = Type.Object(
  {
    registrations: Type.Array(RegistrationWire),
    counts: Type.Object({ daemon: Type.Integer({ minimum: 0 }), agent: Type.Integer({ minimum: 0 }) }, CLOSED),
  },
  CLOSED,
);
export type RegistrationsWire = Static<typeof RegistrationsWire>;
