import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../core/model/index.ts';
import { asks, decisionRig } from '../../test/kit/decisions.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { createActions, type TrayControls } from './index.ts';

const NOW = Date.UTC(2026, 5, 10, 12);

/** A house that writes down what is asked of it; it knows ada. */
function rig() {
  const asked: unknown[][] = [];
  const house = new Proxy({} as TrayControls, {
    get:
      (_, name) =>
      (...args: unknown[]) => {
        if (name === 'knows') return args[0] === 'ada';
        asked.push([name, ...args]);
        const answers: Readonly<Record<string, unknown>> = {
          markRead: 2,
          markUnread: 1,
          deleteMessage: 1,
          openPage: 'page',
          openSession: 'tmux',
          openItem: 'url',
        };
        return name === 'poll' ? args[0] === null || args[0] === 'ada' : answers[String(name)];
      },
  });
  const actions = createActions(house, fakeClock(NOW));
  const run = (name: string, params: unknown) => actions.get(name)?.run(params, new AbortController().signal);
  return { asked, actions, run };
}

for (const [span, until] of [
  [{ minutes: 90 }, NOW + 90 * 60_000],
  [{ until: '2026-06-10T14:00:00+02:00' }, null],
  [{ until: '2026-06-11T00:00:00Z' }, Date.UTC(2026, 5, 11)],
  [{}, 'forever'],
] as const) {
  test(`silence for ${JSON.stringify(span)}`, async () => {
    const { asked, run } = rig();
    if (until === null) {
      await assert.rejects(async () => run('mute', { persona: 'ada', ...span }), /has passed/);
      return;
    }
    await run('mute', { persona: 'ada', ...span });
    await run('pause', span);
    const is = until === 'forever' ? { is: 'forever' } : { is: 'at', at: until };
    assert.deepEqual(asked, [
      ['mute', 'ada', is],
      ['mute', null, is],
    ]);
  });
}

test('until tomorrow is the next morning by the clock on the wall', async () => {
  const { asked, run } = rig();
  await run('pause', { until: 'tomorrow' });
  const { at } = (asked[0] ?? [])[2] as { at: number };
  const day = new Date(at);
  assert.deepEqual([day.getHours(), day.getMinutes()], [8, 0]);
  assert.ok(at > NOW && at < NOW + 48 * 3_600_000);
});

test('what no schema fits, or contradicts itself, is refused and changes nothing', async () => {
  const { asked, run } = rig();
  for (const [name, params] of [
    ['mute', {}],
    ['mute', { persona: 'ada', minutes: 0 }],
    ['mute', { persona: 'ada', minutes: 1e12 }],
    ['mute', { persona: 'ada', minutes: 5, until: 'tomorrow' }],
    ['mute', { persona: 'ada', until: 'yesterday' }],
    ['mute', { persona: 'ada', until: '2026-99-99T00:00:00Z' }],
    ['pause', { persona: 'ada' }],
    ['read', { persona: 'ada', id: 0 }],
    ['read', { persona: 'ada', id: 1.5 }],
    ['read', { persona: 'ada', id: 1, upTo: 2 }],
    ['unread', { persona: 'ada' }],
    ['delete', { persona: 'ada', id: 0 }],
    ['open-item', { persona: 'ada' }],
    ['open-item', { persona: 'ada', id: 1, link: 'https://h/' }],
    ['quiet-hours', {}],
    ['autostart', { on: 'yes' }],
  ] as const) {
    await assert.rejects(
      async () => run(name, params),
      (error) => error instanceof Fault && error.code === 'usage',
      JSON.stringify(params),
    );
  }
  assert.deepEqual(asked, []);
});

test('a persona that is not watched is named, by every action on one', async () => {
  const { run } = rig();
  for (const name of ['mute', 'unmute', 'hide', 'unhide', 'read', 'open', 'page', 'copy-follow', 'poll']) {
    await assert.rejects(async () => run(name, { persona: 'nobody' }), /"nobody" is not watched/, name);
  }
});

