import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersonaView, Snapshot } from '../../core/board/index.ts';
import { type Count, exactly, type Health, UNKNOWN } from '../../core/model/index.ts';
import {
  createMessage,
  down,
  findAction,
  MINUTE,
  NOW,
  type PersonaOptions,
  persona,
  snapshot,
  text,
  trayModel,
  up,
} from '../../test/kit/menu-samples.ts';
import type { MenuEntry } from './model.ts';
import { computeNextChange } from './render.ts';

/** All rows between the summary and what can be done, without what is behind them. */
const listRows = (s: Snapshot): string[] => {
  const { menu } = trayModel(s);
  const lines = menu.flatMap((entry, i) => (entry.is === 'separator' ? [i] : []));
  return text(menu.slice((lines[0] ?? 0) + 1, lines[1])).filter((row) => !row.startsWith('  '));
};

/** What is behind the row of a persona. */
function behind(p: PersonaView): readonly MenuEntry[] {
  const row = trayModel(snapshot([p])).menu[2];
  assert.ok(row?.is === 'submenu');
  return row.entries;
}

describe('the menu', () => {
  test('as a whole: a summary, a row a persona by need of attention with all that can be done, and the house', () => {
    const { menu } = trayModel(
      snapshot([
        persona('ada', {
          unread: exactly(3),
          canMarkRead: true,
          latestMessages: [createMessage(7, 'bo', 'please review', 65)],
        }),
        persona('bo', { health: down(4), reason: 'the hive does not answer' }),
      ]),
    );
    assert.deepEqual(text(menu), [
      '3 unread, 1 down',
      '---',
      'bo - down for 4 min',
      '  the hive does not answer',
      '  No messages yet',
      '  ---',
      '  Open session',
      '  Open on status page',
      '  Copy follow command',
      '  ---',
      '  Poll now',
      '  Mute for 1 hour',
      '  Mute until tomorrow',
      '  Mute until unmuted',
      '  Hide',
      'ada - 3 unread · bo: please review, 1 h',
      '  bo · 1 h · please review',
      '    Open session',
      '    Mark as read',
      '  ---',
      '  Open session',
      '  Open on status page',
      '  Copy follow command',
      '  ---',
      '  Mark all as read',
      '  Poll now',
      '  Mute for 1 hour',
      '  Mute until tomorrow',
      '  Mute until unmuted',
      '  Hide',
      '---',
      'Open status page',
      'Poll now',
      'Pause notifications',
      '  For 30 minutes',
      '  For 1 hour',
      '  Until tomorrow',
      '  Until resumed',
      '[ ] Quiet hours 22:00 to 07:00',
      '---',
      'Quit',
    ]);
  });

  test('F2 "0+" is never shown: a lower bound of nothing is not known', () => {
    const unknown = persona('b', { unread: UNKNOWN, urgent: UNKNOWN });
    const single = persona('a', { unread: exactly(1), urgent: exactly(0) });
    const none = persona('a', { unread: { is: 'atLeast', n: 0 }, urgent: { is: 'atLeast', n: 0 } });
    assert.equal(trayModel(snapshot([single, unknown])).summary, '1+ unread');
    assert.equal(trayModel(snapshot([none])).summary, 'No unread messages known');
    for (const personas of [[single, unknown], [none], [none, unknown]]) {
      const shown = JSON.stringify(trayModel(snapshot(personas)));
      assert.ok(!shown.includes('0+'), shown);
    }
  });

  test('urgent comes before down, down before unread, unread before the rest, and within that the newest mail, then the name', () => {
    assert.deepEqual(
      listRows(
        snapshot([
          persona('a'),
          persona('b', { unread: exactly(9) }),
          persona('c', { unread: exactly(1), urgent: exactly(1) }),
          persona('d', { health: down(1) }),
          { ...persona('e', { unread: exactly(1) }), lastMailAt: NOW },
        ]),
      ),
      ['c - 1 unread, 1 urgent', 'd - down for 1 min', 'e - 1 unread', 'b - 9 unread', 'a - no unread'],
    );
  });

  test('with more than one source the rows stand under its name, the one in most need first', () => {
    const two = [
      persona('a', { source: 'kijito' }),
      persona('b', { source: 'local', unread: exactly(1) }),
      persona('c', { source: 'kijito' }),
      persona('d', { source: 'local' }),
    ];
    assert.deepEqual(listRows(snapshot(two)), [
      'local',
      'b - 1 unread',
      'd - no unread',
      'kijito',
      'a - no unread',
      'c - no unread',
    ]);
    const hidden = two.map((p) => ({ ...p, hidden: p.source === 'local' }));
    assert.deepEqual(listRows(snapshot(hidden)), ['a - no unread', 'c - no unread', 'Hidden (2)']);
  });

  test('a row says what is known, and no more', () => {
    assert.deepEqual(
      listRows(
        snapshot([
          persona('a', { unread: { is: 'atLeast', n: 200 } }),
          persona('b', { unread: UNKNOWN, health: { is: 'unseen' } }),
          persona('c', { unread: UNKNOWN }),
          persona('d', { health: down(90), unread: exactly(2) }),
          persona('e', { health: down(60 * 72) }),
          persona('f', { health: down(0) }),
          persona('g', { health: { is: 'failing', failures: 1, why: 'timeout' } }),
          persona('h', { muted: { is: 'forever' } }),
          persona('i', { muted: { is: 'at', at: NOW + 90 * MINUTE } }),
          persona('j', { muted: { is: 'at', at: NOW } }),
        ]),
      ),
      [
        'd - down for 1 h, 2 unread',
        'e - down for 3 d',
        'f - down',
        'a - 200+ unread',
        'b - not checked yet',
        'c - unread unknown',
        'g - no unread',
        'h - no unread, muted',
        'i - no unread, muted until +90 min',
        'j - no unread',
      ],
    );
  });

  test('an old number says from when it is, down or not, and a fresh one does not', () => {
    const createAged = (id: string, staleAfter: number, health: Health = up) => ({
      ...persona(id, { health, unread: exactly(3) }),
      asOf: NOW - 9 * MINUTE,
      staleAfter,
    });
    assert.deepEqual(
      listRows(snapshot([createAged('a', NOW), createAged('b', NOW + 1), createAged('c', NOW - 1, down(5))])),
      ['c - down for 5 min, 3 unread, as of +-9 min', 'a - 3 unread, as of +-9 min', 'b - 3 unread'],
    );
  });

  test('B6 labels of others become one short plain line', () => {
    assert.deepEqual(
      listRows(
        snapshot([
          persona('x', { label: 'a\u202eb\u0000\nc\u2028d\t\ue000' }),
          persona('y', { label: 'é'.repeat(100) }),
          persona('z', { label: '\u200b\n' }),
        ]),
      ),
      ['a\\u202eb\\u0000\\u000ac\\u2028d\\u0009\ue000 - no unread', `${'é'.repeat(39)}… - no unread`, 'z - no unread'],
    );
  });

  test('of more than twenty, those that need attention stay in sight and the rest is behind one entry', () => {
    const many = Array.from({ length: 30 }, (_, i) =>
      persona(`p${i}`, i === 29 ? { health: down(1) } : { unread: exactly(i < 22 ? 1 : 0) }),
    );
    const rows = listRows(snapshot(many));
    assert.equal(rows[0], 'p29 - down for 1 min');
    assert.equal(rows[20], '10 more - 3 unread');
    assert.equal(rows.length, 21);
    const more = trayModel(snapshot(many)).menu.find((e) => e.key === 'more');
    assert.ok(more?.is === 'submenu');
    assert.equal(more.entries.length, 10);
    assert.ok(more.entries.every((entry) => entry.is === 'submenu'));
    assert.equal(more.instead.action.name, 'page');
  });

  test('of a thousand the menu holds a bounded part, and says where the others are', () => {
    const many = Array.from({ length: 1000 }, (_, i) => persona(`p${i}`));
    const more = trayModel(snapshot(many)).menu.find((e) => e.key === 'more');
    assert.ok(more?.is === 'submenu');
    assert.equal(more.label, '980 more');
    assert.equal(more.entries.length, 101);
    assert.equal(text(more.entries).at(-1), '880 more on the status page');
  });

  test('no two entries of a menu share a key, whatever personas and sources are called', () => {
    const names = ['a', 'letter 0 of a', 'page', 'persona a', 'more', 'line-1', 'hidden', 'hide of a', 'in sight a'];
    const s = snapshot(
      names.flatMap((id, i) => [
        persona(id, {
          source: names[i % 3] ?? '',
          latestMessages: [createMessage(1, 'x', 'y')],
          unread: exactly(1),
          canMarkRead: true,
        }),
        persona(`${id} hidden`, { hidden: true }),
      ]),
      { autostart: true, paused: { is: 'forever' } },
    );
    const keys = (menu: readonly MenuEntry[]): string[] =>
      menu.flatMap((e) => [e.key, ...(e.is === 'submenu' ? keys(e.entries) : [])]);
    const all = keys(trayModel(s).menu);
    assert.deepEqual(
      all.filter((key, i) => all.indexOf(key) !== i),
      [],
    );
  });

  test('a hive that is down before it could name anybody has a row, and counts as down', () => {
    const hive = { source: 'kijito', address: 'http://h:7474', state: 'DOWN', reason: null } as const;
    const s = snapshot([], { hives: [hive] });
    assert.deepEqual(listRows(s), ['kijito - down: http://h:7474']);
    assert.equal(trayModel(s).icon.state, 'down');
    assert.equal(trayModel(s).summary, 'No inbox is watched yet, hive down');
    const recalled = persona('a', { source: 'kijito', health: { is: 'unseen' } });
    assert.deepEqual(listRows(snapshot([recalled], { hives: [hive] })), [
      'kijito - down: http://h:7474',
      'a - not checked yet',
    ]);
  });
});

