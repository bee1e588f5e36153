import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addExtra, type ChangeEvent, type MailEvent } from './event.ts';
import { createStamper, formatEventLine, parseEventLine } from './line.ts';

const MAIL: MailEvent = {
  event: 'new',
  source: 'garden',
  ts: '2026-06-20T00:00:00.000000+00:00',
  id: 7,
  from: null,
  created: null,
  event_id: '_:new:7',
  wake_class: 'mail',
};
const READ: ChangeEvent = {
  event: 'read',
  source: 'garden',
  ts: '2026-06-20T00:00:00.000000+00:00',
  persona: 'ada',
  id: 7,
  event_id: 'ada:read:7-1',
  wake_class: 'liveness',
};
const COMMON = 'event source ts id from created persona self content event_id wake_class nonce emitted'.split(' ');

test('what only one source knows stands before the content, in its own order', () => {
  assert.equal(
    formatEventLine(addExtra({ ...MAIL, content: 'hi' }, { stem: 's', wants_reply: false, reply_to: null, n: 1.5 })),
    '{"event": "new", "source": "garden", "ts": "2026-06-20T00:00:00.000000+00:00", "id": 7, "from": null, "created": null, "stem": "s", "wants_reply": false, "reply_to": null, "n": 1.5, "content": "hi", "event_id": "_:new:7", "wake_class": "mail"}\n',
  );
  assert.equal(
    formatEventLine(addExtra(READ, { stem: 's' })),
    '{"event": "read", "source": "garden", "ts": "2026-06-20T00:00:00.000000+00:00", "id": 7, "persona": "ada", "stem": "s", "event_id": "ada:read:7-1", "wake_class": "liveness"}\n',
  );
});

test('none of it is the same event, and nothing is changed in place', () => {
  assert.equal(addExtra(READ, {}), READ);
  assert.equal(addExtra(READ, { id: 8 }), READ);
});

test('whatever a source says: no key of the event is another one, none is added that every event may have, all else is there', () => {
  const key = fc.oneof(
    fc.constantFrom(...COMMON, '__proto__', 'constructor', 'stem', 'toString', '0', '', 'ID'),
    fc.string(),
    fc.string({ unit: 'binary' }),
  );
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null));
  const extra = fc.array(fc.tuple(key, value)).map((pairs) => Object.fromEntries(pairs));
  const stamp = createStamper({ wall: 0, monotonic: null, boottime: null });
  fc.assert(
    fc.property(fc.constantFrom(MAIL, READ, { ...MAIL, content: 'c', self: true } as const), extra, (event, more) => {
      const all = addExtra(event, more);
      for (const text of [formatEventLine(all), stamp(all)]) {
        assert.ok(!/[\n\r\u0085\u2028\u2029]/.test(text.trimEnd()), 'one line');
        const read = new Map(Object.entries(parseEventLine(text) ?? {}));
        for (const name of COMMON.filter((each) => !['nonce', 'emitted'].includes(each)))
          assert.deepEqual(read.get(name), (event as unknown as Record<string, unknown>)[name], name);
        for (const [name, message] of Object.entries(more)) {
          if (COMMON.includes(name)) continue;
          const wellFormed = name.toWellFormed();
          if (wellFormed !== name) continue; // replaced, as text is
          assert.deepEqual(read.get(name), typeof message === 'string' ? message.toWellFormed() : message, name);
        }
      }
      assert.ok(!('nonce' in all) && !('emitted' in all));
    }),
  );
});
