import { type Static, Type } from 'typebox';

/** The counts per priority, 0 first. `MOST_COUNTED` stands for that many or more. */
export type ByPriority = readonly [number, number, number, number, number];

/**
 * The values of a persona that one service knows and every surface may show. This is the only place that names them: a
 * service reports a value with the fact `reported`, and the status JSON prints it under the same key. Each value can be
 * null, and is null until it is reported.
 */
/* The page reads this type too, so this file imports nothing of the house. */
export const PersonaReport = Type.Object({
  pending: Type.Union(
    [
      Type.Null(),
      Type.Unsafe<ByPriority>(
        Type.Array(Type.Integer({ minimum: 0, description: 'Unread of one priority.' }), { minItems: 5, maxItems: 5 }),
      ),
    ],
    {
      description:
        'Of an inbox of this machine five numbers: unread items of priority 0 (critical) to 4, where 1000 means 1000 or more. Else null.',
    },
  ),
});
export type PersonaReport = Static<typeof PersonaReport>;

const KEYS = Object.keys(PersonaReport.properties);

/** The values of a persona of which nothing was reported yet. */
export const EMPTY_REPORT = Object.fromEntries(KEYS.map((key) => [key, null])) as PersonaReport;

/** Returns the values of `PersonaReport` without anything else that `values` holds. */
export function pickReport(values: Readonly<PersonaReport>): PersonaReport {
  const byKey: Readonly<Record<string, unknown>> = { ...values };
  return Object.fromEntries(KEYS.map((key) => [key, byKey[key]])) as PersonaReport;
}
