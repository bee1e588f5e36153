import { exactly, type Instant, UNKNOWN } from '../../../model/index.ts';
import type { Level, Levels } from '../../source.ts';
import { envelopeOf, faultIn, isCount, isRecord, kindOf, type Reading } from './answer.ts';

/**
 * One answer of `GET /api/notify/pending` (Kijito contract a). A persona that is absent has none unread; no `cursor`
 * means that the server does not long-poll.
 * @throws Fault `not-json` or `shape`
 */
export function levelsOf(body: Uint8Array, at: Instant, reading: Reading): Levels {
  const { envelope, result } = envelopeOf(body, reading);
  const of = new Map<string, Level>();
  for (const [index, value] of result.entries()) {
    const { persona, level } = levelOf(value, index, reading);
    if (of.has(persona)) throw faultIn(reading, 'shape', `${JSON.stringify(persona)} comes twice`);
    of.set(persona, level);
  }
  const { cursor = null } = envelope;
  if (cursor !== null && typeof cursor !== 'string') {
    throw faultIn(reading, 'shape', `"cursor" is ${kindOf(cursor)}, not a string`);
  }
  return { at, of, cursor: cursor === '' ? null : cursor };
}

function levelOf(value: unknown, index: number, reading: Reading): { persona: string; level: Level } {
  if (!isRecord(value)) throw faultIn(reading, 'shape', `entry ${index} is ${kindOf(value)}, not an object`);
  const { persona, unread, unread_urgent: urgent } = value;
  if (typeof persona !== 'string' || persona === '') {
    throw faultIn(reading, 'shape', `the persona of entry ${index} is ${kindOf(persona)}, not a name`);
  }
  if (!isCount(unread)) {
    throw faultIn(reading, 'shape', `"unread" of ${JSON.stringify(persona)} is ${kindOf(unread)}, not a count`);
  }
  if (urgent !== undefined && !isCount(urgent)) {
    throw faultIn(reading, 'shape', `"unread_urgent" of ${JSON.stringify(persona)} is ${kindOf(urgent)}, not a count`);
  }
  return { persona, level: { unread: exactly(unread), urgent: urgent === undefined ? UNKNOWN : exactly(urgent) } };
}
