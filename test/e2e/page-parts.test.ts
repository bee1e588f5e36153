import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersonaWire, StatusWire } from '../../app/status/index.ts';
import { NOTHING_REPORTED, pickReport } from '../../core/board/index.ts';
import { displayText } from '../../core/format/index.ts';
import { describeEvent } from '../../ui-static/events.ts';
import { isMatch } from '../../ui-static/filter.ts';
import { FIRST_ORDER, listInboxes } from '../../ui-static/inbox-order.ts';
import { toCard, toFragment, truncate } from '../../ui-static/present.ts';
import { formatSearch, parseOnceLink, parseRoute } from '../../ui-static/route.ts';
import { buildBar, buildSpark } from '../../ui-static/spark.ts';
import { toCauses, toLostSummary, toSummary } from '../../ui-static/summary.ts';

function createPersona(id: string, over: Partial<PersonaWire> = {}): PersonaWire {
  return {
    id,
    stem: id,
    source: 'local',
    label: id,
    state: 'UP',
    reason: null,
    since: null,
    agent: 'live',
    agentReason: null,
    agentText: null,
    agentSince: null,
    cwd: null,
    model: null,
    unread: 0,
    unreadIs: 'exact',
    urgent: 0,
    cursor: null,
    lastEventId: null,
    lastMailAt: null,
    asOf: null,
    staleAfter: null,
    ...pickReport(NOTHING_REPORTED),
    gates: [],
    daemon: null,
    muted: null,
    hidden: false,
    canMarkRead: false,
    canReply: false,
    eventsFile: null,
    ...over,
  };
}

const AT = '2026-01-01T00:00:00.000000+00:00';

function createStatus(personas: PersonaWire[], over: Partial<StatusWire> = {}): StatusWire {
  const visible = personas.filter(({ hidden }) => !hidden);
  const count = (state: PersonaWire['state']): number => visible.filter((persona) => persona.state === state).length;
  const totals = { unread: 3, unreadIs: 'exact', urgent: 0, urgentIs: 'exact' } as const;
  return {
    ...{ schema: 1, rev: 1, generatedAt: AT, version: '1', port: 1, hives: [], projects: [], causes: [] },
    totals: { ...totals, up: count('UP'), down: count('DOWN'), personas: visible.length },
    ...{ personas, decisions: [], permissions: [], tray: { state: '' }, autostart: null },
    notifications: { state: '', pausedUntil: null, quietUntil: null },
    ...over,
  };
}

const list = (personas: PersonaWire[], over: Partial<StatusWire> = {}, order = FIRST_ORDER): string[] =>
  listInboxes(personas, createStatus(personas, over), order).map((item) =>
    item.is === 'group' ? `${item.slots.group}: ${item.slots.groupWords}` : item.persona.id,
  );

