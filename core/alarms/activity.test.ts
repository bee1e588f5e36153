import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import {
  type ActivityReport,
  checkActivity,
  formatActivityReport,
  mergeEarlier,
  type PersonaActivity,
  parseActivityReport,
} from './activity.ts';

const NOW = Date.UTC(2026, 5, 20, 10);
const NOTHING: PersonaActivity = { watched: true, sent: null, read: null };
const report = (parts: Partial<ActivityReport> = {}): ActivityReport => ({
  published: NOW,
  staleAfterMs: 180_000,
  since: NOW - 3_600_000,
  floor: 10,
  upTo: 20,
  blind: new Map(),
  identity: null,
  personas: new Map([['ada', NOTHING]]),
  ...parts,
});
const ask = (parts: Partial<ActivityReport>, sinceId: number, waits: number | null = null, now = NOW) =>
  checkActivity(report(parts), { persona: 'ada', sinceId, waits }, now);
const ada = (parts: Partial<PersonaActivity>) => ({ personas: new Map([['ada', { ...NOTHING, ...parts }]]) });

describe('--check-activity', () => {
  test('active: it sent a later message, or read mail after that message was there', () => {
    assert.equal(ask(ada({ sent: { id: 16, at: NOW } }), 15).is, 'active');
    assert.equal(ask(ada({ sent: { id: 15, at: NOW } }), 15).is, 'silent');
    assert.equal(ask(ada({ read: { after: 15, at: NOW } }), 15).is, 'active');
    assert.equal(ask(ada({ read: { after: 14, at: NOW } }), 15).is, 'silent');
  });

  test('what was seen once stays seen, whatever became of the watch', () => {
    const seen = { ...ada({ sent: { id: 16, at: NOW } }), floor: null, upTo: null };
    assert.equal(ask(seen, 15, null, NOW + 1e9).is, 'active');
  });

  test('silent only in a span that was watched as a whole', () => {
    assert.equal(ask({}, 15).is, 'silent');
    for (const [why, parts, since] of [
      ['before the watch began', {}, 9],
      ['an inbox has no position', { floor: null }, 15],
      ['an inbox cannot be read', { upTo: null }, 15],
      ['an inbox was not looked at since', { upTo: 14 }, 15],
      ['its own inbox is not watched', ada({ watched: false }), 15],
      ['nobody knows the name', { personas: new Map() }, 15],
    ] as const) {
      assert.equal(ask(parts, since).is, 'unobservable', why);
    }
    assert.equal(ask({}, 15, null, NOW + 180_001).is, 'unobservable', 'nobody publishes any more');
    assert.equal(ask({}, 15, null, NOW - 180_001).is, 'unobservable', 'a clock that was set back');
  });

  test('an inbox that cannot be read is named, whoever is asked about', () => {
    const blind = new Map([['cy', 'was not read']]);
    const { is, words } = ask({ upTo: null, blind }, 15);
    assert.equal(is, 'unobservable');
    assert.equal(
      words,
      'ada: it may have written to inboxes that cannot be polled now: cy was not read: not observable',
    );
    assert.match(ask({ floor: null, upTo: null, blind }, 15).words, /cy was not read/, 'it never had a position');
    assert.match(ask({ upTo: null, blind }, 9).words, /messages before 10 were not watched/);
    assert.equal(ask({ ...ada({ sent: { id: 16, at: NOW } }), upTo: null, blind }, 15).is, 'active');
  });

  test('an observation, never a diagnosis', () => {
    const { words } = ask(ada({ sent: { id: 12, at: NOW } }), 15, 3);
    assert.equal(
      words,
      'ada: nothing was seen of it since message 15 after 3 waits; before that, message 12 from it was seen 2026-06-20T10:00:00.000000+00:00',
    );
    for (const text of [words, ask({}, 15).words, ask({ upTo: null }, 15).words]) {
      assert.doesNotMatch(text, /dead|stuck|hang|hung|crash|blocked|unreachable|offline|working/i);
    }
  });
});

const PLAIN = { noNullPrototype: true };

