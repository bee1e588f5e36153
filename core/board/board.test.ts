import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  AGENT_STATE_NOT_REPORTED,
  addCounts,
  type Count,
  exactly,
  Fault,
  formatIso,
  type Health,
  UNKNOWN,
} from '../model/index.ts';
import {
  type Board,
  createBoard,
  EMPTY_BOARD,
  type Fact,
  fold,
  type OpenDecision,
  type Snapshot,
  toSnapshot,
} from './index.ts';

const HIVE = 'http://127.0.0.1:7474';
const refused = (key = HIVE, message = `connect to ${key} was refused`): Fault =>
  new Fault('refused', message, { is: 'source', key });

function join(persona: string, at = 0, source = 'kijito'): Fact {
  const eventsFile = `/state/events.${persona}.ndjson`;
  return {
    is: 'joined',
    at,
    persona,
    source,
    address: persona,
    label: persona,
    stem: persona,
    eventsFile,
    lastEventId: null,
    staleAfterMs: 90_000,
  };
}
function poll(persona: string, at: number, unread: number, health: Health = { is: 'up', since: at }): Fact {
  return {
    is: 'polled',
    at,
    persona,
    health,
    unread: exactly(unread),
    urgent: exactly(0),
    agentState: AGENT_STATE_NOT_REPORTED,
    cursor: unread,
  };
}
function down(persona: string, at: number, fault = refused(), failures = 3): Fact {
  return { is: 'failed', at, persona, fault, health: { is: 'down', since: at, failures, why: fault.code } };
}
function mail(persona: string, at: number, ...ids: number[]): Fact {
  const events = ids.map((id) => ({
    event: 'new' as const,
    source: 'kijito-inbox',
    ts: formatIso(at),
    id,
    from: 'bo',
    created: 'c',
    persona,
    event_id: `${persona}:new:${id}`,
    wake_class: 'mail' as const,
  }));
  return { is: 'delivered', at, persona, events };
}
function local(persona: string, at: number, urgent: number, gates: readonly string[]): Fact {
  const gate = { hook: 'Stop', mode: 'strict', description: 'tests pass' } as const;
  return {
    is: 'reported',
    at,
    persona,
    values: { pending: [0, urgent, 3, 0, 0], gates: gates.map((id) => ({ id, ...gate })) },
  };
}
function asks(id: number, persona: string, blocking = false): OpenDecision {
  const options = [{ id: 'y', short: 'Yes', label: 'Yes' }];
  const more = { context: null, freeText: true, fallback: null, urgency: 'normal', expires: null } as const;
  return { id, persona, prompt: `question ${id}`, options, blocking, created: id, ...more };
}
function createBoardOfFacts(...facts: Fact[]): Board {
  const board = createBoard();
  for (const fact of facts) board.put(fact);
  return board;
}
function only(snapshot: Snapshot) {
  const [persona] = snapshot.personas;
  assert.ok(persona !== undefined);
  return persona;
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a persona that joined is PENDING with unknown counts, never with zero', () => {
  const snapshot = createBoardOfFacts(join('ada', 5)).snapshot();
  const ada = only(snapshot);
  assert.deepEqual(ada.health, { is: 'unseen' });
  assert.deepEqual([ada.unread, ada.asOf, ada.staleAfter], [UNKNOWN, null, null]);
  assert.deepEqual(snapshot.totals, { unread: UNKNOWN, urgent: UNKNOWN, up: 0, down: 0, personas: 1 });
});

test('an empty board has exactly nothing unread', () => {
  assert.deepEqual(createBoard().snapshot().totals.unread, exactly(0));
});

test('a look shows at once what was counted, when, and from when on it is old', () => {
  const ada = only(createBoardOfFacts(join('ada'), poll('ada', 1000, 3)).snapshot());
  assert.deepEqual([ada.unread, ada.asOf, ada.staleAfter], [exactly(3), 1000, 91_000]);
  assert.equal(ada.since, 1000);
});

test('a pending list moves the counts and nothing else', () => {
  const board = createBoardOfFacts(join('ada'), poll('ada', 1, 3), down('ada', 2));
  board.put({ is: 'counted', at: 3, counts: [{ persona: 'ada', unread: exactly(7), urgent: exactly(2) }] });
  const ada = only(board.snapshot());
  assert.equal(ada.health.is, 'down');
  assert.deepEqual(ada.urgent, exactly(2));
  assert.equal(ada.asOf, 3);
});