describe('the address of the page', () => {
  test('names an inbox by #persona=ID and by #ID, however it is encoded', () => {
    const ada = { is: 'persona', fragment: 'a%20b', message: null };
    for (const hash of ['#persona=a%20b', '#a%20b', '#persona=a b', '#once=c0de&persona=a%20b']) {
      assert.deepEqual(parseRoute(hash), ada, hash);
    }
  });

  test('names a message of an inbox; what is no number is left out', () => {
    for (const [hash, message] of [
      ['#persona=ada&message=12', 12],
      ['#persona=ada&message=x', null],
    ] as const)
      assert.deepEqual(parseRoute(hash), { is: 'persona', fragment: 'ada', message });
  });

  test('is the overview without a name, at the skip link, and with only a code', () => {
    for (const hash of ['', '#', '#personas', '#once=c0de'])
      assert.deepEqual(parseRoute(hash), { is: 'overview' }, hash);
  });

  test('names the feed, a search, the decisions and the settings; an id of that name is still an inbox', () => {
    for (const is of ['feed', 'decisions', 'settings'] as const) assert.deepEqual(parseRoute(`#${is}`), { is });
    for (const words of ['main is red', 'a=b&c', '100%', 'größe']) {
      assert.deepEqual(parseRoute(formatSearch(words)), { is: 'search', words }, words);
    }
    assert.deepEqual(parseRoute('#persona=feed'), { is: 'persona', fragment: 'feed', message: null });
  });

  test('every id comes back as the fragment its card links to, also with = & % and half a character in it', () => {
    for (const id of ['ada', 'a=b&once=c', '100%', 'personas', '#', '\ud800', 'ٱلعربية', '<b>"\'']) {
      const route = { is: 'persona', fragment: toFragment(id), message: null };
      assert.deepEqual(parseRoute(`#persona=${toFragment(id)}`), route, id);
      assert.equal(parseOnceLink(`#persona=${toFragment(id)}`), null, id);
    }
    assert.deepEqual(
      parseRoute('#100%'),
      { is: 'persona', fragment: '100%25', message: null },
      'a stray % typed by hand',
    );
  });

  test('loses the code of a one-time link and keeps the rest', () => {
    assert.deepEqual(parseOnceLink('#once=c0de&persona=a%20b'), { code: 'c0de', rest: 'persona=a%20b' });
    assert.deepEqual(parseOnceLink('#once=c0de'), { code: 'c0de', rest: '' });
  });
});

