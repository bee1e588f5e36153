import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersonaView, Snapshot } from '../../core/board/index.ts';
import { type Count, exactly, type Reach, sumOf, UNKNOWN } from '../../core/model/index.ts';
import { changesAt, trayModel } from './menu.ts';
import type { MenuEntry } from './model.ts';

const NOW = 1_750_000_000_000;
const MINUTE = 60_000;
const up: Reach = { is: 'up', since: NOW - 1000 };
const down = (minutes: number): Reach => ({
  is: 'down',
  since: NOW - minutes * MINUTE,
  failures: 3,
  why: 'refused',
});

interface Of {
  readonly reach?: Reach;
  readonly unread?: Count;
  readonly urgent?: Count;
  readonly label?: string;
}

function persona(
  id: string,
  { reach = up, unread = exactly(0), urgent = exactly(0), label = id }: Of = {},
): PersonaView {
  const seen = <T>(value: T) => ({ value, asOf: NOW, staleAfter: NOW + MINUTE });
  return {
    id,
    stem: id,
    source: 'kijito',
    label,
    reach,
    reason: null,
    since: null,
    vital: { is: 'live' },
    unread: seen(unread),
    urgent: seen(urgent),
    cursor: 0,
    lastEventId: null,
    lastMailAt: null,
    held: null,
    muted: { is: 'never' },
    hidden: false,
    canMarkRead: false,
    latest: [],
    eventsFile: null,
  };
}

function snapshot(personas: readonly PersonaView[], of: Partial<Snapshot> = {}): Snapshot {
  const downs = personas.filter((p) => p.reach.is === 'down').length;
  return {
    rev: 1,
    personas,
    causes: [],
    hives: [],
    totals: {
      unread: sumOf(personas.map((p) => p.unread.value)),
      urgent: sumOf(personas.map((p) => p.urgent.value)),
      up: personas.length - downs,
      down: downs,
      personas: personas.length,
    },
    paused: { is: 'never' },
    quietHours: false,
  quiet: { is: 'never' },
    autostart: null,
    tray: '',
    notifications: '',
    ...of,
  };
}

function text(menu: readonly MenuEntry[], indent = ''): string[] {
  return menu.flatMap((entry) => {
    if (entry.is === 'separator') return [`${indent}---`];
    const box = entry.is === 'check' ? (entry.checked ? '[x] ' : '[ ] ') : '';
    return [indent + box + entry.label, ...(entry.is === 'submenu' ? text(entry.entries, `${indent}  `) : [])];
  });
}

const rowsOf = (s: Snapshot): string[] => text(trayModel(s, NOW).menu).slice(2, -6);

