import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type ActivityReport, activityOf, activityText, type Observed } from './activity.ts';
import { checkActivity } from './check-activity.ts';

const NOW = Date.UTC(2026, 5, 20, 10);
const NOTHING: Observed = { watched: true, sent: null, read: null };
const report = (of: Partial<ActivityReport> = {}): ActivityReport => ({
  published: NOW,
  staleAfterMs: 180_000,
  since: NOW - 3_600_000,
  floor: 10,
  upTo: 20,
  blind: new Map(),
  identity: null,
  personas: new Map([['ada', NOTHING]]),
  ...of,
});
const ask = (of: Partial<ActivityReport>, sinceId: number, waits: number | null = null, now = NOW) =>
  checkActivity(report(of), { persona: 'ada', sinceId, waits }, now);
const ada = (of: Partial<Observed>) => ({ personas: new Map([['ada', { ...NOTHING, ...of }]]) });

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
    for (const [why, of, since] of [
      ['before the watch began', {}, 9],
      ['an inbox has no position', { floor: null }, 15],
      ['an inbox can not be read', { upTo: null }, 15],
      ['an inbox was not looked at since', { upTo: 14 }, 15],
      ['its own inbox is not watched', ada({ watched: false }), 15],
      ['nobody knows the name', { personas: new Map() }, 15],
    ] as const) {
      assert.equal(ask(of, since).is, 'unobservable', why);
    }
    assert.equal(ask({}, 15, null, NOW + 180_001).is, 'unobservable', 'nobody publishes any more');
    assert.equal(ask({}, 15, null, NOW - 180_001).is, 'unobservable', 'a clock that was set back');
  });

  test('an observation, never a diagnosis', () => {
    const { words } = ask(ada({ sent: { id: 12, at: NOW } }), 15, 3);
    assert.equal(
      words,
      'ada: nothing was seen of it since message 15 after 3 waits; before that, message 12 from it was seen 2026-06-20T10:00:00.000000+00:00',
    );
    for (const one of [words, ask({}, 15).words, ask({ upTo: null }, 15).words]) {
      assert.doesNotMatch(one, /dead|stuck|hang|hung|crash|blocked|unreachable|offline|working/i);
    }
  });
});

const PLAIN = { noNullPrototype: true };

describe('the activity report as text', () => {
  const at = fc.integer({ min: 0, max: 4e12 });
  const id = fc.nat();
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
      blind: fc.array(fc.tuple(fc.string(), fc.string())).map((pairs) => new Map(pairs)),
      identity: fc.option(fc.constant(['http', 'h', 80, '/api/inbox', [['persona', '']]])),
      personas: fc.array(fc.tuple(fc.string(), observed)).map((pairs) => new Map(pairs)),
    },
    PLAIN,
  );

  test('comes back as it was, whatever the names are', () => {
    fc.assert(
      fc.property(reports, (report) => {
        const again = activityOf(activityText(report));
        for (const [name, one] of report.personas) assert.deepEqual(again?.personas.get(name), one);
        assert.equal(again?.personas.size, report.personas.size);
        assert.deepEqual({ ...again, personas: null }, { ...report, personas: null });
      }),
    );
  });

  test('is bounded, and whoever is watched stands in it', () => {
    const many = Array.from({ length: 6000 }, (_, n) => [`p${n}`, { ...NOTHING, watched: n === 5999 }] as const);
    const again = activityOf(activityText(report({ personas: new Map(many) })));
    assert.deepEqual([again?.personas.size, again?.personas.has('p5999')], [5000, true]);
  });

  test('a text that is torn, foreign or has an odd field says nothing of anybody', () => {
    const text = activityText(report(ada({ sent: { id: 3, at: NOW } })));
    for (let cut = 0; cut < text.length - 2; cut += 7) assert.equal(activityOf(text.slice(0, cut)), null);
    for (const [from, to] of [
      ['"schema":1', '"schema":2'],
      ['"observed_to_id":20', '"observed_to_id":true'],
      ['"observation_floor_id":10', '"observation_floor_id":"10"'],
      ['"id":3', '"id":3.5'],
      ['"watched":true', '"watched":1'],
      ['"stale_after_seconds":180', '"stale_after_seconds":-1'],
    ] as const) {
      assert.ok(text.includes(from));
      assert.equal(activityOf(text.replace(from, to)), null, to);
    }
  });
});