describe('what is shown', () => {
  test('whoever is hidden is found under hidden only', () => {
    const hidden = createPersona('eve', { hidden: true, unread: 3, state: 'DOWN', muted: 'forever' });
    for (const filter of ['all', 'unread', 'down', 'muted'] as const) {
      assert.equal(isMatch(hidden, { filter, text: '' }), false, filter);
    }
    assert.equal(isMatch(hidden, { filter: 'hidden', text: '' }), true);
    assert.equal(isMatch(createPersona('ada'), { filter: 'hidden', text: '' }), false);
  });

  test('a search finds every word, in any case, in label, id and source', () => {
    const eve = createPersona('e-1', { label: 'Eve of Eden', source: 'garden' });
    for (const text of ['eden', 'EVE garden', 'e-1', ' ']) assert.ok(isMatch(eve, { filter: 'all', text }), text);
    assert.equal(isMatch(eve, { filter: 'all', text: 'eve kijito' }), false);
    assert.equal(isMatch(eve, { filter: 'unread', text: 'eve' }), false);
  });

  test('a source is named only beside another; the one in need stands first', () => {
    const calm = createPersona('ada', { source: 'a' });
    assert.deepEqual(list([calm]), ['ada']);
    const others = [
      createPersona('bo', { source: 'b', state: 'DOWN' }),
      createPersona('cy', { source: 'b', unread: 2 }),
    ];
    assert.deepEqual(list([calm, ...others]), ['b: 2 inboxes, 1 down, 2 unread', 'bo', 'cy', 'a: 1 inbox', 'ada']);
  });

  test('a hive that is down is one closed group, unless it is the only one or has one inbox', () => {
    const hives = [{ source: 'b', address: null, state: 'DOWN', reason: 'refused' } as const];
    const down = ['bo', 'cy'].map((id) => createPersona(id, { source: 'b', state: 'DOWN' }));
    const ada = createPersona('ada', { source: 'a' });
    assert.deepEqual(list([ada, ...down], { hives }), ['b: 2 inboxes, cannot be read', 'a: 1 inbox', 'ada']);
    assert.deepEqual(list(down, { hives }), ['bo', 'cy']);
    assert.deepEqual(list([ada, ...down.slice(0, 1)], { hives }).slice(0, 2), ['b: 1 inbox, cannot be read', 'bo']);
    const opened = { ...FIRST_ORDER, isOpen: (source: string) => source === 'b' };
    assert.deepEqual(list([ada, ...down], { hives }, opened).slice(1), ['bo', 'cy', 'a: 1 inbox']);
  });

  test('the order is by need, by the newest mail, or by name', () => {
    const at = (minute: number): string => `2026-01-01T00:0${minute}:00.000000+00:00`;
    const personas = [
      createPersona('ada', { lastMailAt: at(3) }),
      createPersona('bo', { lastMailAt: at(1), urgent: 1 }),
      createPersona('cy'),
      createPersona('di', { lastMailAt: at(5), unread: 1 }),
    ];
    assert.deepEqual(list(personas), ['bo', 'di', 'ada', 'cy']);
    assert.deepEqual(list(personas, {}, { ...FIRST_ORDER, sort: 'newest' }), ['di', 'ada', 'bo', 'cy']);
    assert.deepEqual(list(personas.toReversed(), {}, { ...FIRST_ORDER, sort: 'name' }), ['ada', 'bo', 'cy', 'di']);
  });

  test('one error is said once, with the names of the hives, or of the inboxes', () => {
    const personas = ['ada', 'bo', 'cy', 'di', 'eve'].map((id, i) =>
      createPersona(id, { source: i < 4 ? 'team' : 'b' }),
    );
    const cause = { since: AT, message: 'connect was refused' };
    const read = (...causes: StatusWire['causes']): unknown[] =>
      toCauses(createStatus(personas, { causes }), Date.parse(AT)).map(({ causeTitle, causeText }) => [
        causeTitle,
        causeText,
      ]);
    const ids = ['ada', 'bo', 'cy', 'di'];
    const source = { ...cause, key: 'http://h', scope: 'source', personas: ids } as const;
    assert.deepEqual(read({ ...source, personas: [...ids] }), [['team', 'connect was refused']]);
    assert.deepEqual(
      read({ ...source, key: 'team', personas: [] }),
      [['team', 'connect was refused']],
      'none is listed yet',
    );
    const single = ids.map((id) => ({ ...cause, key: `inbox ${id}`, scope: 'persona' as const, personas: [id] }));
    assert.deepEqual(read(...single), [['ada, bo, cy and 1 more', 'connect was refused']]);
    const machine = { ...cause, key: 'disk', scope: 'machine', message: 'the disk is full', personas: [] } as const;
    assert.deepEqual(read({ ...machine, personas: [] }, ...single.slice(0, 1)), [
      ['This machine', 'the disk is full'],
      ['ada', 'connect was refused'],
    ]);
  });

  test('the headline says what is asked of the person, the pill how it stands', () => {
    const read = (personas: PersonaWire[], over: Partial<StatusWire> = {}): unknown[] => {
      const { sentence, health, healthWords } = toSummary(createStatus(personas, over)).slots;
      return [sentence?.replaceAll('\u00a0', ' '), health, healthWords];
    };
    const totals = { unread: 6, unreadIs: 'exact', urgent: 1, urgentIs: 'exact', up: 3, down: 1, personas: 4 } as const;
    const ada = createPersona('ada', { questions: 1 });
    assert.deepEqual(read([ada], { totals }), [
      '1 question for you, 6 unread, 1 urgent',
      '3/4 reachable',
      '3 of 4 inboxes can be read, 1 cannot',
    ]);
    const calm = { ...totals, unread: 0, urgent: 0, up: 4, down: 0 };
    assert.deepEqual(read([], { totals: calm }), ['No unread messages', '4/4 reachable', '4 of 4 inboxes can be read']);
    const causes = [
      { key: 'disk', scope: 'machine', since: AT, message: 'the disk is full', personas: [] } as const,
    ].map((cause) => ({ ...cause, personas: [] }));
    assert.deepEqual(read([], { totals: calm, causes })[1], '4/4 reachable, 1 problem');
    const unseen = { ...calm, unread: null, unreadIs: 'unknown', up: 0 } as const;
    assert.deepEqual(read([], { totals: unseen })[0], 'Checking for the first time');
    const lost = { ...calm, unread: null, unreadIs: 'unknown', up: 0, down: 4 } as const;
    assert.deepEqual(read([], { totals: lost })[0], 'Unread count unknown');
    const { title, slots } = toLostSummary(AT, Date.parse(AT));
    assert.deepEqual([title, slots.sentence], ['Not connected · Hivebar', 'Not connected: Hivebar does not answer']);
    assert.match(slots.note ?? '', /^Last update \d\d:\d\d/);
  });

  test('a name of 100 KB is cut, and no half character is left', () => {
    const { slots } = toCard(createPersona('a', { label: '\u{1f469}'.repeat(50_000) }), 0);
    assert.ok((slots.name?.length ?? 0) < 300);
    assert.ok(slots.name?.isWellFormed());
    assert.equal(truncate('abc', 3), 'abc');
  });

  test('what is critical, high, low or bulk is told by number, what is normal is not; 1000 is as many or more', () => {
    const { slots } = toCard(createPersona('ada', { unread: 1009, urgent: 3, pending: [1, 2, 4, 1000, 2] }), 0);
    assert.deepEqual([slots.urgent, slots.low], ['1 critical, 2 high', '1000+ low, 2 bulk']);
    const calm = toCard(createPersona('ada', { unread: 4, pending: [0, 0, 4, 0, 0] }), 0);
    assert.deepEqual([calm.slots.urgent, calm.slots.low], [null, null]);
    assert.equal(toCard(createPersona('eve', { unread: 4, urgent: 3 }), 0).slots.urgent, '3 urgent', 'another hive');
  });

  test('open gates are told by mode and hook', () => {
    const gates = [
      { id: 'decision', hook: 'Stop', mode: 'strict' },
      { id: 'commit-push', hook: 'Stop', mode: 'soft' },
      { id: 'review', hook: 'PreToolUse', mode: 'strict' },
      { id: 'tests', hook: 'Stop', mode: 'strict' },
    ] as const;
    const { slots } = toCard(createPersona('ada', { gates: [...gates] }), 0);
    assert.equal(slots.held, 'Blocked at Stop by decision, tests; at PreToolUse by review');
    assert.equal(slots.warned, 'Warned at Stop by commit-push');
    const many = { id: 'g'.repeat(32), hook: 'Stop', mode: 'strict' } as const;
    assert.ok((toCard(createPersona('ada', { gates: Array(50).fill(many) }), 0).slots.held?.length ?? 0) < 300);
  });

  test('of a delivered number nobody is said to have seen it', () => {
    const card = toCard(createPersona('ada', { asOf: '2026-01-01T00:00:00.000000+00:00' }), Date.UTC(2026, 0, 1, 0, 5));
    assert.equal(card.slots.fresh, 'checked 5 min ago');
    assert.doesNotMatch(Object.values(card.slots).join(' '), /\bseen\b/i);
  });

  test('control characters are made visible, line breaks stay', () => {
    assert.equal(displayText('\u001b[31mred\r\n\ttab\u0000\u0085'), '\\u001b[31mred\r\n\ttab\\u0000\\u0085');
    assert.equal(describeEvent({ event: 'made-up', event_id: 'x', ts: '' }).words, 'made-up');
  });
});