describe('the menu', () => {
  test('as a whole: a summary, a row a persona by need of attention, what can be done', () => {
    const { menu } = trayModel(
      snapshot([
        persona('ada', { unread: exactly(3) }),
        persona('bo', { reach: down(4) }),
        persona('cy'),
        persona('di', { unread: exactly(1), urgent: exactly(1) }),
      ]),
      NOW,
    );
    assert.deepEqual(text(menu), [
      '4 unread, 1 urgent, 1 down',
      '---',
      'bo - DOWN 4 min',
      'di - 1 unread, 1 urgent',
      'ada - 3 unread',
      'cy - no unread',
      '---',
      'Open status page',
      'Poll now',
      '[ ] Pause notifications',
      '---',
      'Quit',
    ]);
  });

  test('a row says what is known, and no more', () => {
    assert.deepEqual(
      rowsOf(
        snapshot([
          persona('a', { unread: { is: 'atLeast', n: 200 } }),
          persona('b', { unread: UNKNOWN, reach: { is: 'unseen' } }),
          persona('c', { unread: UNKNOWN }),
          persona('d', { reach: down(90), unread: exactly(2) }),
          persona('e', { reach: down(60 * 72) }),
          persona('f', { reach: down(0) }),
          persona('g', { reach: { is: 'failing', failures: 1, why: 'timeout' } }),
        ]),
      ),
      [
        'd - DOWN 1 h, 2 unread',
        'e - DOWN 3 d',
        'f - DOWN',
        'a - 200+ unread',
        'b - not seen yet',
        'c - unread unknown',
        'g - no unread',
      ],
    );
  });

  test('labels of others become one short plain line', () => {
    assert.deepEqual(
      rowsOf(
        snapshot([
          persona('x', { label: 'a\u202eb\u0000\nc\u2028d\t\ue000' }),
          persona('y', { label: 'é'.repeat(100) }),
          persona('z', { label: '\u200b\n' }),
        ]),
      ),
      ['a b c d \ue000 - no unread', `${'é'.repeat(39)}… - no unread`, 'z - no unread'],
    );
  });

  test('of more than twenty, those that need attention stay in sight and the rest is behind one entry', () => {
    const many = Array.from({ length: 30 }, (_, i) => persona(`p${i}`, i === 29 ? { reach: down(1) } : {}));
    const rows = rowsOf(snapshot(many));
    assert.equal(rows[0], 'p29 - DOWN 1 min');
    assert.equal(rows[20], '10 more');
    assert.equal(rows.length, 31);
  });

  test('a hive that is down before it could name anybody has a row, and counts as down', () => {
    const s = snapshot([], { hives: [{ source: 'kijito', address: 'http://h:7474', state: 'DOWN', reason: null }] });
    assert.deepEqual(rowsOf(s), ['kijito - DOWN http://h:7474']);
    assert.equal(trayModel(s, NOW).icon.state, 'down');
    assert.equal(trayModel(s, NOW).summary, 'No personas, hive down');
  });

  test('the check box pauses, and resumes while a pause lasts', () => {
    const wanted = (s: Snapshot) => trayModel(s, NOW).menu.find((e) => e.is === 'check');
    const off = wanted(snapshot([persona('a')]));
    const on = wanted(snapshot([persona('a')], { paused: { is: 'at', at: NOW + 1 } }));
    const past = wanted(snapshot([persona('a')], { paused: { is: 'at', at: NOW } }));
    assert.deepEqual([off?.checked, off?.wanted.name], [false, 'pause']);
    assert.deepEqual([on?.checked, on?.wanted.name], [true, 'resume']);
    assert.deepEqual(past, off);
  });

  test('a click on a row opens that persona by its id, however it is labelled', () => {
    const row = trayModel(snapshot([persona('../x', { label: 'nice' })]), NOW).menu[2];
    assert.deepEqual(row?.is === 'command' && row.wanted, { name: 'open', params: { persona: '../x' } });
  });
});

describe('the icon', () => {
  const iconOf = (s: Snapshot) => {
    const { state, badge } = trayModel(s, NOW).icon;
    return `${state}-${badge}`;
  };

  test('down before paused before unknown before up', () => {
    const paused = { paused: { is: 'forever' } } as const;
    assert.equal(iconOf(snapshot([persona('a'), persona('b', { reach: down(1) })], paused)), 'down-none');
    assert.equal(iconOf(snapshot([persona('a')], paused)), 'paused-none');
    assert.equal(iconOf(snapshot([])), 'unknown-none');
    assert.equal(iconOf(snapshot([persona('a', { reach: { is: 'unseen' }, unread: UNKNOWN })])), 'unknown-none');
    assert.equal(iconOf(snapshot([persona('a'), persona('b', { reach: { is: 'unseen' } })])), 'up-none');
  });

  test('a failing persona below the threshold is still up', () => {
    assert.equal(iconOf(snapshot([persona('a', { reach: { is: 'failing', failures: 2, why: 'dns' } })])), 'up-none');
  });

  test('the badge counts to nine and then says more', () => {
    const badge = (unread: Count) => iconOf(snapshot([persona('a', { unread })]));
    assert.equal(badge(exactly(0)), 'up-none');
    assert.equal(badge(exactly(1)), 'up-1');
    assert.equal(badge(exactly(9)), 'up-9');
    assert.equal(badge(exactly(10)), 'up-9+');
    assert.equal(badge({ is: 'atLeast', n: 9 }), 'up-9+');
    assert.equal(badge(UNKNOWN), 'up-none');
  });

  test('back to up by the recovery alone, with nothing new to read (S2)', () => {
    const before = iconOf(snapshot([persona('a', { reach: down(3) })]));
    const after = iconOf(snapshot([persona('a', { reach: up })]));
    assert.deepEqual([before, after], ['down-none', 'up-none']);
  });
});

test('time alone changes the model with each minute of an outage and at the end of a pause, else never', () => {
  assert.equal(changesAt(snapshot([persona('a')]), NOW), null);
  const s = snapshot([persona('a', { reach: { ...down(0), since: NOW - 90_000 } as Reach })]);
  assert.equal(changesAt(s, NOW), NOW + 30_000);
  const paused = snapshot([persona('a')], { paused: { is: 'at', at: NOW + 7 } });
  assert.equal(changesAt(paused, NOW), NOW + 7);
});