test('mail counts as an event only when it was told, not when it was seen', () => {
  const board = createBoardOfFacts(join('ada'), poll('ada', 1, 3));
  assert.equal(only(board.snapshot()).lastEventId, null);
  board.put(mail('ada', 9, 41, 42));
  assert.equal(only(board.snapshot()).lastEventId, 'ada:new:42');
  assert.equal(only(board.snapshot()).lastMailAt, 9);
});

test('A10 the time of the last mail is the message’s own, and never after the moment it was delivered', () => {
  const delivered = mail('ada', 9, 41, 42) as Extract<Fact, { is: 'delivered' }>;
  const at = Date.UTC(2026, 10, 29, 12);
  const written = (...times: readonly (string | null)[]): number | null => {
    const events = delivered.events.slice(0, times.length).map((event, i) => {
      return { ...event, ts: formatIso(at), created: times[i] ?? null } as (typeof delivered.events)[number];
    });
    return only(createBoardOfFacts(join('ada'), { ...delivered, events }).snapshot()).lastMailAt;
  };
  assert.equal(written('2026-01-02T03:04:05.006Z'), Date.UTC(2026, 0, 2, 3, 4, 5, 6));
  assert.equal(written('2026-01-02T03:04:05'), Date.UTC(2026, 0, 2, 3, 4, 5));
  assert.equal(written('2026-01-02T03:04:05.500+09:00'), Date.UTC(2026, 0, 1, 18, 4, 5, 500));
  assert.equal(written('2026-01-02T03:04:05Z', '2025-01-02T03:04:05Z'), Date.UTC(2026, 0, 2, 3, 4, 5));
  for (const none of ['2027-01-01T00:00:00Z', 'yesterday', '', null]) assert.equal(written(none), at, String(none));
});

test('the time of mail that does not say its own is the one of its line, whenever the sink took it', () => {
  const board = createBoardOfFacts(join('ada'));
  board.put({ ...(mail('ada', 9, 41) as Extract<Fact, { is: 'delivered' }>), at: 12 });
  assert.equal(only(board.snapshot()).lastMailAt, 9);
});

test('S2: after an outage the first good look with nothing unread shows UP again, and says so to every surface', async () => {
  const board = createBoardOfFacts(join('ada'), poll('ada', 1, 0), down('ada', 2));
  const seen: string[] = [];
  await turn();
  board.changes((snapshot) => seen.push(`${only(snapshot).health.is} ${snapshot.causes.length}`));
  board.put(poll('ada', 3, 0));
  await turn();
  assert.deepEqual(seen, ['up 0']);
  assert.equal(only(board.snapshot()).reason, null);
  assert.equal(only(board.snapshot()).since, 3);
});

test('failures below the threshold stay UP with a reason, and do not restart "since"', () => {
  const failing: Fact = {
    is: 'failed',
    at: 5,
    persona: 'ada',
    fault: refused(),
    health: { is: 'failing', failures: 1, why: 'refused' },
  };
  const board = createBoardOfFacts(join('ada'), poll('ada', 1, 0), failing);
  assert.equal(board.snapshot().totals.up, 1);
  assert.match(only(board.snapshot()).reason ?? '', /refused/);
  assert.deepEqual(board.snapshot().causes, []);
  board.put(poll('ada', 6, 0));
  assert.equal(only(board.snapshot()).since, 1);
});

test('S4: sixty personas that lose one hive are one cause that names them all', () => {
  const names = Array.from({ length: 60 }, (_, i) => `p${String(i).padStart(2, '0')}`);
  const board = createBoardOfFacts(...names.map((name) => join(name)), ...names.map((name, i) => down(name, 100 + i)));
  const { causes, totals, hives } = board.snapshot();
  assert.equal(totals.down, 60);
  assert.deepEqual(
    causes.map((cause) => [cause.key, cause.scope, cause.since, cause.personas.length]),
    [[HIVE, 'source', 100, 60]],
  );
  assert.equal(hives[0]?.state, 'DOWN');
});

