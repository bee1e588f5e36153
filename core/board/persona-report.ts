/** The counts per priority, 0 first. `MOST_COUNTED` stands for that many or more. */
export type ByPriority = readonly [number, number, number, number, number];

/** A JSON Schema whose values have the type `T`. */
interface SchemaFor<T> {
  readonly schema: object;
  /** Has the type only. */
  readonly value?: T;
}

const schemaFor = <T>(schema: object): SchemaFor<T> => ({ schema });

/**
 * The values of a persona that one service knows and every surface may show. This is the only place that names them: a
 * service reports a value with the fact `reported`, and the status JSON prints it under the same key. Each value can be
 * null, and is null until it is reported.
 */
/* The page reads this type too, so this file imports nothing of the house. */
const REPORTED = {
  pending: schemaFor<ByPriority>({
    description:
      'Unread items of a local inbox by priority, from 0 (critical) to 4; 1000 means 1000 or more. Null for other inboxes.',
    type: 'array',
    items: { type: 'integer', minimum: 0, description: 'Unread items of one priority.' },
    minItems: 5,
    maxItems: 5,
  }),
  questions: schemaFor<number>({
    description: 'Questions to a person in this inbox that nobody has answered. Null where none was ever asked.',
    type: 'integer',
    minimum: 0,
  }),
};

export type PersonaReport = {
  readonly [Key in keyof typeof REPORTED]: NonNullable<(typeof REPORTED)[Key]['value']> | null;
};

const KEYS = Object.keys(REPORTED) as (keyof PersonaReport)[];

/** The JSON Schema of each value, by its key. */
export const PERSONA_REPORT = Object.fromEntries(
  KEYS.map((key) => {
    const { description, ...schema } = REPORTED[key].schema as { readonly description: string };
    return [key, { description, anyOf: [{ type: 'null' }, schema] }];
  }),
) as Readonly<Record<keyof PersonaReport, object>>;

/** The values of a persona of which nothing was reported yet. */
export const EMPTY_REPORT = Object.fromEntries(KEYS.map((key) => [key, null])) as PersonaReport;

/** Returns the values of `PersonaReport` without anything else that `values` holds. */
export function pickReport(values: Readonly<PersonaReport>): PersonaReport {
  const byKey: Readonly<Record<string, unknown>> = { ...values };
  return Object.fromEntries(KEYS.map((key) => [key, byKey[key]])) as PersonaReport;
}