test('E6 without a persona, open is the page; with one, its session; the answer says what was opened', async () => {
  const { asked, run } = rig();
  assert.deepEqual(await run('open', { activationToken: 't' }), { opened: 'page' });
  assert.deepEqual(await run('open', { persona: 'ada' }), { opened: 'tmux' });
  assert.deepEqual(await run('page', { persona: 'ada' }), { opened: 'page' });
  assert.deepEqual(await run('open-item', { persona: 'ada', id: 7 }), { opened: 'url' });
  assert.deepEqual(asked, [
    ['openPage', null, 't'],
    ['openSession', 'ada', null],
    ['openPage', 'ada', null],
    ['openItem', 'ada', 7, null],
  ]);
});

test('one message is marked as unread or deleted, and the answer says whether there was one', async () => {
  const { asked, run } = rig();
  assert.deepEqual(await run('unread', { persona: 'ada', id: 7 }), { persona: 'ada', marked: 1 });
  await run('unread', { persona: 'ada', ids: [7, 8] });
  assert.deepEqual(await run('delete', { persona: 'ada', id: 7 }), { persona: 'ada', deleted: 1 });
  assert.deepEqual(asked, [
    ['markUnread', 'ada', [7]],
    ['markUnread', 'ada', [7, 8]],
    ['deleteMessage', 'ada', 7],
  ]);
  for (const name of ['unread', 'delete'])
    await assert.rejects(async () => run(name, { persona: 'nobody', id: 7 }), /"nobody" is not watched/, name);
});

test('every action asks for the token, and a new link for that of the run: a device could outlive its revocation with one', () => {
  for (const { name, asks } of rig().actions.values())
    assert.equal(asks, name === 'link' ? 'run-token' : 'token', name);
});

test('decide hands the answer on as the operator, and says whether it held', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.create(asks());
  const house = { decide: decisions.respond } as unknown as TrayControls;
  const decide = async (params: object) => {
    const answer = await createActions(house, fakeClock(NOW)).get('decide')?.run(params, new AbortController().signal);
    const { accepted, decision } = answer as {
      accepted: boolean;
      decision: { state: string; choice: string; by: string };
    };
    return [accepted, decision.state, decision.choice, decision.by];
  };
  await assert.rejects(decide({ decision: 2, select: 'a' }), /there is no decision 2/);
  await assert.rejects(decide({ decision: 1, select: 'z' }), /choose a or b/);
  await assert.rejects(decide({ decision: 1 }), /must select an option or have text/);
  await assert.rejects(decide({ decision: 1, select: 'a', by: 'ada' }), /unknown field "by"/);
  assert.deepEqual(await decide({ decision: 1, select: 'b', text: 'go' }), [true, 'resolved', 'b', 'operator']);
  assert.deepEqual(await decide({ decision: 1, select: 'a' }), [false, 'resolved', 'b', 'operator']);
});

test('an action of a source is done by the source, with what was said and nothing else', async () => {
  const { asked, run } = rig();
  const source = 'brainclaw';
  await run('brainclaw', { project: 'bc-lab', do: 'reject', item: 'cnd_1', text: 'too narrow' });
  await run('brainclaw', { project: 'bc-lab', do: 'complete-step', item: 'pln_1', step: 'stp_2' });
  assert.deepEqual(
    asked.map((call) => call.slice(0, 4)),
    [
      ['actOnSource', source, source, { project: 'bc-lab', do: 'reject', item: 'cnd_1', text: 'too narrow' }],
      ['actOnSource', source, source, { project: 'bc-lab', do: 'complete-step', item: 'pln_1', step: 'stp_2' }],
    ],
  );
  const wrong = [{}, { do: 'delete' }, { item: '' }, { tool: 'bclaw_remove' }, { text: 'x'.repeat(10_001) }];
  for (const more of wrong)
    await assert.rejects(async () =>
      run('brainclaw', { project: 'bc-lab', do: 'accept', ...(more === wrong[0] ? {} : { item: 'cnd_1' }), ...more }),
    );
  assert.equal(asked.length, 2);
});