test('S4: sixty personas on three hives are three causes, oldest first', () => {
  const facts = Array.from({ length: 60 }, (_, i) => [
    join(`p${i}`, 0, `h${i % 3}`),
    down(`p${i}`, 10 - (i % 3), refused(`hive-${i % 3}`)),
  ]);
  const { causes, hives } = createBoardOfFacts(...facts.flat()).snapshot();
  assert.deepEqual(
    causes.map((cause) => cause.key),
    ['hive-2', 'hive-1', 'hive-0'],
  );
  assert.equal(hives.length, 3);
});

test('a source that cannot say who is there is a cause of its own, and is one with its personas', () => {
  const board = createBoardOfFacts({ is: 'source', at: 1, source: 'kijito', address: HIVE, fault: refused() });
  assert.deepEqual(board.snapshot().causes[0]?.personas, []);
  assert.deepEqual(
    board.snapshot().hives.map((hive) => [hive.address, hive.state]),
    [[HIVE, 'DOWN']],
  );
  board.put(join('ada'));
  board.put(down('ada', 2));
  assert.deepEqual(
    board.snapshot().causes.map((cause) => [cause.since, cause.personas]),
    [[1, ['ada']]],
  );
  board.put({ is: 'source', at: 3, source: 'kijito', address: HIVE, fault: null });
  board.put(poll('ada', 4, 0));
  assert.deepEqual(board.snapshot().causes, []);
  assert.equal(board.snapshot().hives[0]?.state, 'UP');
});

test('a full disk is a cause although every inbox is UP, and ends when the sink takes again', () => {
  const full = new Fault('no-space', 'write of /state/hivebar.sqlite: no space left', { is: 'machine', key: 'disk' });
  const board = createBoardOfFacts(join('ada'), join('bo'), poll('ada', 1, 1), poll('bo', 1, 1));
  for (const [i, persona] of ['ada', 'bo', 'ada'].entries()) board.put({ is: 'held', at: 2 + i, persona, fault: full });
  const { causes, totals } = board.snapshot();
  assert.equal(totals.up, 2);
  assert.deepEqual(
    causes.map((cause) => [cause.scope, cause.since, cause.personas]),
    [['machine', 2, ['ada', 'bo']]],
  );
  board.put(mail('ada', 5, 1));
  board.put({ is: 'delivered', at: 6, persona: 'bo', events: [] });
  assert.deepEqual(board.snapshot().causes, []);
});

test('trouble of this machine is a cause of its own until it is over, and a new picture each time', () => {
  const fault = new Fault('store-damaged', 'hivebar.sqlite was damaged', { is: 'machine', key: 'store' });
  const board = createBoardOfFacts(join('ada'), poll('ada', 1, 1));
  const { rev } = board.snapshot();
  board.put({ is: 'machine', at: 2, key: 'store', fault });
  const { causes, rev: next } = board.snapshot();
  assert.ok(next > rev);
  assert.deepEqual(
    causes.map(({ key, scope, personas }) => [key, scope, personas]),
    [['store', 'machine', []]],
  );
  board.put({ is: 'machine', at: 3, key: 'store', fault: null });
  assert.deepEqual(board.snapshot().causes, []);
});

test('a quiet tick changes no rev and calls nobody, but the numbers are fresh', async () => {
  const board = createBoardOfFacts(join('ada'), poll('ada', 1000, 3));
  await turn();
  const before = board.snapshot();
  let calls = 0;
  board.changes(() => calls++);
  board.put({ ...poll('ada', 2000, 3), health: { is: 'up', since: 1000 } } as Fact);
  await turn();
  assert.equal(calls, 0);
  assert.equal(board.snapshot().rev, before.rev);
  assert.equal(only(board.snapshot()).asOf, 2000);
});

test('an outage that goes on does not repaint with every further failure', async () => {
  const board = createBoardOfFacts(join('ada'), down('ada', 1));
  const { rev } = board.snapshot();
  board.put({ ...down('ada', 2), health: { is: 'down', since: 1, failures: 4, why: 'refused' } } as Fact);
  assert.equal(board.snapshot().rev, rev);
});

