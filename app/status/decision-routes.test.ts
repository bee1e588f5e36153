import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asks, says } from '../../test/kit/decisions.ts';
import { statusRig, TOKEN } from '../../test/kit/status-rig.ts';

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
