import { type Static, Type } from 'typebox';

/** A decision as `GET /api/v1/decisions` and the action `decide` return it. The page uses the same type. */

const Time = Type.String({ description: 'As every time of the status.' });

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
    created: Time,
    expires: orNull(Time),
    state: Type.Union([
      Type.Literal('open'),
      Type.Literal('resolved'),
      Type.Literal('timed-out'),
      Type.Literal('cancelled'),
    ]),
    choice: orNull(Type.String()),
    text: orNull(Type.String()),
    by: orNull(Type.String({ description: 'Null on `resolved`: nobody, the default applies.' })),
    closed: orNull(Time),
    next: orNull(Type.Integer({ description: 'The decision that goes on from this one.' })),
  },
  { additionalProperties: false },
);

export type DecisionWire = Static<typeof DecisionWire>;