describe('what an agent does', () => {
  const at = Date.UTC(2026, 0, 1, 0, 12);
  const agentSince = '2026-01-01T00:00:00.000000+00:00';
  const read = (over: Partial<PersonaWire>, now = at): string => {
    const { slots } = toCard(createPersona('ada', { since: agentSince, agentSince, ...over }), now);
    return [slots.state, slots.since].filter((text) => text !== null).join(' ');
  };

  test('is the state of its card, with its age where a person wants to know, folder and model', () => {
    for (const [words, over] of [
      ['Waits at a permission prompt, 12 min', { agent: 'waiting', agentReason: 'permission' }],
      ['Waits for you: sandbox request, 12 min', { agent: 'waiting', agentReason: 'sandbox-request' }],
      ['Waits for your input', { agent: 'waiting', agentReason: 'input', agentSince: null }],
      ['Working, 12 min', { agent: 'working' }],
      ['Idle', { agent: 'idle' }],
      ['Gone', { agent: 'gone', agentReason: 'ended' }],
      ['Nobody takes its mail, 12 min', { agent: 'stalled', agentReason: 'mail-lies' }],
      ['Up for 12 min', { agent: 'live' }],
      ['Up for 12 min', { agent: 'unknown', agentReason: 'not-reported' }],
      ['Working, 12 min in hivebar with opus', { agent: 'working', cwd: '/srv/work/hivebar/', model: 'opus' }],
      ['Idle in hivebar', { agent: 'idle', cwd: 'C:\\work\\hivebar' }],
    ] as const) {
      assert.equal(read(over), words);
    }
  });

  test('has a shape of its own where a person may have to act; an inbox that cannot be read is said first', () => {
    const shape = (agent: PersonaWire['agent']): string => toCard(createPersona('ada', { agent }), at).shape;
    assert.deepEqual((['waiting', 'stalled', 'gone', 'working', 'idle'] as const).map(shape), [
      'waiting',
      'stalled',
      'gone',
      'up',
      'up',
    ]);
    const queue = createPersona('ada', { agent: 'gone', agentReason: 'no-reader', unread: 2 });
    assert.equal(toCard(queue, at).shape, 'stalled', 'codex 1: amber, because its messages wait for nobody');
    const down = toCard(
      createPersona('ada', { agent: 'waiting', agentReason: 'permission', state: 'DOWN', reason: 'refused' }),
      at,
    );
    assert.deepEqual(
      [down.shape, down.slots.state, down.slots.agent],
      ['down', 'Down', 'Waits at a permission prompt'],
    );
  });

  test('is text of others: one line, cut, and without control characters', () => {
    const words = read({ agent: 'waiting', agentReason: `a\n\u0007${'b'.repeat(5000)}`, cwd: `/${'c'.repeat(5000)}` });
    assert.ok(words.length < 500, String(words.length));
    assert.ok(!words.includes('\n') && !words.includes('\u0007'));
  });

  test('who has urgent mail stands before who waits, and its source before all other sources', () => {
    assert.deepEqual(
      list([
        createPersona('down', { source: 'a', state: 'DOWN' }),
        createPersona('urgent', { source: 'b', urgent: 1 }),
        createPersona('zoe', { source: 'b', agent: 'waiting', agentReason: 'input' }),
      ]),
      ['b: 2 inboxes, 1 waiting', 'urgent', 'zoe', 'a: 1 inbox, 1 down', 'down'],
    );
    const waits = (id: string, minute: number | null) =>
      createPersona(id, {
        ...{ agent: 'waiting', agentReason: 'input' },
        agentSince: minute === null ? null : `2026-01-01T00:0${minute}:00.000000+00:00`,
      });
    const longest = list([waits('ada', null), waits('bo', 5), waits('cy', 2)]);
    assert.deepEqual(longest, ['cy', 'bo', 'ada'], 'the longest wait first');
  });

  test('who asks a question stands beside who waits and before outages, with a mark', () => {
    const asked = createPersona('asked', { unread: 1, questions: 1 });
    const zoe = createPersona('zoe', { agent: 'waiting', agentReason: 'input', agentSince });
    assert.deepEqual(list([createPersona('down', { state: 'DOWN' }), asked, zoe]), ['zoe', 'asked', 'down']);
    assert.equal(toCard(asked, Date.parse(agentSince)).slots.question, '1 question for you');
    assert.equal(toCard({ ...asked, questions: 0 }, Date.parse(agentSince)).slots.question, null);
  });

  test('is in the head: what a person is asked for before mail that nobody takes', () => {
    const summarize = (...personas: PersonaWire[]): unknown[] => {
      const { slots, title } = toSummary(createStatus(personas));
      return [slots.sentence?.replaceAll('\u00a0', ' '), slots.note, title];
    };
    const waiting = createPersona('ada', { agent: 'waiting', agentReason: 'input' });
    const stalled = createPersona('bo', { agent: 'stalled', agentReason: 'mail-lies' });
    const lies = 'Nobody takes the mail of 1 of 2 inboxes';
    assert.deepEqual(summarize(waiting, stalled), [
      '1 agent waits for you, 3 unread',
      lies,
      '1 agent waits for you, (3) Hivebar',
    ]);
    const asked = createPersona('dee', { questions: 2 });
    assert.equal(summarize(waiting, asked)[0], '2 questions for you, 1 agent waits for you, 3 unread');
    assert.deepEqual(summarize(stalled, createPersona('cy')), ['3 unread', lies, '(3) Hivebar']);
    assert.deepEqual(summarize(waiting, { ...waiting, id: 'bo' })[0], '2 agents wait for you, 3 unread');
    assert.deepEqual(summarize(createPersona('cy'), { ...waiting, hidden: true })[0], '3 unread');
  });

  test('what began and ended is in the timeline, in words', () => {
    const words = (event: object): string => describeEvent({ event_id: 'x', ts: '', ...event } as never).words;
    assert.equal(words({ event: 'waiting', reason: 'permission' }), 'Waits at a permission prompt');
    assert.equal(words({ event: 'resumed', reason: 'permission', agent: 'working' }), 'Went on');
    assert.equal(words({ event: 'resumed', reason: 'permission', agent: 'gone' }), 'Ended while it waited');
    assert.equal(words({ event: 'question' }), 'Question');
  });
});

