import { type Static, Type } from 'typebox';

/** The answers of `GET /api/brainclaw` and `GET /api/brainclaw/ID`: the sheets of projects. The page uses the same types. */

const closed = { additionalProperties: false };
const Text = Type.String({ description: 'Untrusted text, cut to a maximum length.' });
const Name = Type.String();
const orNull = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Count = orNull(Type.Integer({ minimum: 0, description: 'Null when unknown, which is not 0.' }));
const whole = Type.Integer({ minimum: 0 });
const Seq = orNull(Type.Integer({ description: 'Sequence number of a record in the journal.' }));
const Ts = orNull(Type.String({ description: 'Time as the writer of the record reported it.' }));

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
    actions: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Items that need a person.' }),
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
  { description: 'Items that need a person, by reason. Null when unknown.' },
);

const AgentWire = Type.Object(
  {
    agent: Type.String({ description: 'Name of its inbox.' }),
    pending: Count,
    actionable: Count,
    ...{ open_handoffs: Count, assignments: Count, actions: Count },
    skipped: Count,
  },
  closed,
);

const remarks = Type.Array(Type.String(), {
  description:
    '`journal-off`, `incomplete`, `from-checkpoint`, `registry-partial`, `skipped=N`. An empty list means that the board is complete.',
});
const system = Type.Union([Type.Record(Type.String(), whole), Type.Null()], {
  description: 'Number of knowledge items of the project, by item type.',
});
const seeded = Type.Array(SheetCountName, {
  description: 'Counts that brainclaw reported once because the journal does not contain them.',
});

/** The numbers of a sheet. */
const numbers = {
  remarks,
  seq: Seq,
  ts: Ts,
  counts: Counts,
  attention: AttentionWire,
  system,
  agents: Type.Array(AgentWire, { description: 'Sorted by name.' }),
};

const RowWire = Type.Object(
  {
    key: Type.String({ description: 'Unique in its section.' }),
    itemType: Name,
    id: orNull(Type.String()),
    title: Text,
    text: Type.Union([Text, Type.Null()], { description: 'Text besides the title. Null when there is none.' }),
    status: Name,
    agent: orNull(Type.String({ description: 'The agent that the row is about.' })),
    from: orNull(Type.String({ description: 'The author or sender.' })),
    ts: Ts,
    seq: Seq,
    why: Type.Union([Why, Type.Null()], { description: 'Why the row needs attention. Null in other sections.' }),
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
    rows: Type.Array(RowWire, { description: 'The first rows. Empty without the token.' }),
    rest: Type.Integer({ minimum: 0, description: 'Number of rows that are left out.' }),
  },
  closed,
);

export const SheetWire = Type.Object(
  { ...numbers, sections: Type.Array(SectionWire, { description: 'In the order of the protocol.' }), seeded },
  closed,
);

const rev = orNull(Type.String({ description: 'Changes when the sheet changes. Null before the first read.' }));
const id = Type.String({ description: 'Id of the project and of its source.' });
const board = Type.String({ description: 'The persona that represents the board.' });
const label = Type.String({ description: "The folder's name. Untrusted text." });

export const ProjectsWire = Type.Object(
  {
    projects: Type.Array(
      Type.Object(
        {
          ...{ id, board, label, rev, ...numbers, seeded },
          defects: Type.Integer({ minimum: 0, description: 'Number of defects in the store.' }),
        },
        closed,
      ),
      { description: 'Sorted by id.' },
    ),
  },
  closed,
);

export const ProjectWire = Type.Object(
  {
    project: Type.Object(
      {
        ...{ id, board, label },
        root: orNull(Type.String({ description: 'Folder of the project. Null without the token.' })),
      },
      closed,
    ),
    rev,
    sheet: Type.Union([SheetWire, Type.Null()], { description: 'Null before the first read.' }),
    defects: Type.Union([Type.Array(Text), Type.Null()], {
      description: 'Defects in the store, one line per defect. Null without the token.',
    }),
    acts: Type.Boolean({
      description: 'Whether actions on the project are allowed (setting `brainclaw.actions`).',
    }),
  },
  closed,
);

export type SheetWire = Static<typeof SheetWire>;
export type ProjectsWire = Static<typeof ProjectsWire>;
export type ProjectWire = Static<typeof ProjectWire>;