describe('behind the row of a persona', () => {
  test('everything asks for its action, with the id and never with the label', () => {
    const menu = behind(
      persona('../x', {
        label: 'nice',
        unread: exactly(1),
        canMarkRead: true,
        latestMessages: [createMessage(9, 'bo', 'hi')],
      }),
    );
    const persona1 = { persona: '../x' };
    assert.deepEqual(
      [
        'Mark as read',
        'Open session',
        'Open on status page',
        'Copy follow command',
        'Mark all as read',
        'Poll now',
        'Mute for 1 hour',
        'Mute until tomorrow',
        'Mute until unmuted',
        'Hide',
      ].map((label) => findAction(menu, label)),
      [
        ['read', { ...persona1, id: 9 }],
        ['open', persona1],
        ['page', persona1],
        ['copy-follow', persona1],
        ['read', persona1],
        ['poll', persona1],
        ['mute', { ...persona1, minutes: 60 }],
        ['mute', { ...persona1, until: 'tomorrow' }],
        ['mute', persona1],
        ['hide', persona1],
      ],
    );
  });

  test('where there are no submenus, a click on the row opens the persona', () => {
    const row = trayModel(snapshot([persona('../x', { label: 'nice' })])).menu[2];
    assert.deepEqual(row?.is === 'submenu' && row.instead, {
      is: 'command',
      key: 'persona ../x',
      label: 'nice - no unread',
      action: { name: 'open', params: { persona: '../x' } },
    });
  });

  test('a message opens its persona; where mail can be marked it is a submenu, and where there are none it still opens', () => {
    const latest = [createMessage(9, 'bo', 'hi')];
    const first = (options: PersonaOptions) => behind(persona('a', { latestMessages: latest, ...options }))[0];
    const opens = {
      is: 'command',
      key: 'letter 0 of a',
      label: 'bo · 5 min · hi',
      action: { name: 'open', params: { persona: 'a' } },
    };
    assert.deepEqual(first({ canMarkRead: false, unread: exactly(1) }), opens);
    assert.deepEqual(first({ canMarkRead: true }), opens);
    const row = first({ canMarkRead: true, unread: exactly(1) });
    assert.ok(row?.is === 'submenu');
    assert.deepEqual(row.instead, opens);
    assert.deepEqual(findAction(row.entries, 'Open session'), ['open', { persona: 'a' }]);
  });

  test('a muted one can be unmuted', () => {
    const menu = behind(persona('a', { muted: { is: 'forever' } }));
    assert.deepEqual(findAction(menu, 'Unmute'), ['unmute', { persona: 'a' }]);
    assert.equal(text(menu).filter((row) => row.startsWith('Mute')).length, 0);
  });

  test('mail can be marked as read only where the source can and there is something to mark', () => {
    const has = (options: PersonaOptions): boolean => text(behind(persona('a', options))).includes('Mark all as read');
    assert.ok(has({ canMarkRead: true, unread: { is: 'atLeast', n: 0 } }));
    assert.ok(!has({ canMarkRead: true, unread: exactly(0) }));
    assert.ok(!has({ canMarkRead: false, unread: exactly(3) }));
  });

  test('the latest messages are one plain line each, with sender and age', () => {
    const shown = text(
      behind(
        persona('a', {
          latestMessages: [
            createMessage(5, 'dev_ops', 'line one\nline two', 0),
            createMessage(4, '<b>bo</b>', '<i>&amp; & _underscore_</i> \u001b[31mred\u001b[0m', 61),
            createMessage(3, '', null, 3000),
            { ...createMessage(2, 'cy', 'no idea when'), created: 'yesterday' },
            createMessage(1, 'x'.repeat(100_000), 'y'.repeat(100_000), -3),
          ],
        }),
      ),
    ).slice(0, 5);
    assert.deepEqual(shown, [
      'dev_ops · now · line one line two',
      '<b>bo</b> · 1 h · <i>&amp; & _underscore_</i> red',
      '? · 2 d',
      'cy · no idea when',
      `${'x'.repeat(23)}… · now · ${'y'.repeat(59)}…`,
    ]);
  });

  test('a right-to-left name or text is closed in, so that count and age stay where they are', () => {
    const p = persona('a', {
      label: 'שלום',
      unread: exactly(3),
      latestMessages: [createMessage(1, 'عمر', 'مرحبا 123')],
    });
    assert.deepEqual(listRows(snapshot([p])), [
      '\u200e\u2068שלום\u2069 - 3 unread · \u200e\u2068عمر: مرحبا 123\u2069, 5 min',
    ]);
    assert.equal(text(behind(p))[0], '\u200e\u2068عمر\u2069 · 5 min · \u200e\u2068مرحبا 123\u2069');
  });

  test('mail that its agent was not told of says why', () => {
    assert.equal(text(behind(persona('a', { held: 'the disk is full' })))[0], 'the disk is full');
  });
});