describe('a persona daemon', () => {
  const daemon = {
    ...({ surface: 'claude-code', project: 'lab', fsm: 'CONNECTED', taxonomy: 'sleeping', degraded: false } as const),
    ...{ drainedAt: '2026-01-01T00:00:00.000000+00:00', lastErrorClass: null },
  };
  const at = Date.UTC(2026, 0, 1, 0, 12);
  const stalled = { agent: 'stalled', agentReason: 'drain-stalled' } as const;

  test('stalled is a look of its own, and stands before who only has unread mail', () => {
    const card = toCard(createPersona('ada', { daemon, unread: 3, ...stalled }), at);
    assert.deepEqual(
      [card.shape, card.slots.state, card.slots.agent],
      ['stalled', 'Nobody takes its mail', 'Drain stalled'],
    );
    assert.equal(card.slots.daemon, 'CONNECTED, sleeping');
    assert.equal(card.slots.drain, 'Nothing fetched for 12 min');
    const idle = toCard(createPersona('ada', { daemon, unread: 0 }), at);
    assert.equal(idle.slots.drain, null, 'nothing is there to be fetched');
    assert.equal(card.slots.error, null);
    const bo = createPersona('bo', { daemon, unread: 3, ...stalled });
    assert.deepEqual(list([createPersona('ada', { unread: 5 }), bo]), ['bo', 'ada']);
    assert.equal(toCard(createPersona('ada', { state: 'DOWN', reason: 'gone', ...stalled }), at).shape, 'down');
  });

  test('live, it says what it does; its reason and its last error where there are some', () => {
    const { shape, slots } = toCard(createPersona('ada', { daemon }), at);
    assert.deepEqual([shape, slots.agent], ['up', null]);
    const away = { agent: 'unknown', agentReason: 'upstream-unreachable' } as const;
    const error = { ...daemon, fsm: 'DISCONNECTED', lastErrorClass: 'ws_connect_failed' } as const;
    const words = toCard(createPersona('ada', { daemon: error, ...away }), at).slots;
    assert.deepEqual([words.agent, words.error], ['Upstream unreachable', 'Last error ws_connect_failed']);
    assert.equal(toCard(createPersona('ada', away), at).slots.daemon, null, 'of no daemon nothing is said');
  });
});