test('any number of facts of one turn is one change', async () => {
  const board = createBoard();
  const revs: number[] = [];
  board.changes((snapshot) => revs.push(snapshot.rev));
  for (let i = 0; i < 100; i++) board.put(join(`p${i}`));
  await turn();
  assert.deepEqual(revs, [1]);
  assert.equal(board.snapshot(), board.snapshot(), 'no fact, no new snapshot');
});

test('fact listeners see every fact in one order, after it is in the snapshot, also facts put by a listener', () => {
  const board = createBoard();
  const seen: string[] = [];
  board.facts((fact, at) => {
    if (fact.is === 'joined' && fact.persona === 'ada') board.put(join('bo'));
    seen.push(`1:${fact.is === 'joined' ? fact.persona : ''}:${at.snapshot().personas.length}`);
  });
  board.facts((fact) => seen.push(`2:${fact.is === 'joined' ? fact.persona : ''}`));
  board.put(join('ada'));
  assert.deepEqual(seen, ['1:ada:1', '2:ada', '1:bo:2', '2:bo']);
});

test('a listener that throws is logged, stays, and keeps nobody else from hearing', () => {
  const logged: string[] = [];
  const board = createBoard({ info() {}, warn() {}, error: (line) => logged.push(line) });
  let heard = 0;
  board.facts(() => {
    throw new Error('tray fell over');
  });
  const second = board.facts(() => heard++);
  board.put(join('ada'));
  board.put(join('bo'));
  second[Symbol.dispose]();
  board.put(join('cy'));
  assert.equal(logged.length, 3);
  assert.equal(heard, 2);
});

test('a mute holds for a persona that joins later, and ends by itself at its time', () => {
  const board = createBoardOfFacts(
    { is: 'muted', at: 1, persona: 'ada', until: { is: 'at', at: 50 } },
    join('ada', 2),
    join('bo', 2),
  );
  assert.deepEqual(only(board.snapshot()).muted, { is: 'at', at: 50 });
  const { rev } = board.snapshot();
  board.put(poll('bo', 49, 0));
  board.put({ ...poll('bo', 50, 0), health: { is: 'up', since: 49 } } as Fact);
  assert.deepEqual(only(board.snapshot()).muted, { is: 'never' });
  assert.ok(board.snapshot().rev > rev);
});

test('what is reported of an agent counts when its persona joins later, and when it comes back', () => {
  const board = createBoard();
  const state = { is: 'waiting', why: 'permission', since: 5 } as const;
  const report = (reported: typeof state | null): void =>
    board.put({ is: 'agent', at: 1, persona: 'ada', reporter: 'hook', state: reported });
  const shows = (): string | undefined => board.snapshot().personas[0]?.agentState.is;
  report(state);
  board.put(join('ada'));
  assert.equal(shows(), 'waiting');
  board.put({ is: 'left', at: 2, persona: 'ada' });
  board.put(join('ada'));
  assert.equal(shows(), 'waiting');
  board.put({ is: 'left', at: 3, persona: 'ada' });
  report(null);
  board.put(join('ada'));
  assert.equal(shows(), 'unknown');
});

test('"Pause notifications" is of the board, not of a persona', () => {
  const board = createBoardOfFacts(join('ada'), { is: 'muted', at: 1, persona: null, until: { is: 'forever' } });
  assert.deepEqual(board.snapshot().paused, { is: 'forever' });
  assert.deepEqual(only(board.snapshot()).muted, { is: 'never' });
});

test('a persona that left is gone, and late facts about it change nothing', () => {
  const board = createBoardOfFacts(join('ada'), { is: 'left', at: 1, persona: 'ada' });
  const { rev } = board.snapshot();
  board.put(poll('ada', 2, 9));
  assert.deepEqual(board.snapshot().personas, []);
  assert.equal(board.snapshot().rev, rev);
});

test('a persona that joins again under another label keeps what is known of its inbox', () => {
  const board = createBoardOfFacts(join('ada'), poll('ada', 1, 4), { ...join('ada', 2), label: 'Ada L.' } as Fact);
  assert.equal(only(board.snapshot()).label, 'Ada L.');
  assert.deepEqual(only(board.snapshot()).unread, exactly(4));
});

test('personas are in code-unit order, whatever the order they joined in', () => {
  const board = createBoardOfFacts(...['b', 'é', 'A', 'a', '10', '2', 'e\u0301'].map((name) => join(name)));
  assert.deepEqual(
    board.snapshot().personas.map((persona) => persona.id),
    ['10', '2', 'A', 'a', 'b', 'e\u0301', 'é'],
  );
});

