import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Event, type MailEvent, toWakeClass } from './event.ts';
import { formatEventLine, parseEventLine } from './line.ts';

const about = { source: 'kijito-inbox', ts: '2026-06-20T10:00:00.123000+00:00', persona: 'ada' };
const other = (name: string) => ({ event_id: `ada:${name}:00ff00ff00ff00ff-1`, wake_class: toWakeClass(name) });
const mail: MailEvent = {
  event: 'new',
  ...about,
  id: 246,
  from: 'river',
  created: '2026-06-20T09:59:59',
  content: 'hello',
  event_id: 'ada:new:246',
  wake_class: 'mail',
};

/** Every kind of event, and the exact bytes of its line: the keys that grep recipes and the Python consumers rely on. */
const LINES: readonly (readonly [Event, string])[] = [
  [
    mail,
    '{"event": "new", "source": "kijito-inbox", "ts": "2026-06-20T10:00:00.123000+00:00", "id": 246, "from": "river", ' +
      '"created": "2026-06-20T09:59:59", "persona": "ada", "content": "hello", "event_id": "ada:new:246", "wake_class": "mail"}\n',
  ],
  [
    { ...mail, self: true },
    '{"event": "new", "source": "kijito-inbox", "ts": "2026-06-20T10:00:00.123000+00:00", "id": 246, "from": "river", ' +
      '"created": "2026-06-20T09:59:59", "persona": "ada", "self": true, "content": "hello", "event_id": "ada:new:246", ' +
      '"wake_class": "mail"}\n',
  ],
  [
    { event: 'armed', ...about, cursor: 250, ...other('armed') },
    '{"event": "armed", "source": "kijito-inbox", "ts": "2026-06-20T10:00:00.123000+00:00", "persona": "ada", ' +
      '"cursor": 250, "event_id": "ada:armed:00ff00ff00ff00ff-1", "wake_class": "liveness"}\n',
  ],
  [
    { event: 'alert', ...about, reason: 'unreachable', consecutive_failures: 3, seconds: 180, ...other('alert') },
    '{"event": "alert", "source": "kijito-inbox", "ts": "2026-06-20T10:00:00.123000+00:00", "persona": "ada", ' +
      '"reason": "unreachable", "consecutive_failures": 3, "seconds": 180, "event_id": "ada:alert:00ff00ff00ff00ff-1", ' +
      '"wake_class": "diagnostic"}\n',
  ],
  [
    { event: 'recovered', ...about, cursor: 250, ...other('recovered') },
    '{"event": "recovered", "source": "kijito-inbox", "ts": "2026-06-20T10:00:00.123000+00:00", "persona": "ada", ' +
      '"cursor": 250, "event_id": "ada:recovered:00ff00ff00ff00ff-1", "wake_class": "diagnostic"}\n',
  ],
  [
    { event: 'heartbeat', ...about, cursor: null, ...other('heartbeat') },
    '{"event": "heartbeat", "source": "kijito-inbox", "ts": "2026-06-20T10:00:00.123000+00:00", "persona": "ada", ' +
      '"cursor": null, "event_id": "ada:heartbeat:00ff00ff00ff00ff-1", "wake_class": "liveness"}\n',
  ],
  [
    { event: 'seed_ahead', ...about, seeded: 600, current_max: 539, ...other('seed_ahead') },
    '{"event": "seed_ahead", "source": "kijito-inbox", "ts": "2026-06-20T10:00:00.123000+00:00", "persona": "ada", ' +
      '"seeded": 600, "current_max": 539, "event_id": "ada:seed_ahead:00ff00ff00ff00ff-1", "wake_class": "diagnostic"}\n',
  ],
  [
    { event: 'replay_capped', ...about, capped_to: 539, dropped: 389, ...other('replay_capped') },
    '{"event": "replay_capped", "source": "kijito-inbox", "ts": "2026-06-20T10:00:00.123000+00:00", "persona": "ada", ' +
      '"capped_to": 539, "dropped": 389, "event_id": "ada:replay_capped:00ff00ff00ff00ff-1", "wake_class": "diagnostic"}\n',
  ],
  [
    { event: 'persona_added', ...about, ...other('persona_added') },
    '{"event": "persona_added", "source": "kijito-inbox", "ts": "2026-06-20T10:00:00.123000+00:00", "persona": "ada", ' +
      '"event_id": "ada:persona_added:00ff00ff00ff00ff-1", "wake_class": "diagnostic"}\n',
  ],
];