describe('alerts as the page words them', () => {
  const reported = (event: Omit<Parameters<typeof describeEvent>[0], 'event_id' | 'ts'>) =>
    describeEvent({ event_id: 'x', ts: '', ...event });

  test('only an unreachable inbox is down: no other alert reads as an outage', () => {
    const down = { shape: 'down', words: 'Down after 3 failures' };
    assert.deepEqual(reported({ event: 'alert', reason: 'unreachable', consecutive_failures: 3 }), down);
    for (const [words, event] of [
      ['3 messages could not be fetched yet; delivery waits at them', { reason: 'gap', omitted: 3 }],
      ['Some messages could not be fetched yet; delivery waits at them', { reason: 'gap', omitted: null }],
      ['Some delivered messages are no longer remembered and may come again', { reason: 'evidence-lost' }],
      ['1 unread message not listed by the hive', { reason: 'unread-not-shown', unread_not_shown: 1 }],
      [
        'No reader was ever seen for this mail: a, b, c, d, e and 1 more',
        { reason: 'stranded', stranded_inboxes: ['a', 'b', 'c', 'd', 'e', 'f'] },
      ],
      [
        'Urgent mail is unread, and its reader shows no activity: ad\\u001ba',
        { reason: 'urgent-unanswered', urgent_unanswered: ['ad\u001ba'] },
      ],
      ['Alert: made-up', { reason: 'made-up' }],
      ['Alert', {}],
    ] as const) {
      assert.deepEqual(reported({ event: 'alert', ...event }), { shape: 'plain', words });
    }
  });

  test('what became of a message', () => {
    for (const [event, words] of Object.entries({
      delivered: 'Message 7 was delivered',
      read: 'Message 7 was read',
      gone: 'Message 7 is gone',
      cleared: 'Message 7 is settled',
      acked: 'Message 7 was acknowledged',
    }))
      assert.deepEqual(reported({ event, id: 7 }), { shape: 'plain', words });
    assert.equal(reported({ event: 'read' }).words, 'A message was read');
  });

  test('a position that was given up, or passed mail over, reads as that', () => {
    assert.equal(
      reported({ event: 'baseline_skipped', skipped: 2 }).words,
      '2 messages from before watching began were not delivered',
    );
    assert.match(reported({ event: 'state_corrupt' }).words, /^The saved position could not be read/);
  });
});