test('folding leaves the state before as it was', () => {
  const state = fold(EMPTY_BOARD, [join('ada')]);
  const before = structuredClone(toSnapshot(state, 0, 0));
  fold(state, [poll('ada', 5, 9)]);
  fold(state, [{ is: 'left', at: 6, persona: 'ada' }]);
  assert.deepEqual(toSnapshot(state, 0, 0), before);
});

/** The dumb model: a plain object a persona, totals by adding everything up again. */
interface Dumb {
  unread: Count;
  health: Health['is'];
  key: string | null;
  held: boolean;
  last: string | null;
}

const name = fc.constantFrom('ada', 'bo', 'cy', 'Ada', 'd');
const count = fc.oneof(
  fc.nat(9).map(exactly),
  fc.nat(9).map((n): Count => ({ is: 'atLeast', n })),
  fc.constant(UNKNOWN),
);
const anyFact: fc.Arbitrary<Fact> = fc.oneof(
  name.map((n) => join(n)),
  name.map((persona): Fact => ({ is: 'left', at: 1, persona })),
  fc.tuple(name, fc.nat(50), count).map(([n, at, unread]): Fact => ({ ...poll(n, at, 0), unread }) as Fact),
  fc
    .tuple(name, fc.nat(50), count)
    .map(([persona, at, unread]): Fact => ({ is: 'counted', at, counts: [{ persona, unread, urgent: unread }] })),
  fc.tuple(name, fc.nat(50), fc.constantFrom('h1', 'h2')).map(([n, at, key]) => down(n, at, refused(key))),
  fc.tuple(name, fc.nat(50)).map(([persona, at]): Fact => ({ is: 'held', at, persona, fault: refused('disk') })),
  fc.tuple(name, fc.nat(50), fc.nat(99)).map(([n, at, id]) => mail(n, at, id)),
  fc
    .tuple(name, fc.nat(50), fc.nat(2), fc.subarray(['a', 'b']))
    .map(([n, at, urgent, gates]) => local(n, at, urgent, gates)),
  fc
    .tuple(fc.nat(50), fc.subarray([1, 2, 3]), fc.boolean())
    .map(
      ([at, ids, blocking]): Fact => ({ is: 'decisions', at, decisions: ids.map((id) => asks(id, 'ada', blocking)) }),
    ),
);

test('property: any history gives what a model gives that adds everything up anew, and rev rises exactly with the picture', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyFact, { maxLength: 60 }), async (facts) => {
      const board = createBoard();
      const model = new Map<string, Dumb>();
      let snapshotText = '';
      let rev = 0;
      for (const fact of facts) {
        board.put(fact);
        play(model, fact);
        const snapshot = board.snapshot();
        assert.deepEqual(
          snapshot.personas.map((p) => [p.id, p.unread, p.health.is, p.lastEventId, p.held !== null]),
          [...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, m]) => [id, m.unread, m.health, m.last, m.held]),
        );
        assert.deepEqual(snapshot.totals.unread, addCounts([...model.values()].map((m) => m.unread)));
        assert.equal(snapshot.totals.down, [...model.values()].filter((m) => m.health === 'down').length);
        assert.equal(snapshot.totals.up, [...model.values()].filter((m) => m.health === 'up').length);
        const keys = new Set(
          [...model.values()].flatMap((m) => [...(m.key === null ? [] : [m.key]), ...(m.held ? ['disk'] : [])]),
        );
        assert.deepEqual(snapshot.causes.map((cause) => cause.key).sort(), [...keys].sort());
        const now = describeSnapshot(snapshot);
        if (rev !== snapshot.rev) assert.equal(snapshot.rev, rev + 1, 'one fact, at most one step');
        assert.equal(
          now !== snapshotText && snapshotText !== '' ? snapshot.rev > rev : true,
          true,
          'a changed picture raises rev',
        );
        if (now === snapshotText) assert.equal(snapshot.rev, rev, 'an unchanged picture does not');
        snapshotText = now;
        rev = snapshot.rev;
      }
    }),
    { numRuns: 300 },
  );
});