/** Any text at all, with far more than its share of what breaks lines: controls, separators, halves of pairs. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('\u2028', '\u2029', '\u0085', '\ud83d', '\udc1d', '🐝', '"', '\\'),
  ),
});

const contentLine = (content: string): string => formatEventLine({ ...mail, content });

describe('formatEventLine', () => {
  for (const [event, line] of LINES) {
    test(`${'self' in event ? 'new from oneself' : event.event}: exact bytes`, () =>
      assert.equal(formatEventLine(event), line));
  }

  test('the order of keys is the line format, not the order in which the event was built', () => {
    const turned = Object.fromEntries(Object.entries(mail).reverse()) as unknown as Event;
    assert.equal(formatEventLine(turned), formatEventLine(mail));
  });

  test('a key without a value is absent, never null', () => {
    const { content: _, persona: __, ...bare } = mail;
    assert.doesNotMatch(formatEventLine(bare), /content|"persona"/);
  });

  test('non-ASCII is written raw', () => {
    assert.ok(contentLine('Grüße, 海 🐝').includes('"content": "Grüße, 海 🐝"'));
  });

  test('S15: what would end or bend a line for some reader is escaped: U+2028, U+2029, NEL, DEL, C0 and C1 controls', () => {
    assert.ok(contentLine('a\u2028b\u2029c\u0085d').includes('"a\\u2028b\\u2029c\\u0085d"'));
    assert.ok(
      contentLine('a\nb\r\tc\u0000d\u001be\u007ff\u009bg').includes('"a\\nb\\r\\tc\\u0000d\\u001be\\u007ff\\u009bg"'),
    );
  });

  test('the same holds for every text of the event, also its keys', () => {
    const odd = { ...mail, from: 'x\u2028', persona: 'p\u0085', 'k\u2029': 'v\u009f' } as unknown as Event;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    assert.doesNotMatch(formatEventLine(odd).slice(0, -1), /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
  });

  test('a lone surrogate becomes U+FFFD, so that the line is writable as UTF-8; a pair stays', () => {
    assert.ok(contentLine('a\ud800b\udc00c').includes('"a\ufffdb\ufffdc"'));
    assert.ok(contentLine('\ud83d\udc1d').includes('"🐝"'));
  });

  test('one physical line for any text, in every sense of "line", and the same bytes after UTF-8', () => {
    fc.assert(
      fc.property(anyText, anyText, (content, from) => {
        const line = formatEventLine({ ...mail, content, from });
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
        assert.match(line, /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*\n$/u);
        assert.equal(Buffer.from(line, 'utf8').toString('utf8'), line);
        assert.ok(line.startsWith('{"event": "new", '));
      }),
    );
  });
});

describe('parseEventLine', () => {
  for (const [event, line] of LINES) {
    test(`${event.event}: reads back its own line`, () => assert.deepEqual(parseEventLine(line), event));
  }

  test('reads back any well-formed text', () => {
    const text = anyText.map((s) => s.toWellFormed());
    fc.assert(
      fc.property(fc.maxSafeNat(), text, text, text, fc.boolean(), (id, from, content, persona, own) => {
        const event: Event = { ...mail, id, from, content, persona, ...(own ? { self: true } : {}) };
        assert.deepEqual(parseEventLine(formatEventLine(event)), event);
      }),
    );
  });

  test('any part of a line that was cut is no event', () => {
    const line = formatEventLine(mail).trimEnd();
    for (let cut = 0; cut < line.length; cut++)
      assert.equal(parseEventLine(line.slice(0, cut)), null, line.slice(0, cut));
    assert.equal(parseEventLine(line.slice(20)), null);
  });

  test("somebody else's line is no event", () => {
    for (const line of ['', '\n', 'null', '1', '"new"', '[]', '[{"event": "new"}]', '{}', '{"event": "new"}']) {
      assert.equal(parseEventLine(line), null, line);
    }
    assert.equal(parseEventLine('{"event": 1, "event_id": "x"}'), null);
  });

  test('a kind that this version does not know is still an event', () => {
    assert.equal(parseEventLine('{"event": "later", "event_id": "a:later:1"}')?.event_id, 'a:later:1');
  });
});
