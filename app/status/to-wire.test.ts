import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Value } from 'typebox/value';
import { createBoard, type Fact, NOTHING_REPORTED, pickReport } from '../../core/board/index.ts';
import { AGENT_STATE_NOT_REPORTED, type Count, exactly, Fault, UNKNOWN } from '../../core/model/index.ts';
import { toWire } from './to-wire.ts';
import { StatusWire } from './wire.ts';

const NOW = Date.UTC(2026, 5, 20, 10);
const META = { now: NOW, version: '1.2.3', port: 7475 };

const fault = new Fault('refused', 'connect to 127.0.0.1:7474 was refused', { is: 'source', key: 'h' });
function joined(persona: string): Fact {
  const paths = { stem: persona, eventsFile: `/state/events.${persona}.ndjson` };
  return {
    is: 'joined',
    at: NOW - 9000,
    persona,
    source: 'kijito',
    address: persona,
    label: persona,
    ...paths,
    lastEventId: null,
    staleAfterMs: 5000,
  };
}
function toPolled(persona: string, unread: Count): Fact {
  const at = NOW - 1000;
  return {
    is: 'polled',
    at,
    persona,
    health: { is: 'up', since: at },
    unread,
    urgent: exactly(0),
    agentState: AGENT_STATE_NOT_REPORTED,
    cursor: 7,
  };
}
function createWire(...facts: Fact[]): StatusWire {
  const board = createBoard();
  for (const fact of facts) board.put(fact);
  return toWire(board.snapshot(), META);
}
function valid(wire: unknown): void {
  assert.deepEqual([...Value.Errors(StatusWire, wire)], []);
}

test('what the agent does has its beginning, folder and model where they are known', () => {
  const state = { is: 'waiting', why: 'permission', since: NOW - 1500, cwd: '/w/shop', model: 'opus' } as const;
  const report: Fact = { is: 'agent', at: NOW, persona: 'ada', reporter: 'hook', state };
  const wire = createWire(joined('ada'), report, toPolled('ada', exactly(3)));
  valid(wire);
  const { agent, agentReason, agentSince, cwd, model } = wire.personas[0] ?? assert.fail();
  const since = '2026-06-20T09:59:58.500000+00:00';
  assert.deepEqual([agent, agentReason, agentSince, cwd, model], ['waiting', 'permission', since, '/w/shop', 'opus']);
});

test('a persona has exactly the keys of the specification, in its order', () => {
  const wire = createWire(joined('ada'), toPolled('ada', exactly(3)));
  valid(wire);
  assert.deepEqual(wire.personas[0], {
    id: 'ada',
    stem: 'ada',
    source: 'kijito',
    label: 'ada',
    state: 'UP',
    reason: null,
    since: '2026-06-20T09:59:59.000000+00:00',
    agent: 'unknown',
    agentReason: 'not-reported',
    agentText: null,
    agentSince: null,
    cwd: null,
    model: null,
    unread: 3,
    unreadIs: 'exact',
    urgent: 0,
    cursor: 7,
    lastEventId: null,
    lastMailAt: null,
    asOf: '2026-06-20T09:59:59.000000+00:00',
    staleAfter: '2026-06-20T10:00:04.000000+00:00',
    ...pickReport(NOTHING_REPORTED),
    gates: [],
    daemon: null,
    muted: null,
    canMarkRead: false,
    canReply: false,
    hidden: false,
    eventsFile: '/state/events.ada.ndjson',
  });
  assert.deepEqual(Object.keys(wire), Object.keys(StatusWire.properties));
  assert.deepEqual(Object.keys(wire.totals), Object.keys(StatusWire.properties.totals.properties));
});

test('of a persona of this machine also what is pending by priority, and its open gates without their text', () => {
  const gate = { id: 'ship', hook: 'Stop', mode: 'strict', description: 'secret words' } as const;
  const values = { pending: [1, 0, 2, 0, 0], gates: [gate] } as const;
  const wire = createWire(joined('ada'), { is: 'reported', at: NOW, persona: 'ada', values });
  valid(wire);
  assert.deepEqual(wire.personas[0]?.pending, [1, 0, 2, 0, 0]);
  assert.deepEqual(wire.personas[0]?.gates, [{ id: 'ship', hook: 'Stop', mode: 'strict' }]);
});

test('an open decision is named and not told: the words of agents are not in the status', () => {
  const options = [{ id: 'y', short: 'secret', label: 'secret' }];
  const words = { prompt: 'secret', context: 'secret', options, freeText: false, fallback: 'y' };
  const asked = {
    id: 4,
    persona: 'ada',
    ...words,
    urgency: 'high',
    blocking: true,
    created: NOW,
    expires: null,
  } as const;
  const wire = createWire({ is: 'decisions', at: NOW, decisions: [asked] });
  valid(wire);
  assert.deepEqual(wire.decisions, [
    {
      id: 4,
      persona: 'ada',
      urgency: 'high',
      blocking: true,
      created: '2026-06-20T10:00:00.000000+00:00',
      expires: null,
    },
  ]);
  assert.ok(!JSON.stringify(wire).includes('secret'));
});