function play(model: Map<string, Dumb>, fact: Fact): void {
  if (fact.is === 'joined' && !model.has(fact.persona)) {
    model.set(fact.persona, { unread: UNKNOWN, health: 'unseen', key: null, held: false, last: null });
  }
  if (fact.is === 'counted') {
    for (const { persona, unread } of fact.counts) {
      const known = model.get(persona);
      if (known !== undefined) known.unread = unread;
    }
  }
  if (!('persona' in fact) || fact.persona === null) return;
  const expected = model.get(fact.persona);
  if (expected === undefined) return;
  if (fact.is === 'left') model.delete(fact.persona);
  if (fact.is === 'polled') expected.unread = fact.unread;
  if (fact.is === 'polled') Object.assign(expected, { health: 'up', key: null });
  if (fact.is === 'failed') Object.assign(expected, { health: 'down', key: fact.fault.scope.key });
  if (fact.is === 'held') expected.held = true;
  if (fact.is === 'delivered')
    Object.assign(expected, { held: false, last: fact.events.at(-1)?.event_id ?? expected.last });
}

function describeSnapshot(snapshot: Snapshot): string {
  const personas = snapshot.personas.map((p) => ({
    ...p,
    asOf: null,
    staleAfter: null,
    // Since when it is down is shown; two that share a cause may hide it from the cause.
    health: p.health.is === 'down' ? `down since ${p.health.since}` : p.health.is,
  }));
  return JSON.stringify({ ...snapshot, rev: 0, personas });
}

test('the newest five messages stay on the board, newest first; what a former run told is shown but is no news', () => {
  const board = createBoardOfFacts(join('ada'));
  const recalled = mail('ada', 1, 1, 2) as Extract<Fact, { is: 'delivered' }>;
  const events = recalled.events.map((event) => ({ ...event, ts: formatIso(3) }));
  board.put({ ...recalled, events, is: 'recalled' });
  assert.deepEqual(only(board.snapshot()).lastMailAt, 3);
  assert.equal(only(board.snapshot()).lastEventId, null);
  board.put(mail('ada', 5, 3, 4, 5, 6));
  const { latestMessages: latest, lastMailAt } = only(board.snapshot());
  assert.deepEqual([latest.map(({ id }) => id), lastMailAt], [[6, 5, 4, 3, 2], 5]);
  board.put({ ...recalled, is: 'recalled' });
  assert.deepEqual(
    only(board.snapshot()).latestMessages.map(({ id }) => id),
    [6, 5, 4, 3, 2],
  );
});

test('a message on the board is cut, however long it is', () => {
  const fact = mail('ada', 1, 1) as Extract<Fact, { is: 'delivered' }>;
  const events = fact.events.map((event) => ({ ...event, from: 'f'.repeat(9000), content: 'c'.repeat(100_000) }));
  const [preview] = only(createBoardOfFacts(join('ada'), { ...fact, events }).snapshot()).latestMessages;
  assert.deepEqual([preview?.from.length, preview?.text?.length], [100, 300]);
});

test('a message has the subject and the link that its source gave; a subject is cut, and a link that is no whole text is none', () => {
  const fact = mail('ada', 1, 1) as Extract<Fact, { is: 'delivered' }>;
  const show = (extra: object): unknown => {
    const events = fact.events.map((event) => ({ ...event, ...extra }));
    const [preview] = only(createBoardOfFacts(join('ada'), { ...fact, events }).snapshot()).latestMessages;
    return [preview?.subject, preview?.link];
  };
  assert.deepEqual(show({ subject: 'Build', link: 'https://h/1' }), ['Build', 'https://h/1']);
  assert.deepEqual(show({}), ['', null]);
  assert.deepEqual(show({ subject: 5, link: true }), ['', null]);
  assert.deepEqual(show({ subject: 's'.repeat(900), link: `https://h/${'x'.repeat(3000)}` }), ['s'.repeat(200), null]);
});

