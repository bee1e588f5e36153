import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AgentState, exactly } from '../../core/model/index.ts';
import { createMessage, down, MINUTE, NOW, persona, snapshot, text, trayModel } from '../../test/kit/menu-samples.ts';
import { computeNextChange } from './render.ts';

const since = NOW - 12 * MINUTE;
const WAITING: AgentState = { is: 'waiting', why: 'permission', since: NOW - 3 * MINUTE };

function findRow(agentState: AgentState, options: Parameters<typeof persona>[1] = {}): string {
  return text(trayModel(snapshot([persona('ada', { ...options, agentState })])).menu).find((row) =>
    /^(ada|n+…) - /.test(row),
  ) as string;
}

describe('what an agent does, in the menu', () => {
  test('its row says what it does, and for how long where a person wants to know', () => {
    for (const [state, row] of [
      [WAITING, 'ada - Waits at a permission prompt, 3 min'],
      [{ is: 'waiting', why: 'input' }, 'ada - Waits for your input'],
      [{ is: 'waiting', why: 'sandbox-request', since }, 'ada - Waits for you: sandbox request, 12 min'],
      [{ is: 'working', since }, 'ada - Working, 12 min'],
      [{ is: 'working', since: NOW - 5000 }, 'ada - Working'],
      [{ is: 'idle', since }, 'ada - Idle'],
      [{ is: 'gone', why: 'ended', since }, 'ada - Gone'],
      [{ is: 'stalled', why: 'mail-lies' }, 'ada - Nobody takes its mail'],
      [{ is: 'live' }, 'ada - no unread'],
      [{ is: 'unknown', why: 'not-reported' }, 'ada - no unread'],
    ] as const) {
      assert.equal(findRow(state), row);
    }
  });

  test('who waits for an answer says so once, and what else blocks it stays', () => {
    const deciding: AgentState = { is: 'waiting', why: 'decision', since, decision: 7 };
    const [asks, ships] = ['decision', 'ship'].map((id) => ({
      id,
      hook: 'Stop',
      mode: 'strict' as const,
      description: '',
    }));
    assert.ok(asks !== undefined && ships !== undefined);
    assert.equal(findRow(deciding, { gates: [asks] }), 'ada - Waits for your decision, 12 min');
    assert.equal(
      findRow(deciding, { gates: [asks, ships] }),
      'ada - Waits for your decision, 12 min, blocked at Stop by ship',
    );
  });

  test('beside mail and outages both are said; what a person must do comes first', () => {
    const mail = { unread: exactly(2), urgent: exactly(1) };
    assert.equal(findRow(WAITING, mail), 'ada - Waits at a permission prompt, 3 min · 2 unread, 1 urgent');
    assert.equal(findRow({ is: 'working', since }, mail), 'ada - 2 unread, 1 urgent · Working, 12 min');
    assert.equal(findRow({ is: 'idle' }, { health: down(5) }), 'ada - down for 5 min · Idle');
    assert.equal(findRow({ is: 'idle' }, { muted: { is: 'forever' } }), 'ada - Idle, muted');
  });

  test('urgent mail comes first, then agents that wait, then outages; the icon asks, hidden ones do not count', () => {
    const model = trayModel(
      snapshot([
        persona('down', { health: down(5) }),
        persona('urgent', { unread: exactly(1), urgent: exactly(1) }),
        persona('zoe', { agentState: WAITING }),
        persona('ada', { agentState: { ...WAITING, since: NOW } }),
        persona('hidden', { agentState: WAITING, hidden: true }),
      ]),
    );
    const names = text(model.menu).flatMap((row) => row.match(/^(\w+) - /)?.[1] ?? []);
    assert.deepEqual(names, ['urgent', 'zoe', 'ada', 'down'], 'the longest wait first');
    assert.equal(model.summary, '2 agents wait for you, 1 unread, 1 urgent, 1 down');
    assert.deepEqual([model.icon.badge, model.count, model.attention], ['ask', '! 1', true]);
  });

  test('while a message is unread the row ends with the newest one, cut to the room that is left', () => {
    const row = (text: string, options: Parameters<typeof persona>[1] = {}, name = 'bo'): string =>
      findRow(
        { is: 'live' },
        { unread: exactly(2), urgent: exactly(1), latestMessages: [createMessage(7, name, text, 3)], ...options },
      );
    assert.equal(row('Build is red'), 'ada - 2 unread, 1 urgent · bo: Build is red, 3 min');
    assert.equal(row(''), 'ada - 2 unread, 1 urgent · bo, 3 min');
    const subject = { ...createMessage(7, 'bo', 'The tests fail.', 0), subject: 'Build is red' };
    assert.equal(row('', { latestMessages: [subject] }), 'ada - 2 unread, 1 urgent · bo: Build is red');
    const long = row('word '.repeat(50));
    assert.match(long, /^ada - 2 unread, 1 urgent · bo: (word )+w?o?r?d?…, 3 min$/);
    assert.ok(long.length <= 72, long);
    const gates = [{ id: 'ship', hook: 'Stop', mode: 'strict' as const, description: '' }];
    assert.match(row('x', { label: 'n'.repeat(60), gates }), /^n+… - 2 unread, 1 urgent, blocked at Stop by ship$/);
    assert.equal(
      findRow(
        { is: 'working', since },
        {
          unread: exactly(2),
          muted: { is: 'forever' },
          latestMessages: [createMessage(7, 'bo', 'Build is red again, and more', 3)],
        },
      ),
      'ada - 2 unread, muted · Working, 12 min · bo: Build is red again…, 3 min',
    );
    const blocked = { unread: exactly(2), gates, latestMessages: [createMessage(7, 'bo', 'Build is red', 3)] };
    assert.equal(
      findRow({ is: 'working', since }, blocked),
      'ada - 2 unread, blocked at Stop by ship · bo: Build is red, 3 min',
      'the message comes before what the agent does',
    );
    assert.equal(row('read', { unread: exactly(0), urgent: exactly(0) }), 'ada - no unread');
  });

  test('a question in mail stands beside agents that wait and before outages, and counts with the decisions', () => {
    const model = trayModel(
      snapshot([
        persona('down', { health: down(5) }),
        persona('asked', { unread: exactly(2), questions: 1 }),
        persona('zoe', { agentState: WAITING }),
        persona('hidden', { questions: 3, hidden: true }),
      ]),
    );
    const rows = text(model.menu).filter((row) => /^\w+ - /.test(row));
    assert.deepEqual(rows.slice(0, 2), ['zoe - Waits at a permission prompt, 3 min', 'asked - 1 question, 2 unread']);
    assert.equal(model.summary, '1 question for you, 1 agent waits for you, 2 unread, 1 down');
    const alone = trayModel(snapshot([persona('asked', { unread: exactly(1), questions: 1 })]));
    assert.deepEqual([alone.icon.badge, alone.count, alone.attention], ['ask', '! 1', true]);
  });

  test('several wait, and nothing else is new', () => {
    const waiting = ['ada', 'bo'].map((id) => persona(id, { agentState: WAITING }));
    const model = trayModel(snapshot([...waiting, persona('cy', { agentState: { is: 'idle' } })]));
    assert.equal(model.summary, '2 agents wait for you');
    assert.deepEqual([model.icon.badge, model.attention], ['ask', true]);
    const quiet = trayModel(snapshot([persona('cy', { agentState: { is: 'working', since } })]));
    assert.deepEqual([quiet.icon.badge, quiet.attention], ['none', false]);
  });

  test('its submenu says where and with what; text of others is cleaned and cut', () => {
    const cwd = `/srv/work/${'x'.repeat(200)}\u202e`;
    const agentState = { is: 'idle', cwd, model: 'opus\n4' } as const;
    const rows = text(trayModel(snapshot([persona('ada', { agentState })])).menu);
    const place = rows.find((row) => row.includes('/srv/work')) ?? '';
    assert.match(place.trim(), /^\/srv\/work\/x+… · opus 4$/);
    assert.ok(place.length < 90);
    assert.match(
      findRow({ is: 'waiting', why: `a\u0007b\n${'y'.repeat(900)}` }),
      /^ada - Waits for you: a?b? ?y*.{0,60}…$/,
    );
  });

  test('what a row says for how long is drawn again when that changes', () => {
    const change = (state: AgentState): number | null =>
      computeNextChange(snapshot([persona('ada', { agentState: state })]), NOW);
    assert.equal(change(WAITING), NOW + MINUTE);
    assert.equal(change({ is: 'idle', since }), null);
  });
});

describe('messages with a subject and a link', () => {
  test('the subject stands before the first words, and the link has an entry of its own', () => {
    const message = { ...createMessage(7, 'bo', 'The tests fail.'), subject: 'Build is red' };
    const linked = { ...message, link: 'https://h/7' };
    const menu = trayModel(snapshot([persona('ada', { latestMessages: [linked, message] })])).menu;
    const rows = text(menu).map((row) => row.trim());
    const at = rows.findIndex((row) => row.startsWith('bo · '));
    assert.deepEqual(rows.slice(at, at + 4), [
      'bo · 5 min · Build is red · The tests fail.',
      'Open link',
      'Open session',
      'bo · 5 min · Build is red · The tests fail.',
    ]);
    const commands = JSON.stringify(menu);
    assert.match(commands, /"name":"open-item","params":\{"persona":"ada","id":7\}/);
    assert.doesNotMatch(commands, /https:/, 'no menu holds an address');
  });
});