describe('who is hidden', () => {
  const s = snapshot([persona('a'), persona('b', { hidden: true, health: down(5), label: 'b_b' })]);

  test('has no row, does not make the icon red, and can be shown again', () => {
    const model = trayModel(s);
    assert.deepEqual(listRows(s), ['a - no unread', 'Hidden (1)']);
    assert.deepEqual([model.icon.state, model.attention, model.summary], ['up', false, 'No unread messages']);
    assert.deepEqual(findAction(model.menu, 'Show b_b again'), ['unhide', { persona: 'b' }]);
  });

  test('keeps the outage of its hive from concerning anyone, unless somebody else is there', () => {
    const hives = [{ source: 'kijito', address: 'http://h', state: 'DOWN', reason: null }] as const;
    const alone = snapshot([persona('b', { hidden: true, health: down(5) })], { hives });
    assert.deepEqual(listRows(alone), ['Hidden (1)']);
    assert.equal(trayModel(alone).icon.state, 'unknown');
    assert.equal(trayModel(snapshot([...alone.personas, persona('c')], { hives })).icon.state, 'down');
  });

  test('does not wake the menu by its age', () => {
    assert.equal(computeNextChange(snapshot([persona('b', { hidden: true, health: down(5) })]), NOW), null);
  });
});

describe('the house', () => {
  const entry = (parts: Partial<Snapshot>, key: string): MenuEntry | undefined =>
    trayModel(snapshot([persona('a')], parts)).menu.find((e) => e.key === key);

  test('a pause for half an hour, an hour, until tomorrow or until resumed', () => {
    const menu = [entry({}, 'pause')].flatMap((e) => e ?? []);
    assert.deepEqual(
      ['For 30 minutes', 'For 1 hour', 'Until tomorrow', 'Until resumed'].map((label) => findAction(menu, label)),
      [
        ['pause', { minutes: 30 }],
        ['pause', { minutes: 60 }],
        ['pause', { until: 'tomorrow' }],
        ['pause', {}],
      ],
    );
    assert.equal(findAction(menu, 'Resume'), null);
  });

  test('a pause says how long it lasts and can be ended, and one that is over is none', () => {
    const on = entry({ paused: { is: 'at', at: NOW + MINUTE } }, 'pause');
    assert.ok(on?.is === 'submenu');
    assert.equal(on.label, 'Notifications paused until +1 min');
    assert.deepEqual(findAction(on.entries, 'Resume'), ['resume', {}]);
    assert.deepEqual(on.instead.is === 'check' && [on.instead.label, on.instead.checked, on.instead.action.name], [
      'Pause notifications until +1 min',
      true,
      'resume',
    ]);
    const forever = entry({ paused: { is: 'forever' } }, 'pause');
    assert.equal(forever?.is === 'submenu' && forever.label, 'Notifications paused');
    assert.deepEqual(entry({ paused: { is: 'at', at: NOW } }, 'pause'), entry({}, 'pause'));
  });

  test('quiet hours are a check box with their times, and with their end while they last', () => {
    const shown = (parts: Partial<Snapshot>) => {
      const e = entry(parts, 'quiet-hours');
      return e?.is === 'check' && [e.label, e.checked, e.action.params.on];
    };
    assert.deepEqual(shown({}), ['Quiet hours 22:00 to 07:00', false, true]);
    assert.deepEqual(shown({ quietHours: true }), ['Quiet hours 22:00 to 07:00', true, false]);
    assert.deepEqual(shown({ quietTimes: null }), ['Quiet hours', false, true]);
    assert.deepEqual(shown({ quietHours: true, quiet: { is: 'at', at: NOW + 2 * MINUTE } }), [
      'Quiet hours 22:00 to 07:00 · now, until +2 min',
      true,
      false,
    ]);
  });

  test('start at login is a check box, and left out where nobody knows', () => {
    const shown = (autostart: boolean | null) => {
      const e = entry({ autostart }, 'autostart');
      return e?.is === 'check' && [e.label, e.checked, e.action.name, e.action.params.on];
    };
    assert.deepEqual(shown(true), ['Start at login', true, 'autostart', false]);
    assert.deepEqual(shown(false), ['Start at login', false, 'autostart', true]);
    assert.equal(shown(null), false);
  });
});

