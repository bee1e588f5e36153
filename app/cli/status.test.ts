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

const ADA = createPersona({ urgent: 1, pending: [1, 0, 2, 0, 0], cwd: '/p/board\u001b[2J', model: 'opus' });
const SAMPLE = createStatus([createPersona({ id: 'bo', label: 'Bo B', unread: 0 }), ADA], 3);
beforeEach(() => {
  tray.answers['/status.json'] = SAMPLE;
});

const status = (...args: readonly string[]) => commandLine(['status', ...args], tray.env);

test('given a template, each persona is one line of its values, those who need you first', async () => {
  const { code, out } = await status('--format', '{{label}} {{ unread }} {{muted}} {{cwd}} {{gates}}');
  assert.deepEqual([code, out], [0, 'ada 3 null /p/board\\u001b[2J []\nBo B 0 null null []\n']);
  assert.equal((await status('--format', '{{id}}', '--unread')).out, 'ada\n');
  assert.equal((await status('bo', '--format={{state}}')).out, 'UP\n');
});

test('given a template with a key that no persona has, the error names it and the known ones', async () => {
  const { code, err } = await status('--format', '{{name}}');
  assert.equal(code, 2);
  assert.match(
    err,
    /^hivebar status: --format: there is no key name: use agent, .*id, .*unread, .*: see hivebar status --help\n$/,
  );
});

test('given a persona, everything about it is shown in the words of its page', async () => {
  tray.answers['/status.json'] = {
    ...SAMPLE,
    personas: [
      createPersona({
        ...{ urgent: 1, pending: [1, 0, 2, 0, 0], cwd: '/p/board\u001b[2J', model: 'opus', eventsFile: '/e/ada' },
        ...{ agent: 'waiting', agentReason: 'permission', agentSince: '2026-06-20T09:57:00.000000+00:00' },
        ...{ lastMailAt: '2026-06-20T09:00:00.000000+00:00', gates: [{ id: 'tests', hook: 'Stop', mode: 'strict' }] },
      }),
    ],
    decisions: [
      ...[{ id: 4, persona: 'ada', urgency: 'high', blocking: true, created: '2026-06-20T09:58:00.000000+00:00' }],
      ...[{ id: 5, persona: 'bo', urgency: 'low', blocking: true, created: '2026-06-20T09:58:00.000000+00:00' }],
    ].map((decision) => ({ ...decision, expires: null })),
  };
  tray.answers['/api/v1/newest'] = {
    newest: { ada: { from: 'bo', subject: '', text: 'main is red', at: '2026-06-20T09:00:00.000000+00:00' } },
  };
  const { code, out } = await status('ada');
  assert.equal(code, 0);
  assert.equal(
    out,
    [
      'ada',
      '',
      'State     Waits at a permission prompt, 3 min in /p/board\\u001b[2J with opus',
      'Unread    3 (1 critical, 2 normal)',
      'Question  4, asked 2 min ago: hivebar decision show 4',
      'Gates     Blocked at Stop by tests',
      'Newest    bo: main is red, 1 h ago',
      'Mail      Last mail 1 h ago',
      'Inbox     checked 1 s ago',
      'Source    local',
      'Events    /e/ada',
      '',
    ].join('\n'),
  );
});

test('given a persona and --json, its object is printed; without one the whole answer', async () => {
  assert.deepEqual(JSON.parse((await status('ada', '--json')).out), JSON.parse(JSON.stringify(ADA)));
  assert.deepEqual(JSON.parse((await status('--json')).out), JSON.parse(JSON.stringify(SAMPLE)));
});

test('given a name that nobody has, it ends with 1 and the name that was meant', async () => {
  const { code, out, err } = await status('adda', '--json');
  assert.deepEqual(
    [code, out, err],
    [1, '', 'hivebar: there is no persona adda: did you mean ada? see hivebar status\n'],
  );
});

test('given flags that do not fit together, it ends with 2', async () => {
  for (const flags of [['--unread'], ['--sort', 'name'], ['--format', '{{id}}']]) {
    const { code, err } = await status('--json', ...flags);
    assert.deepEqual([code, err.slice(0, 33)], [2, 'hivebar status: --json is whole: ']);
  }
  assert.equal((await status('--sort', 'age')).code, 2);
});
