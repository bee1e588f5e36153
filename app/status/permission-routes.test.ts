import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { realClock } from '../../core/ports/index.ts';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { until } from '../../test/kit/until.ts';
import { createActions } from '../actions/index.ts';
import type { PermissionWire } from './wire.ts';

const BODY = {
  ...{ harness: 'claude', session: 's1', persona: 'ada', subagent: false, cwd: '/work', tool: 'Bash' },
  ...{ text: 'command: echo SECRET', cut: 0 },
};

/** A server whose actions answer its own prompts. */
async function permissionRig(): Promise<StatusRig> {
  const running: { rig?: StatusRig } = {};
  const permit: Controls['permit'] = (...answer) => {
    assert.ok(running.rig !== undefined);
    return running.rig.permissions.answer(...answer);
  };
  const rig = await statusRig({ actions: createActions({ permit } as Controls, realClock) });
  running.rig = rig;
  return rig;
}
type Controls = Parameters<typeof createActions>[0];

/** A hook that asks over the owner-only socket. */
function askAsHook({ socketPath }: StatusRig, body: object = BODY) {
  const done = Promise.withResolvers<{ readonly status: number; readonly text: string }>();
  const headers = { host: 'localhost', 'content-type': 'application/json', connection: 'close' };
  const sent = request({ socketPath, method: 'POST', path: '/api/v1/permissions', headers }, (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => done.resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
  });
  sent.on('error', () => done.resolve({ status: 0, text: '' }));
  sent.end(JSON.stringify(body));
  return { answer: done.promise, leave: () => void sent.destroy() };
}

const bearer = { authorization: `Bearer ${TOKEN}` };

async function list(rig: StatusRig, headers: Readonly<Record<string, string>> = bearer) {
  const answer = await fetch(`http://127.0.0.1:${rig.port}/api/v1/permissions`, { headers });
  const text = await answer.text();
  const { permissions = [] } = JSON.parse(text) as { permissions?: readonly PermissionWire[] };
  return { status: answer.status, text, permissions };
}

async function waitForPrompt(rig: StatusRig): Promise<PermissionWire> {
  await until('the prompt', () => rig.permissions.list().length === 1);
  const [prompt] = (await list(rig)).permissions;
  assert.ok(prompt !== undefined);
  return prompt;
}

function permit(rig: StatusRig, params: object, headers: Readonly<Record<string, string>> = bearer) {
  const all = { 'content-type': 'application/json', ...headers };
  const url = `http://127.0.0.1:${rig.port}/api/v1/actions/permit`;
  return new Promise<number>((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: all }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(params));
  });
}

test('a forged answer does nothing: another origin, no token, a wrong one, another id, and an answer that is sent again', async () => {
  await using rig = await permissionRig();
  const hook = askAsHook(rig);
  const { id: permission, number } = await waitForPrompt(rig);
  const allow = { permission, answer: 'allow' };
  const forged: readonly (readonly [number, object, Readonly<Record<string, string>>])[] = [
    [403, allow, { ...bearer, origin: 'http://evil.example' }],
    [403, allow, { ...bearer, origin: `http://127.0.0.1:${rig.port + 1}` }],
    [403, allow, { ...bearer, 'sec-fetch-site': 'cross-site' }],
    [403, allow, { ...bearer, 'sec-fetch-site': 'same-site' }],
    [403, allow, { ...bearer, host: 'evil.example' }],
    [415, allow, { ...bearer, 'content-type': 'text/plain' }],
    [401, allow, {}],
    [401, allow, { authorization: 'Bearer wrong' }],
    [400, { ...allow, permission: `${permission}0` }, bearer],
    [400, { ...allow, permission: String(number) }, bearer],
    [400, { ...allow, permission: '0'.repeat(32) }, bearer],
    [400, { answer: 'allow' }, bearer],
    [400, { ...allow, answer: 'always' }, bearer],
    [400, { ...allow, updatedInput: { command: 'rm' } }, bearer],
    [400, { ...allow, from: 'the person' }, bearer],
  ];
  for (const [status, params, headers] of forged)
    assert.equal(await permit(rig, params, headers), status, JSON.stringify([params, headers]));
  assert.equal(rig.permissions.list().length, 1, 'the prompt still waits');

  assert.equal(await permit(rig, { permission, answer: 'deny', from: 'page' }), 200);
  assert.deepEqual(await hook.answer, { status: 200, text: '{"answer":"deny"}' });
  assert.equal(await permit(rig, allow), 400, 'the same id again');

  // Nor does it answer the next prompt of the same agent.
  const next = askAsHook(rig);
  const prompt = await waitForPrompt(rig);
  assert.equal(await permit(rig, allow), 400);
  assert.equal(await permit(rig, { permission: prompt.id, answer: 'allow' }), 200);
  assert.deepEqual(await next.answer, { status: 200, text: '{"answer":"allow"}' });
});

test('the call and the id of a prompt are shown with the token only, and the status says only who asks', async () => {
  await using rig = await permissionRig();
  const hook = askAsHook(rig);
  const { id } = await waitForPrompt(rig);
  const anyone = await list(rig, {});
  assert.deepEqual([anyone.status, anyone.permissions], [401, []]);
  for (const path of ['/status.json', '/', '/metrics', '/api/v1/events']) {
    const text = await (await fetch(`http://127.0.0.1:${rig.port}${path}`)).text();
    assert.ok(!text.includes(id) && !text.includes('SECRET'), path);
  }
  const status = (await (await fetch(`http://127.0.0.1:${rig.port}/status.json`)).json()) as {
    permissions: readonly object[];
  };
  assert.deepEqual(
    status.permissions.map((prompt) => Object.keys(prompt)),
    [['number', 'persona', 'created', 'expires']],
  );
  hook.leave();
  await until('the prompt left with its hook', () => rig.permissions.list().length === 0);
});

test('only the owner-only socket takes a prompt, and only one of the right form', async () => {
  await using rig = await permissionRig();
  const headers = { ...bearer, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${rig.port}/api/v1/permissions`;
  const post = async (init: Record<string, string>): Promise<number> =>
    (await fetch(url, { method: 'POST', headers: init, body: JSON.stringify(BODY) })).status;
  assert.equal(await post(headers), 403);
  assert.equal(await post({ 'content-type': 'application/json' }), 401);
  for (const body of [{}, { ...BODY, text: 'x'.repeat(2001) }, { ...BODY, cut: -1 }, { ...BODY, more: 1 }])
    assert.equal((await askAsHook(rig, body).answer).status, 400);
  assert.deepEqual(rig.permissions.list(), []);
});