describe('the activity report as text', () => {
  const at = fc.integer({ min: 0, max: 4e12 });
  const id = fc.oneof(fc.nat(3), fc.nat());
  const observed = fc.record(
    {
      watched: fc.boolean(),
      sent: fc.option(fc.record({ id, at }, PLAIN)),
      read: fc.option(fc.record({ after: id, at }, PLAIN)),
    },
    PLAIN,
  );
  const reports = fc.record(
    {
      published: at,
      staleAfterMs: fc.nat(),
      since: at,
      floor: fc.option(id),
      upTo: fc.option(id),
      blind: fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 9 }).map((pairs) => new Map(pairs)),
      identity: fc.option(fc.constant(['http', 'h', 80, '/api/inbox', [['persona', '']]])),
      personas: fc
        .array(fc.tuple(fc.oneof(fc.constantFrom('ada', 'bo', '__proto__'), fc.string()), observed))
        .map((pairs) => new Map(pairs)),
    },
    PLAIN,
  );

  test('comes back as it was, whatever the names are', () => {
    fc.assert(
      fc.property(reports, (report) => {
        const again = parseActivityReport(formatActivityReport(report));
        for (const [name, activity] of report.personas) assert.deepEqual(again?.personas.get(name), activity);
        assert.equal(again?.personas.size, report.personas.size);
        assert.deepEqual({ ...again, personas: null }, { ...report, personas: null });
      }),
    );
  });

  test('what an earlier process saw is kept: nothing is lost, nothing is made up, and how far was watched is its own', () => {
    fc.assert(
      fc.property(reports, reports, (earlier, now) => {
        const both = parseActivityReport(
          formatActivityReport({ ...mergeEarlier(now, earlier.personas), identity: null }),
        );
        assert.ok(both !== null);
        assert.deepEqual({ ...both, personas: null }, { ...now, identity: null, personas: null });
        for (const [name, activity] of both.personas) {
          const [a, b] = [earlier.personas.get(name), now.personas.get(name)];
          assert.equal(activity.watched, b?.watched ?? false);
          const saw = (key: 'sent' | 'read') => [a?.[key], b?.[key]].flatMap((seen) => seen ?? []);
          for (const key of ['sent', 'read'] as const) {
            if (activity[key] === null) assert.deepEqual(saw(key), []);
            else assert.ok(saw(key).some((seen) => isDeepStrictEqual(seen, activity[key])));
          }
          const ids = [a, b].flatMap((seen) => seen?.sent?.id ?? []);
          assert.equal(activity.sent?.id ?? -1, Math.max(-1, ...ids));
          assert.equal(activity.read?.after ?? -1, Math.max(-1, ...[a, b].flatMap((seen) => seen?.read?.after ?? [])));
          const times = [a, b].flatMap(({ sent } = NOTHING) =>
            sent?.id === activity.sent?.id ? (sent?.at ?? []) : [],
          );
          if (activity.sent !== null) assert.equal(activity.sent.at, Math.min(...times), 'seen first');
        }
        for (const name of [...earlier.personas.keys(), ...now.personas.keys()]) assert.ok(both.personas.has(name));
        const again = mergeEarlier(both, earlier.personas);
        assert.deepEqual(new Map(again.personas), new Map(both.personas), 'a second restart changes nothing');
      }),
      { numRuns: 500 },
    );
  });

  test('is bounded; of those that are not watched whoever was seen last is kept', () => {
    const createActivity = (n: number): PersonaActivity => ({ watched: false, sent: { id: n, at: n }, read: null });
    const many = Array.from({ length: 6000 }, (_, n) => [`p${n}`, createActivity(n)] as const);
    const again = parseActivityReport(formatActivityReport(report({ personas: new Map(many) })));
    assert.deepEqual(
      [again?.personas.size, again?.personas.has('p999'), again?.personas.has('p1000')],
      [5000, false, true],
    );
  });

  test('is bounded, and whoever is watched stands in it', () => {
    const many = Array.from({ length: 6000 }, (_, n) => [`p${n}`, { ...NOTHING, watched: n === 5999 }] as const);
    const again = parseActivityReport(formatActivityReport(report({ personas: new Map(many) })));
    assert.deepEqual([again?.personas.size, again?.personas.has('p5999')], [5000, true]);
  });

  test('a text that is torn, foreign or has an odd field says nothing of anybody', () => {
    const text = formatActivityReport(report(ada({ sent: { id: 3, at: NOW } })));
    for (let cut = 0; cut < text.length - 2; cut += 7) assert.equal(parseActivityReport(text.slice(0, cut)), null);
    for (const [from, to] of [
      ['"schema":1', '"schema":2'],
      ['"observed_to_id":20', '"observed_to_id":true'],
      ['"observation_floor_id":10', '"observation_floor_id":"10"'],
      ['"id":3', '"id":3.5'],
      ['"blind":{}', '"blind":{"cy":1}'],
      ['"blind":{}', '"blind":[]'],
      ['"watched":true', '"watched":1'],
      ['"stale_after_seconds":180', '"stale_after_seconds":-1'],
    ] as const) {
      assert.ok(text.includes(from));
      assert.equal(parseActivityReport(text.replace(from, to)), null, to);
    }
  });
});