test('a message is urgent, has a priority and is a question as its source says', () => {
  const fact = mail('ada', 1, 1) as Extract<Fact, { is: 'delivered' }>;
  const show = (extra: object): unknown => {
    const events = fact.events.map((event) => ({ ...event, ...extra }));
    const [preview] = only(createBoardOfFacts(join('ada'), { ...fact, events }).snapshot()).latestMessages;
    return [preview?.isUrgent, preview?.priority, preview?.isQuestion];
  };
  assert.deepEqual(show({}), [false, null, false]);
  assert.deepEqual(show({ urgent: true }), [true, null, false]);
  assert.deepEqual(show({ priority: 'urgent' }), [true, null, false]);
  assert.deepEqual(show({ priority: 1 }), [true, 1, false]);
  assert.deepEqual(show({ priority: 3, urgent: 'yes' }), [false, 3, false]);
  assert.deepEqual(show({ priority: 7, event: 'question' }), [false, null, true]);
});

test('a message of whom nobody knows who wrote it, and when, is on the board; what becomes of it moves no time of mail', () => {
  const fact = mail('ada', 1, 7) as Extract<Fact, { is: 'delivered' }>;
  const events = fact.events.map((event) => ({ ...event, from: null, created: null }) as (typeof fact.events)[number]);
  const board = createBoardOfFacts(join('ada'), { ...fact, events });
  const read = { source: 's', ts: 't', persona: 'ada', event: 'read', id: 3, wake_class: 'liveness' } as const;
  board.put({ is: 'delivered', at: 5, persona: 'ada', events: [{ ...read, event_id: 'ada:read:3-1' }] });
  const { latestMessages: latest, lastMailAt, lastEventId, cursor } = only(board.snapshot());
  assert.deepEqual(latest, [
    {
      ...{ id: 7, from: '', created: '', subject: '', text: latest[0]?.text ?? null, link: null },
      ...{ isQuestion: false, isUrgent: false, priority: null },
    },
  ]);
  assert.deepEqual([lastMailAt, lastEventId, cursor], [1, 'ada:read:3-1', 7]);
});

test('work that came is among the latest, with its time and its number', () => {
  const fact = mail('ada', 1, 7) as Extract<Fact, { is: 'delivered' }>;
  const events = fact.events.map((event) => ({ ...event, event: 'assigned' }) as (typeof fact.events)[number]);
  const {
    latestMessages: latest,
    lastMailAt,
    cursor,
  } = only(createBoardOfFacts(join('ada'), { ...fact, events }).snapshot());
  assert.deepEqual([latest.map(({ id }) => id), lastMailAt, cursor], [[7], 1, 7]);
});

test('who is hidden is watched and listed, and left out of totals and causes, also when hidden before it joined', () => {
  const hidden = { is: 'hidden', at: 0, persona: 'ada', hidden: true } as const;
  const board = createBoardOfFacts(hidden, join('ada'), join('bo'), poll('ada', 1, 3), poll('bo', 1, 2));
  assert.deepEqual(
    board.snapshot().personas.map((p) => p.hidden),
    [true, false],
  );
  assert.deepEqual(board.snapshot().totals, { unread: exactly(2), urgent: exactly(0), up: 1, down: 0, personas: 1 });
  board.put(down('ada', 2));
  assert.deepEqual(board.snapshot().causes, []);
  board.put({ ...hidden, hidden: false });
  assert.deepEqual([board.snapshot().causes.length, board.snapshot().totals.down], [1, 1]);
});

test('what only the hive of this machine knows stays with its persona; nothing of it is known of others', () => {
  const board = createBoardOfFacts(join('ada'), join('bo'), local('ada', 1, 2, ['ship']));
  const [ada, bo] = board.snapshot().personas;
  assert.deepEqual(ada?.pending, [0, 2, 3, 0, 0]);
  assert.deepEqual(
    ada?.gates.map(({ id }) => id),
    ['ship'],
  );
  assert.equal(bo?.pending, null);
  board.put(local('gone', 2, 0, []));
  board.put(join('ada', 3));
  assert.deepEqual(board.snapshot().personas[0]?.pending, [0, 2, 3, 0, 0]);
});

