import { type Static, Type } from 'typebox';

/** The answers of `GET /api/brainclaw` and `GET /api/brainclaw/ID`: the sheets of projects. The page uses the same types. */

const closed = { additionalProperties: false };
const Text = Type.String({ description: 'Untrusted text, cut.' });
const Name = Type.String();
const orNull = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Count = orNull(Type.Integer({ minimum: 0, description: 'Null: not known, which is not 0.' }));
const whole = Type.Integer({ minimum: 0 });
const Seq = orNull(Type.Integer({ description: 'Of a record of the journal.' }));
const Ts = orNull(Type.String({ description: 'As the writer of the record says it.' }));

/** A union made from a list has no type of its own, so its type is given here. */
const createEnum = <const T extends string>(names: readonly T[]) =>
  Type.Unsafe<T>(Type.Union(names.map((name) => Type.Literal(name))));

const Why = createEnum(['pending_actions', 'pending_human_candidates', 'blocked_assignments', 'stale_runs']);

const SheetCountName = createEnum([
  ...(['plans', 'claims', 'assignments', 'runs', 'actions', 'failedRuns', 'agents', 'sessions'] as const),
]);

const Counts = Type.Object(
  {
    ...{ plans: Count, claims: Count, assignments: Count, runs: Count },
    actions: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'All that asks for a person.' }),
    ...{ failedRuns: Count, agents: Count, sessions: Count },
  },
  closed,
);

const AttentionWire = Type.Union(
  [
    Type.Object(
      {
        ...{ total: whole, pending_actions: whole, pending_human_candidates: whole },
        ...{ blocked_assignments: whole, stale_runs: whole },
      },
      closed,
    ),
    Type.Null(),
  ],
  { description: 'What asks for a person, and why. Null: not known.' },
);

const AgentWire = Type.Object(
  {
    agent: Type.String({ description: 'As its inbox is called.' }),
    pending: Count,
    actionable: Count,
    ...{ open_handoffs: Count, assignments: Count, actions: Count },
    skipped: Count,
  },
  closed,
);

const remarks = Type.Array(Type.String(), {
  description:
    '`journal-off`, `incomplete`, `from-checkpoint`, `registry-partial`, `skipped=N`. None: the board is all there is.',
});
const system = Type.Union([Type.Record(Type.String(), whole), Type.Null()], {
  description: 'What makes up the knowledge of the project, by item type.',
});
const seeded = Type.Array(SheetCountName, {
  description: 'Counts that are not from the journal, but were asked of brainclaw, once.',
});

/** The numbers of a sheet. */
const numbers = {
  remarks,
  seq: Seq,
  ts: Ts,
  counts: Counts,
  attention: AttentionWire,
  system,
  agents: Type.Array(AgentWire, { description: 'By name.' }),
};

const RowWire = Type.Object(
  {
    key: Type.String({ description: 'Unique in its section.' }),
    itemType: Name,
    id: orNull(Type.String()),
    title: Text,
    text: Type.Union([Text, Type.Null()], { description: 'What it says beside its title. Null: nothing.' }),
    status: Name,
    agent: orNull(Type.String({ description: 'Whom it is about.' })),
    from: orNull(Type.String({ description: 'Who wrote or sent it.' })),
    ts: Ts,
    seq: Seq,
    why: Type.Union([Why, Type.Null()], { description: 'Of attention: why it is there.' }),
  },
  closed,
);

const SectionWire = Type.Object(
  {
    id: createEnum([
      ...(['attention', 'in-progress', 'recently-terminal', 'sprints', 'backlog'] as const),
      ...(['candidates', 'activity', 'actions', 'handoffs', 'traps'] as const),
    ]),
    total: whole,
    rows: Type.Array(RowWire, { description: 'The first of them. None without the token.' }),
    rest: Type.Integer({ minimum: 0, description: 'Those that are left out.' }),
  },
  closed,
);

export const SheetWire = Type.Object(
  { ...numbers, sections: Type.Array(SectionWire, { description: 'In the order of the protocol.' }), seeded },
  closed,
);

const rev = orNull(Type.String({ description: 'Differs when the sheet differs. Null: it was not read yet.' }));
const id = Type.String({ description: 'Of the project, and of its source.' });
const board = Type.String({ description: 'The persona that stands for its board.' });
const label = Type.String({ description: "The folder's name. Untrusted text." });

export const ProjectsWire = Type.Object(
  {
    projects: Type.Array(
      Type.Object(
        {
          ...{ id, board, label, rev, ...numbers, seeded },
          defects: Type.Integer({ minimum: 0, description: 'How many things are wrong in its store.' }),
        },
        closed,
      ),
      { description: 'By id.' },
    ),
  },
  closed,
);

export const ProjectWire = Type.Object(
  {
    project: Type.Object(
      { ...{ id, board, label }, root: orNull(Type.String({ description: 'Its folder. Null without the token.' })) },
      closed,
    ),
    rev,
    sheet: Type.Union([SheetWire, Type.Null()], { description: 'Null: it was not read yet.' }),
    defects: Type.Union([Type.Array(Text), Type.Null()], {
      description: 'What is wrong in its store, a line each. Null without the token.',
    }),
    acts: Type.Boolean({
      description: 'What a person asks of the project is done from here (setting `brainclaw.actions`).',
    }),
  },
  closed,
);

export type SheetWire = Static<typeof SheetWire>;
export type ProjectsWire = Static<typeof ProjectsWire>;
export type ProjectWire = Static<typeof ProjectWire>;
