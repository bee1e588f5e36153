import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { commandLine } from '../../test/kit/command-line.ts';
import { type FakeTray, startFakeTray } from '../../test/kit/fake-tray.ts';
import { createPersona, createStatus } from '../../test/kit/status-sample.ts';

let tray: FakeTray;
before(async () => {
  tray = await startFakeTray();
});
after(() => tray[Symbol.asyncDispose]());
beforeEach(() => {
  tray.answers['/api/v1/actions/open'] = { result: { opened: 'tmux' } };
});

const open = (...args: readonly string[]) => commandLine(['open', ...args], tray.env);

test('given personas that need a person, open --next opens the one that comes first, and says why', async () => {
  const waits = {
    agent: 'waiting',
    agentReason: 'permission',
    agentSince: '2026-06-20T09:57:00.000000+00:00',
  } as const;
  tray.answers['/status.json'] = createStatus(
    [createPersona({}), createPersona({ id: 'bo', label: 'bo', ...waits })],
    3,
  );
  assert.deepEqual(await open('--next'), {
    code: 0,
    out: 'opened bo: waits at a permission prompt, 3 min\n',
    err: '',
  });
  assert.deepEqual(tray.requests.at(-1), { path: '/api/v1/actions/open', body: '{"persona":"bo"}' });
  tray.answers['/status.json'] = createStatus(
    [createPersona({}), createPersona({ id: 'bo', label: 'bo', unread: 0 })],
    3,
  );
  assert.equal((await open('--next')).out, 'opened ada: 3 unread\n');
});

test('given nobody who needs a person, open --next says so, opens nothing and ends with 1', async () => {
  tray.answers['/status.json'] = createStatus(
    [createPersona({ unread: 0 }), createPersona({ id: 'bo', label: 'bo', hidden: true })],
    0,
  );
  const before = tray.requests.length;
  assert.deepEqual(await open('--next'), {
    code: 1,
    out: '',
    err: 'hivebar: nobody has unread mail or needs you\n',
  });
  assert.deepEqual(
    tray.requests.slice(before).map(({ path }) => path),
    ['/status.json'],
  );
});

test('given a name beside --next, it is a bad command line', async () => {
  const { code, err } = await open('--next', 'ada');
  assert.deepEqual([code, err.includes('use only one of --next and PERSONA')], [2, true]);
});