describe('what was', () => {
  test('a sparkline leaves a hole where nothing is known, and is none where nothing ever was', () => {
    assert.equal(buildSpark([null, null]), null);
    const spark = buildSpark([0, null, 4, 4]);
    assert.equal(spark?.line, 'M0 23.0H1M2 2.0H3V2.0H4');
    assert.equal(spark?.words, 'Unread: 4 now, 4 at most, 0 at least');
  });

  test('nothing unread all day is a line at the bottom, not a division by zero', () => {
    assert.doesNotMatch(buildSpark([0, 0])?.line ?? 'NaN', /NaN|Infinity/);
  });

  test('a bar says in words what its marks show, each state by its own height', () => {
    const day = buildBar('--UUUDDUFD', 10 * 3_600_000);
    assert.equal(day.words, 'Last 10 h: up in 63 % of the known time; down 2 times, within 3 h; failing within 1 h');
    assert.deepEqual(
      day.paths.map(({ name }) => name),
      ['up', 'failing', 'down', 'unknown'],
    );
    assert.equal(new Set(day.paths.map(({ d }) => /v([\d.]+)/.exec(d)?.[1])).size, 4);
    assert.equal(buildBar('--', 7_200_000).words, 'Last 2 h: no data');
  });
});

test('D6 the card of a citizen whose mail nobody will ever fetch says so', () => {
  const card = toCard(
    createPersona('pi', { unread: 2, agentReason: 'no-drain', agentText: 'no agent reads this mailbox' }),
    Date.now(),
  );
  assert.equal(card.slots.agent, 'No agent reads this mailbox');
});