describe('the icon', () => {
  const formatIcon = (s: Snapshot) => {
    const { state, badge } = trayModel(s).icon;
    return `${state}-${badge}`;
  };

  test('down before paused before unknown before up', () => {
    const paused = { paused: { is: 'forever' } } as const;
    assert.equal(formatIcon(snapshot([persona('a'), persona('b', { health: down(1) })], paused)), 'down-none');
    assert.equal(formatIcon(snapshot([persona('a')], paused)), 'paused-none');
    assert.equal(formatIcon(snapshot([])), 'unknown-none');
    assert.equal(formatIcon(snapshot([persona('a', { health: { is: 'unseen' }, unread: UNKNOWN })])), 'unknown-none');
    assert.equal(formatIcon(snapshot([persona('a'), persona('b', { health: { is: 'unseen' } })])), 'up-none');
  });

  test('a failing persona below the threshold is still up', () => {
    assert.equal(
      formatIcon(snapshot([persona('a', { health: { is: 'failing', failures: 2, why: 'dns' } })])),
      'up-none',
    );
  });

  test('the badge counts to nine and then says more', () => {
    const badge = (unread: Count) => formatIcon(snapshot([persona('a', { unread })]));
    assert.equal(badge(exactly(0)), 'up-none');
    assert.equal(badge(exactly(1)), 'up-1');
    assert.equal(badge(exactly(9)), 'up-9');
    assert.equal(badge(exactly(10)), 'up-9+');
    assert.equal(badge({ is: 'atLeast', n: 9 }), 'up-9+');
    assert.equal(badge(UNKNOWN), 'up-none');
  });

  test('S2: back to up by the recovery alone, with nothing new to read', () => {
    const before = formatIcon(snapshot([persona('a', { health: down(3) })]));
    const after = formatIcon(snapshot([persona('a', { health: up })]));
    assert.deepEqual([before, after], ['down-none', 'up-none']);
  });
});