test('a number that is not known is null and says so, and is never 0', () => {
  const wire = createWire(joined('ada'));
  valid(wire);
  assert.deepEqual(
    [wire.personas[0]?.unread, wire.personas[0]?.unreadIs, wire.personas[0]?.state],
    [null, 'unknown', 'PENDING'],
  );
  assert.deepEqual([wire.totals.unread, wire.totals.unreadIs], [null, 'unknown']);
});

test('a lower bound says that it is one, and makes the total one', () => {
  const wire = createWire(
    joined('ada'),
    joined('bo'),
    toPolled('ada', { is: 'atLeast', n: 200 }),
    toPolled('bo', exactly(1)),
  );
  assert.deepEqual([wire.personas[0]?.unread, wire.personas[0]?.unreadIs], [200, 'atLeast']);
  assert.deepEqual([wire.totals.unread, wire.totals.unreadIs], [201, 'atLeast']);
});

test('failing below the threshold is UP with its reason, down is DOWN and a cause', () => {
  const failing = createWire(joined('ada'), {
    is: 'failed',
    at: NOW,
    persona: 'ada',
    fault,
    health: { is: 'failing', failures: 1, why: 'refused' },
  });
  assert.equal(failing.personas[0]?.state, 'UP');
  assert.match(failing.personas[0]?.reason ?? '', /127\.0\.0\.1:7474.*running/);
  const down = createWire(joined('ada'), {
    is: 'failed',
    at: NOW,
    persona: 'ada',
    fault,
    health: { is: 'down', since: NOW, failures: 3, why: 'refused' },
  });
  valid(down);
  assert.equal(down.personas[0]?.state, 'DOWN');
  assert.deepEqual(down.causes[0]?.personas, ['ada']);
});

test('events that wait are a reason although the inbox is UP', () => {
  const full = new Fault('no-space', 'no space left', { is: 'machine', key: 'disk' });
  const wire = createWire(joined('ada'), toPolled('ada', exactly(1)), {
    is: 'held',
    at: NOW,
    persona: 'ada',
    fault: full,
  });
  assert.equal(wire.personas[0]?.state, 'UP');
  assert.match(wire.personas[0]?.reason ?? '', /no space left/);
});

test('a mute is an end, "forever" or null, and is over when its time is, also between two facts', () => {
  const until = (at: number): string | null | undefined =>
    createWire(joined('ada'), { is: 'muted', at: NOW - 5000, persona: 'ada', until: { is: 'at', at } }).personas[0]
      ?.muted;
  assert.equal(until(NOW + 60_000), '2026-06-20T10:01:00.000000+00:00');
  assert.equal(until(NOW), null);
  assert.equal(
    createWire({ is: 'muted', at: 1, persona: null, until: { is: 'forever' } }).notifications.pausedUntil,
    'forever',
  );
});

test('a source that has not said where it is has no address', () => {
  assert.equal(createWire(joined('ada')).hives[0]?.address, null);
  valid(createWire(joined('ada'), { is: 'source', at: 1, source: 'kijito', address: 'http://h', fault }));
});

test('property: whatever is known, what is emitted fits the schema', () => {
  const count = fc.oneof(
    fc.nat().map(exactly),
    fc.nat().map((n): Count => ({ is: 'atLeast', n })),
    fc.constant(UNKNOWN),
  );
  const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
  const history = fc.array(fc.tuple(name, count, fc.boolean()), { maxLength: 8 });
  fc.assert(
    fc.property(history, (rows) => {
      const facts = rows.flatMap(([persona, unread, down]): Fact[] => [
        joined(persona),
        toPolled(persona, unread),
        ...(down
          ? [
              {
                is: 'failed',
                at: NOW,
                persona,
                fault,
                health: { is: 'down', since: NOW, failures: 3, why: 'refused' },
              } as const,
            ]
          : []),
      ]);
      valid(JSON.parse(JSON.stringify(createWire(...facts))));
    }),
  );
});

test('F2 how well the urgent number is known stands beside it', () => {
  const counted = (persona: string, urgent: Count): Fact => ({
    ...{ is: 'counted', at: NOW, counts: [{ persona, unread: exactly(3), urgent }] },
  });
  const wire = createWire(joined('ada'), joined('bo'), counted('ada', exactly(1)), counted('bo', { is: 'unknown' }));
  valid(wire);
  assert.deepEqual([wire.totals.urgent, wire.totals.urgentIs], [1, 'atLeast']);
});
