import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ITEM_TYPES, type Priority } from '../item.ts';
import { formatWireMessage, type KeyedItem, parseInstant, parseWireItem, toSubject } from './wire.ts';

const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });
const text = fc.string({ unit: 'grapheme' });
const item: fc.Arbitrary<KeyedItem> = fc.record(
  {
    to: fc.oneof(
      fc.constant({ is: 'everyone' } as const),
      text.filter((name) => name !== '').map((name) => ({ is: 'persona', name }) as const),
    ),
    type: fc.constantFrom(...ITEM_TYPES),
    source: text.filter((source) => source !== ''),
    content: text,
    priority: fc.constantFrom<Priority[]>(0, 1, 2, 3, 4),
    session: fc.option(text.filter((session) => session !== '')),
    created: instant,
    expires: fc.option(instant),
    dedupKey: text.filter((key) => key !== ''),
  },
  { noNullPrototype: true },
);

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const at = { subject: 'inbox.agent.ada', time: 5, place: 'stream:x:7' };
const GOOD = { type: 'event', source: 'ci', content: 'red' };

describe('an item on the wire', () => {
  test('property: it comes back as it was', () => {
    fc.assert(
      fc.property(item, (message) => {
        const data = new TextEncoder().encode(formatWireMessage(message));
        assert.deepEqual(parseWireItem(data, { ...at, subject: toSubject(message.to) }), { is: 'item', item: message });
      }),
      { numRuns: 500 },
    );
  });

  test('a foreign message needs type, source and content; its place in the stream is its key, its time the stream', () => {
    assert.deepEqual(parseWireItem(bytes({ ...GOOD, rig: 'r', id: 'x' }), at), {
      is: 'item',
      item: {
        to: { is: 'persona', name: 'ada' },
        ...GOOD,
        priority: 2,
        session: null,
        created: 5,
        expires: null,
        dedupKey: 'stream:x:7',
      },
    });
  });

  test('what is no item says why', () => {
    const wrong: readonly (readonly [Uint8Array, RegExp])[] = [
      [new TextEncoder().encode('{'), /not JSON/],
      [Uint8Array.of(0xff, 0xfe), /not JSON/],
      [bytes([]), /not an object/],
      [bytes({ ...GOOD, source: '' }), /source ""/],
      [bytes({ type: 'event', source: 'ci' }), /content/],
      [bytes({ ...GOOD, created_at: 'yesterday' }), /created_at "yesterday"/],
      [bytes({ ...GOOD, expires_at: 'soon' }), /expires_at "soon"/],
    ];
    for (const [data, why] of wrong) {
      const read = parseWireItem(data, at);
      assert.ok(read.is === 'bad' && why.test(read.why), JSON.stringify(read));
    }
    assert.equal(parseWireItem(bytes(GOOD), { ...at, subject: 'inbox.rig.r' }).is, 'bad');
  });

  test('C7 given a type or a priority that is not known, the nearest is taken, and no text is lost for it', () => {
    const parseKind = (more: object) => {
      const read = parseWireItem(bytes({ ...GOOD, ...more }), at);
      return read.is === 'item' ? [read.item.type, read.item.priority] : read.why;
    };
    assert.deepEqual(parseKind({ type: 'nudge' }), ['agent', 2]);
    assert.deepEqual(parseKind({ type: 'of-tomorrow', priority: 7 }), ['event', 4]);
    assert.deepEqual(parseKind({ type: undefined, priority: -3 }), ['event', 0]);
    assert.deepEqual(parseKind({ priority: 'high' }), ['event', 2]);
  });

  test('C1 given a key that only Hivebar itself may use, a message of the stream has another one here', () => {
    for (const key of ['hivebar:decision:1', 'HIVEBAR:decision:1']) {
      const read = parseWireItem(bytes({ ...GOOD, dedup_key: key, origin: 'hivebar' }), at);
      assert.ok(read.is === 'item' && !('origin' in read.item));
      assert.equal(read.is === 'item' && read.item.dedupKey, `foreign:${key}`);
    }
  });

  test('inbox-gates 8.12b: an offset of a time counts', () => {
    const noon = Date.UTC(2026, 1, 13, 12);
    for (const time of ['2026-02-13T12:00:00Z', '2026-02-13T14:00:00+02:00', '2026-02-13T06:30:00.000000-05:30'])
      assert.equal(parseInstant(time), noon, time);
    assert.equal(parseInstant('2026-02-13T12:00:00.123456789Z'), noon + 123);
    for (const time of ['2026-02-13', '2026-02-13T12:00:00', 12, null]) assert.equal(parseInstant(time), null);
  });
});
