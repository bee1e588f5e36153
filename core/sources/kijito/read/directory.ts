import { envelopeOf, faultIn, isRecord, kindOf, type Reading } from './answer.ts';

/**
 * One answer of `GET /api/personas`: the names as the server spells them, in its order. Names are case-sensitive there,
 * so `Ada` and `ada` are two; a name that comes twice is one (Kijito contract a, trap 43).
 * @throws Fault `not-json` or `shape`, also for an empty list: nobody to watch is no answer
 */
export function namesOf(body: Uint8Array, reading: Reading): readonly string[] {
  const { result } = envelopeOf(body, reading);
  const names = new Set<string>();
  for (const [index, value] of result.entries()) {
    const persona = isRecord(value) ? value.persona : undefined;
    if (typeof persona !== 'string' || persona === '') {
      throw faultIn(reading, 'shape', `the persona of entry ${index} is ${kindOf(persona)}, not a name`);
    }
    names.add(persona);
  }
  if (names.size === 0) throw faultIn(reading, 'shape', 'it lists no persona');
  return [...names];
}