test('projects are by source; one that says the same changes nothing, and one that is withdrawn takes its hive with it', () => {
  const project = (source: string, rev: string): Fact => ({ is: 'project', at: 0, source, board: source, rev });
  const board = createBoardOfFacts(project('bc-b', '1'), project('bc-a', '1'), {
    ...join('bc-b'),
    source: 'bc-b',
  } as Fact);
  assert.deepEqual(board.snapshot().projects, [
    { source: 'bc-a', board: 'bc-a', rev: '1' },
    { source: 'bc-b', board: 'bc-b', rev: '1' },
  ]);
  const { rev } = board.snapshot();
  board.put(project('bc-a', '1'));
  assert.equal(board.snapshot().rev, rev);
  board.put(project('bc-a', '2'));
  assert.deepEqual([board.snapshot().rev, board.snapshot().projects[0]?.rev], [rev + 1, '2']);
  board.put({ is: 'left', at: 1, persona: 'bc-b' });
  board.put({ is: 'withdrawn', at: 1, source: 'bc-b' });
  const { projects, hives } = board.snapshot();
  assert.deepEqual([projects.map(({ source }) => source), hives], [['bc-a'], []]);
});

test('an agent waits while a decision is open that blocks it, for the oldest first, also when it was asked before it joined', () => {
  const asking = (at: number, ...decisions: OpenDecision[]): Fact => ({ is: 'decisions', at, decisions });
  const board = createBoardOfFacts(
    ...[join('ada'), join('bo'), asking(2, asks(1, 'ada', false), asks(2, 'ada', true), asks(3, 'new', true))],
    { is: 'agent', at: 2, persona: 'bo', reporter: 'hook', state: { is: 'working', since: 1 } },
  );
  const states = (): readonly unknown[] =>
    board.snapshot().personas.map(({ id, agentState: { is, why, decision } }) => [id, is, why, decision]);
  assert.deepEqual(states(), [
    ['ada', 'waiting', 'decision', 2],
    ['bo', 'working', undefined, undefined],
  ]);
  board.put(join('new', 3));
  assert.deepEqual(states()[2], ['new', 'waiting', 'decision', 3]);
  const { rev } = board.snapshot();
  board.put(asking(4, asks(1, 'ada', false), asks(2, 'ada', true), asks(3, 'new', true)));
  assert.equal(board.snapshot().rev, rev, 'the same decisions again change nothing');
  board.put({ is: 'left', at: 5, persona: 'new' });
  board.put(join('new', 6));
  assert.deepEqual(states()[2], ['new', 'waiting', 'decision', 3], 'who comes back waits as before');
  board.put(asking(7, asks(1, 'ada', false), asks(4, 'bo', true)));
  assert.deepEqual(states(), [
    ['ada', 'unknown', 'not-reported', null],
    ['bo', 'waiting', 'decision', 4],
    ['new', 'unknown', 'not-reported', null],
  ]);
  board.put(asking(8));
  assert.deepEqual(states()[1], ['bo', 'working', undefined, null]);
});

test('open decisions are shown also of who is not on the board, but not of who is hidden', () => {
  const board = createBoardOfFacts(
    join('ada'),
    { is: 'hidden', at: 0, persona: 'ada', hidden: true },
    { is: 'decisions', at: 1, decisions: [asks(1, 'ada'), asks(2, 'new')] },
  );
  const ids = (): readonly number[] => board.snapshot().decisions.map(({ id }) => id);
  assert.deepEqual(ids(), [2]);
  board.put({ is: 'hidden', at: 0, persona: 'ada', hidden: false });
  assert.deepEqual(ids(), [1, 2]);
  board.put({ is: 'decisions', at: 2, decisions: [] });
  assert.deepEqual(ids(), []);
});

test('given a state before this run, the first poll that finds the same goes on with it, and any other begins anew', () => {
  const remember = (state: 'up' | 'down'): Fact => ({ is: 'remembered', at: 50, persona: 'ada', state, since: 7 });
  const since = (...facts: Fact[]): unknown => only(createBoardOfFacts(join('ada', 50), ...facts).snapshot()).since;
  assert.equal(since(remember('up')), 50, 'nothing is said before a poll');
  assert.equal(since(remember('up'), poll('ada', 60, 1)), 7);
  assert.equal(since(remember('down'), poll('ada', 60, 1)), 60);
  assert.equal(since(remember('down'), down('ada', 60)), 7);
  assert.equal(since(remember('up'), down('ada', 60)), 60);
  assert.equal(since(remember('up'), down('ada', 60), poll('ada', 70, 1)), 70, 'an outage ends it');
});