describe('time alone changes the model', () => {
  const at = (personas: readonly PersonaView[], parts: Partial<Snapshot> = {}): number | null => {
    const next = computeNextChange(snapshot(personas, parts), NOW);
    return next === null ? null : next - NOW;
  };

  test('never, where nothing has an age', () => {
    assert.equal(at([persona('a')]), null);
  });

  test('at the end of a pause, a mute and a quiet hour, to the millisecond', () => {
    assert.equal(at([persona('a')], { paused: { is: 'at', at: NOW + 7 } }), 7);
    assert.equal(at([persona('a')], { quiet: { is: 'at', at: NOW + 8 } }), 8);
    assert.equal(at([persona('a', { muted: { is: 'at', at: NOW + 9 } })]), 9);
    assert.equal(at([persona('a')], { paused: { is: 'at', at: NOW }, quiet: { is: 'forever' } }), null);
  });

  test('for ages at most once a minute, however many there are', () => {
    const health = { ...down(0), since: NOW - 90_000 } as Health;
    assert.equal(at([persona('a', { health })]), MINUTE);
    const latest = Array.from({ length: 5 }, (_, i) => createMessage(i, 'x', 'y', i + 0.3));
    assert.equal(at(Array.from({ length: 100 }, (_, i) => persona(`p${i}`, { latestMessages: latest }))), MINUTE);
  });

  test('when a number gets old', () => {
    const ada = persona('a');
    const seen = (staleAfter: number): PersonaView => ({ ...ada, staleAfter });
    assert.equal(at([seen(NOW + 90_000)]), 90_000);
    assert.equal(at([seen(NOW + 1)]), MINUTE);
    assert.equal(at([seen(NOW)]), null);
  });

  test('with old ages only when they are told otherwise', () => {
    assert.equal(at([persona('a', { latestMessages: [createMessage(1, 'x', 'y', 90)] })]), 30 * MINUTE);
    assert.equal(at([persona('a', { latestMessages: [createMessage(1, 'x', 'y', 60 * 71)] })]), 60 * MINUTE);
    assert.equal(at([persona('a', { latestMessages: [{ ...createMessage(1, 'x', 'y'), created: '' }] })]), null);
  });

  test('and then it does: what is drawn at that moment is another model', () => {
    const s = snapshot([persona('a', { latestMessages: [createMessage(1, 'x', 'y', 90)] })]);
    assert.notDeepEqual(trayModel(s, computeNextChange(s, NOW) ?? 0), trayModel(s));
    assert.deepEqual(trayModel(s, (computeNextChange(s, NOW) ?? 0) - 1), trayModel(s));
  });
});
