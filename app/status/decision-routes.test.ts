import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Decision, toDecisionJson } from '../../core/inbox/decisions/index.ts';
import { asks, says } from '../../test/kit/decisions.ts';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';

test('decisions are told with the token only: those that are open, or all, newest first', async () => {
  await using rig = await statusRig();
  rig.decisions.create(asks({ prompt: 'SECRET-PROMPT' }));
  rig.decisions.create(asks({ persona: 'bo' }));
  rig.decisions.create(asks());
  rig.decisions.respond(3, says({ select: 'a' }));
  const ask = async (query: string, authorization = `Bearer ${TOKEN}`) => {
    const url = `http://127.0.0.1:${rig.port}/api/v1/decisions${query}`;
    const answer = await fetch(url, { headers: authorization === '' ? {} : { authorization } });
    return { status: answer.status, text: await answer.text() };
  };
  const ids = async (query: string): Promise<number[]> => {
    const { decisions } = JSON.parse((await ask(query)).text) as { decisions: { id: number }[] };
    return decisions.map(({ id }) => id);
  };
  assert.deepEqual(await ids(''), [2, 1]);
  assert.deepEqual(await ids('?state=all'), [3, 2, 1]);
  assert.deepEqual(await ids('?state=all&persona=ada&limit=1'), [3]);
  const refused = await ask('', '');
  assert.equal(refused.status, 401);
  assert.doesNotMatch(refused.text, /SECRET/);
  for (const query of ['?state=closed', '?limit=0', '?limit=1001', '?open=true', '?state=all&state=open'])
    assert.equal((await ask(query)).status, 400, query);
});

const bearer = { authorization: `Bearer ${TOKEN}` };

/** A request with the token, on a connection of its own. */
async function ask(rig: StatusRig, path: string, body: object | null = null, headers: object = bearer) {
  const url = `http://127.0.0.1:${rig.port}/api/v1/decisions${path}`;
  const all = { 'content-type': 'application/json', connection: 'close', ...headers };
  const post = body === null ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(url, { ...post, headers: all });
  const json = (await answer.json()) as Record<string, unknown> & { error?: { code: string; message: string } };
  return { status: answer.status, json };
}

const ASKED = {
  ...{ persona: 'ada', prompt: 'Which way?', context: 'It rains.', urgency: 'high', default: 'b', timeout: '2h' },
  ...{
    options: [
      { id: 'a', label: 'the long way' },
      { id: 'b', label: 'the short way', short: 'short' },
    ],
  },
};

test('given a question with every field, then it is stored as the command line would have asked it', async () => {
  await using rig = await statusRig();
  const { status, json } = await ask(rig, '', { ...ASKED, freeText: true, mostIterations: 5, blocking: true });
  assert.equal(status, 200);
  assert.deepEqual(json, { ...toDecisionJson(rig.decisions.get(1) as Decision) });
  const { options, urgency, freeText, mostIterations, blocking, created, expires } = json;
  assert.deepEqual([urgency, freeText, mostIterations, blocking], ['high', true, 5, true]);
  assert.deepEqual(options, [
    { id: 'a', short: 'the long way', label: 'the long way' },
    { id: 'b', short: 'short', label: 'the short way' },
  ]);
  assert.equal(Date.parse(String(expires)) - Date.parse(String(created)), 7_200_000);
  const { json: refined } = await ask(rig, '', { ...ASKED, refines: 1, timeout: 'never' });
  assert.deepEqual([refined.id, refined.parent, refined.expires], [2, 1, null]);
});

test('a wait returns the answer, the timeout or the cancellation; without a wait the decision as it is', async () => {
  await using rig = await statusRig();
  await ask(rig, '', ASKED);
  assert.equal((await ask(rig, '/1')).json.state, 'open');
  const answered = ask(rig, '/1?wait=60');
  await ask(rig, '/1?wait=0.01');
  rig.decisions.respond(1, says({ select: 'a', text: 'slowly' }));
  const { json } = await answered;
  assert.deepEqual([json.state, json.choice, json.text, json.by], ['resolved', 'a', 'slowly', 'operator']);
  await ask(rig, '', { ...ASKED, default: undefined, timeout: 0.5 });
  assert.equal((await ask(rig, '/2?wait=60')).json.state, 'timed-out');
  await ask(rig, '', ASKED);
  const cancelled = ask(rig, '/3?wait=60');
  const done = await ask(rig, '/3/cancel', { by: 'ada', reason: 'never mind' });
  assert.equal(done.json.accepted, true);
  const { state, by, text } = (await cancelled).json;
  assert.deepEqual([state, by, text], ['cancelled', 'ada', 'never mind']);
  const late = await ask(rig, '/3/cancel', {});
  assert.deepEqual([late.status, late.json.accepted], [200, false]);
});

test('a wrong value is 400 and names the field and the right values; an unknown number is 404; nothing without the token', async () => {
  await using rig = await statusRig();
  for (const [body, words] of [
    [{ prompt: 'x', freeText: true }, /body has no "persona"/],
    [{ ...ASKED, urgency: 'now' }, /body\.urgency must be one of low, normal, high, not "now"/],
    [{ ...ASKED, default: 'c' }, /the default must be a or b, not "c"/],
    [{ ...ASKED, timeout: '5' }, /"timeout" 5: must be a duration, for example 90s, 30m, 2h or 1d/],
    [{ ...ASKED, timeout: '31d' }, /"timeout" 31d: must be at most 30d, or never/],
    [{ ...ASKED, options: [{ id: 'a b', label: 'x' }] }, /body\.options\.0\.id must match pattern/],
    [{ ...ASKED, mostIterations: 11 }, /body\.mostIterations must be <= 10, not 11/],
    [{ ...ASKED, wait: true }, /unknown field "wait"/],
    [{ ...ASKED, refines: 7 }, /there is no decision 7/],
    [{ ...ASKED, prompt: 'x'.repeat(2001) }, /body\.prompt must NOT have more than 2000 characters/],
  ] as const) {
    const { status, json } = await ask(rig, '', body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(json.error?.message ?? '', words);
  }
  for (const path of ['/1', '/ada', '/1?wait=1', '/0'])
    assert.deepEqual([(await ask(rig, path)).status, path], [404, path]);
  assert.equal((await ask(rig, '/1/cancel', {})).status, 404);
  rig.decisions.create(asks({ prompt: 'SECRET-PROMPT' }));
  for (const [path, body] of [
    ['', ASKED],
    ['/1', null],
    ['/1?wait=1', null],
    ['/1/cancel', {}],
  ] as const) {
    const refused = await ask(rig, path, body, {});
    assert.equal(refused.status, 401, path);
    assert.doesNotMatch(JSON.stringify(refused.json), /SECRET/);
  }
  assert.equal(rig.decisions.get(1)?.outcome.is, 'open');
});
