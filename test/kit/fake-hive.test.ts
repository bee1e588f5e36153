import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeHive, fakeHive } from './fake-hive.ts';
import { findPortStates, NO_LISTENING_PORTS } from './listening.ts';

/** What these tests read of an answer. */
interface Answer {
  readonly result: readonly Record<string, unknown>[];
  readonly cursor?: string;
}

async function ask(hive: FakeHive, path: string): Promise<Answer> {
  return (await (await fetch(hive.url + path)).json()) as Answer;
}

const PEEK = '/api/inbox?persona=ada&mark_read=false';

test('ids rise across the whole hive, and an inbox serves its own rows', async () => {
  await using hive = await fakeHive({ personas: ['ada', 'bo'] });
  assert.deepEqual(
    [hive.deliver('ada'), hive.deliver('bo'), hive.deliver('ada', { from: 'x', content: 'y' })],
    [1, 2, 3],
  );
  const { result } = await ask(hive, PEEK);
  assert.deepEqual(
    result.map((row) => [row.id, row.from, row.content, row.read]),
    [
      [1, 'river', 'mail 1', false],
      [3, 'x', 'y', false],
    ],
  );
});

test('asking without mark_read=false consumes, as the real one does', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  hive.deliver('ada');
  await ask(hive, PEEK);
  assert.deepEqual(
    hive.listRows('ada').map(({ read }) => read),
    [false],
  );
  await ask(hive, '/api/inbox?persona=ada');
  assert.deepEqual(
    hive.listRows('ada').map(({ read }) => read),
    [true],
  );
});

test('a bounded window says what it withholds; a legacy hive has no such fields', async () => {
  await using hive = await fakeHive({ personas: ['ada'], window: 2 });
  for (let i = 0; i < 3; i += 1) hive.deliver('ada');
  const { result, ...fields } = await ask(hive, PEEK);
  assert.equal(result.length, 2);
  const whole = { truncated: false, size_dropped: 0, size_truncated: false, next_before_id: null, unread_not_shown: 0 };
  assert.deepEqual(fields, { ...whole, truncated: true, next_before_id: 2, unread_not_shown: 1 });
  const { result: rest, ...last } = await ask(hive, `${PEEK}&before_id=2`);
  assert.equal(rest.length, 1);
  assert.deepEqual(last, whole);
  await using legacy = await fakeHive({ personas: ['ada'], window: 'legacy' });
  assert.deepEqual(await ask(legacy, PEEK), { result: [] });
});

test('pending lists who has unread mail, own mail apart, and holds until the cursor is passed', async () => {
  await using hive = await fakeHive({ personas: ['ada', 'bo'] });
  hive.deliver('ada', { urgent: true });
  hive.deliver('bo', { from: 'bo' });
  assert.deepEqual(await ask(hive, '/api/notify/pending'), {
    result: [{ persona: 'ada', unread: 1, unread_urgent: 1 }],
  });
  const { cursor } = await ask(hive, '/api/notify/pending?wait=1');
  const held = ask(hive, `/api/notify/pending?wait=30&cursor=${cursor}`);
  while (hive.asked('pending').length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  hive.markRead('ada');
  assert.deepEqual((await held).result, []);
  const start = performance.now();
  const { cursor: now } = await ask(hive, '/api/notify/pending?wait=1');
  await ask(hive, `/api/notify/pending?wait=0.1&cursor=${now}`);
  assert.ok(performance.now() - start >= 95);
});

test('mail can be sent over HTTP, and every request is on record', async () => {
  await using hive = await fakeHive();
  const body = JSON.stringify({ to: 'cy', from: 'me', content: 'hi' });
  const sent = await fetch(`${hive.url}/api/send`, { method: 'POST', body, headers: { 'x-test': '1' } });
  assert.deepEqual(await sent.json(), { result: { id: 1, to: 'cy' } });
  assert.deepEqual(await ask(hive, '/api/personas'), { result: [{ persona: 'cy' }] });
  assert.deepEqual(
    hive.requests.map(({ method, url, endpoint }) => [method, url, endpoint]),
    [
      ['POST', '/api/send', 'send'],
      ['GET', '/api/personas', 'personas'],
    ],
  );
  assert.equal(hive.requests[0]?.headers['x-test'], '1');
});

test('a fault is limited to a persona or an endpoint, the later one wins, and all heal', async () => {
  await using hive = await fakeHive({ personas: ['ada', 'bo'] });
  const status = async (path: string): Promise<number> => (await fetch(hive.url + path)).status;
  hive.fail({ is: 'status', status: 500 }, { persona: 'ada' });
  hive.fail({ is: 'status', status: 503 }, { endpoint: 'pending' });
  assert.deepEqual([await status(PEEK), await status('/api/inbox?persona=bo&mark_read=false')], [500, 200]);
  assert.deepEqual([await status('/api/notify/pending'), await status('/api/personas')], [503, 200]);
  hive.fail({ is: 'status', status: 502 });
  assert.equal(await status(PEEK), 502);
  await hive.heal();
  assert.equal(await status(PEEK), 200);
});

test('a hive that refuses heals on the same port with its mail', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  hive.deliver('ada');
  await hive.refuse();
  await assert.rejects(fetch(hive.url + PEEK), (error: Error) => /ECONNREFUSED/.test(String(error.cause)));
  await hive.heal();
  assert.equal((await ask(hive, PEEK)).result.length, 1);
});

test('a token, and a named agent, are asked for when the hive is told to', async () => {
  await using hive = await fakeHive({ token: 't', namedAgentsOnly: true });
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${hive.url}/api/personas`, { headers })).status;
  assert.equal(await status({}), 403);
  assert.equal(await status({ 'user-agent': 'hivebar/1' }), 401);
  assert.equal(await status({ 'user-agent': 'hivebar/1', authorization: 'Bearer t' }), 200);
});

test('every broken answer is broken for a client that knows HTTP', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  for (const is of ['truncated', 'garbage', 'bad-chunk', 'reset'] as const) {
    hive.fail({ is });
    await assert.rejects(ask(hive, PEEK), is);
  }
});

test('a hive that refuses keeps its port from others, and has it when it is back', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  await hive.refuse();
  await assert.rejects(fetch(hive.url), ({ cause }: { cause: { code: string } }) => cause.code === 'ECONNREFUSED');
  // An end of a connection has it, so the system gives it to nobody who asks for any port.
  if (NO_LISTENING_PORTS === null) assert.deepEqual(findPortStates(hive.port), ['01']);
  await hive.heal();
  assert.equal((await ask(hive, PEEK)).result.length, 0);
});
