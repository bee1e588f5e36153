import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { newItem } from '../../test/kit/new-item.ts';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { until } from '../../test/kit/until.ts';
import { openSessionStore } from '../open/index.ts';

interface Answer {
  readonly status: number;
  readonly body: {
    readonly id?: number;
    readonly new?: boolean;
    readonly items?: readonly { readonly id: number; readonly content: string }[];
    readonly left?: number;
    readonly error?: { readonly code: string; readonly message: string; readonly next: string };
  };
}

async function post(rig: StatusRig, path: string, body: object, headers: object = bearer): Promise<Answer> {
  const url = `http://127.0.0.1:${rig.port}/api/v1/${path}`;
  const all = { 'content-type': 'application/json', connection: 'close', ...headers };
  const answer = await fetch(url, { method: 'POST', headers: all, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}

const bearer = { authorization: `Bearer ${TOKEN}` };
const push = (rig: StatusRig, body: object) => post(rig, 'items', body);
const drain = (rig: StatusRig, body: object = {}) => post(rig, 'items/drain', { persona: 'ada', ...body });
const ids = ({ body }: Answer): readonly number[] => (body.items ?? []).map(({ id }) => id);

/** Sends a drain and never reads its answer. */
function drainRaw(rig: StatusRig, body: object) {
  const text = JSON.stringify({ persona: 'ada', ...body });
  const head = [
    'POST /api/v1/items/drain HTTP/1.1',
    `Host: 127.0.0.1:${rig.port}`,
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
  ];
  const socket = connect(rig.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
  return socket;
}

test('given a push with every field, when it is drained, the item is as the command line would have stored it', async () => {
  await using rig = await statusRig();
  const fields = { type: 'alert', source: 'ci', priority: 0, ttl: '10m', dedup_key: 'run-42', content: 'main is red' };
  assert.deepEqual(await push(rig, { to: 'ada', ...fields }), {
    status: 200,
    body: { id: 1, persona: 'ada', session: null, dedupKey: 'run-42', new: true },
  });
  const again = await push(rig, { to: 'ada', ...fields, content: 'again' });
  assert.deepEqual([again.status, again.body.id, again.body.new], [200, 1, false]);
  const [item] = rig.hive.items.list('ada', 'all', 10);
  assert.equal((item?.expires ?? 0) - (item?.created ?? 0), 600_000);
  const { body } = await drain(rig);
  const { type, source, priority, content, dedupKey } = (body.items?.[0] ?? {}) as Record<string, unknown>;
  assert.deepEqual([type, source, priority, content, dedupKey], ['alert', 'ci', 0, 'main is red', 'run-42']);
});

test('given only a text and a recipient, the item is of type agent, priority 2, from http', async () => {
  await using rig = await statusRig();
  await push(rig, { to: 'ada', content: 'x', ttl: 60 });
  const [item] = rig.hive.items.list('ada', 'all', 10);
  assert.deepEqual([item?.type, item?.priority, item?.source], ['agent', 2, 'http']);
  assert.equal((item?.expires ?? 0) - (item?.created ?? 0), 60_000);
});

test('given a broadcast, each persona drains it once, also one that appears later', async () => {
  await using rig = await statusRig();
  await push(rig, { to: 'bo', content: 'x' });
  const { body } = await push(rig, { broadcast: true, content: 'down in 10 min' });
  assert.deepEqual(body, { ...body, id: 2, persona: null, new: true });
  for (const persona of ['bo', 'later']) {
    const drained = await drain(rig, { persona });
    assert.ok(ids(drained).includes(2), persona);
    assert.deepEqual(ids(await drain(rig, { persona, ack: ids(drained) })), []);
  }
});

test('given only a session, who announced it gets the item, and a drain of it finds the persona; nobody did: 404', async () => {
  await using rig = await statusRig();
  const unknown = await push(rig, { session: 's1', content: 'x' });
  assert.deepEqual([unknown.status, unknown.body.error?.code], [404, 'no-session']);
  assert.equal((await post(rig, 'items/drain', { session: 's1' })).status, 404);
  const place = { cwd: rig.dir, pane: null, runner: { pid: process.pid, startKey: null }, resume: null };
  openSessionStore(rig.db).set({ persona: 'ada', id: 's1', ...place }, Date.now());
  assert.equal((await push(rig, { session: 's1', content: 'x' })).status, 200);
  assert.deepEqual(ids(await drain(rig)), [], 'another session does not get it');
  assert.deepEqual(ids(await post(rig, 'items/drain', { session: 's1' })), [1]);
});

test('a wrong value is 400, names the field and the right values, and stores nothing', async () => {
  await using rig = await statusRig();
  for (const [body, words] of [
    [{ to: 'ada' }, /body has no "content"/],
    [{ content: 'x' }, /the recipient is missing: use "to", "session" or "broadcast"/],
    [{ to: 'ada', content: 'x', broadcast: true }, /"broadcast" cannot be combined with "to" or "session"/],
    [{ to: 'ada', content: 'x', type: 'shout' }, /body\.type must be one of decision, alert, .*, not "shout"/],
    [{ to: 'ada', content: 'x', priority: 9 }, /body\.priority must be one of 0, 1, 2, 3, 4, not 9/],
    [{ to: 'ada', content: 'x', ttl: '10' }, /"ttl" 10: must be a duration, for example 30s/],
    [{ to: 'ada', content: 'x', origin: 'hivebar' }, /unknown field "origin"/],
    [{ to: 'ada', content: 'x', dedup_key: 'Hivebar:gate:x' }, /must not begin with hivebar:/],
    [{ to: 'a\u0007', content: 'x' }, /"to" must not contain control characters/],
    [{ to: 'ada', content: 'x'.repeat(1024 * 1024 + 1) }, /"content" may have 1048576 bytes at most/],
  ] as const) {
    const { status, body: answer } = await push(rig, body);
    assert.equal(status, 400, JSON.stringify(body).slice(0, 100));
    assert.match(answer.error?.message ?? '', words);
  }
  assert.deepEqual(rig.hive.personas(), []);
  for (const [body, words] of [
    [{}, /"persona" must be a name/],
    [{ persona: 'a\u202e' }, /"persona" must not contain/],
    [{ persona: 'ada', limit: 101 }, /body\.limit must be <= 100, not 101/],
    [{ persona: 'ada', ack: 7 }, /body\.ack must be array, not 7/],
    [{ persona: 'ada', wait: -1 }, /body\.wait must be >= 0, not -1/],
  ] as const) {
    const { status, body: answer } = await post(rig, 'items/drain', body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(answer.error?.message ?? '', words);
  }
});

test('without the token nothing is pushed and nothing drained', async () => {
  await using rig = await statusRig();
  await push(rig, { to: 'ada', content: 'SECRET' });
  for (const [path, body] of [
    ['items', { to: 'ada', content: 'y' }],
    ['items/drain', { persona: 'ada' }],
  ] as const) {
    const refused = await post(rig, path, body, {});
    assert.equal(refused.status, 401, path);
    assert.doesNotMatch(JSON.stringify(refused), /SECRET/);
  }
  assert.equal(rig.hive.items.list('ada', 'pending', 10).length, 1);
});

test('what was drained is leased until it is acknowledged; after 30 s without that it is drained again', async () => {
  await using rig = await statusRig();
  for (const content of ['a', 'b', 'c']) await push(rig, { to: 'ada', content });
  const first = await drain(rig, { limit: 2 });
  assert.deepEqual([ids(first), first.body.left], [[1, 2], 1]);
  assert.deepEqual(rig.hive.items.list('ada', 'delivered', 10), []);
  assert.deepEqual(ids(await drain(rig, { ack: [1, 99] })), [3]);
  rig.db.exec('UPDATE inbox SET leased_until = 0 WHERE leased_until IS NOT NULL');
  assert.deepEqual(ids(await drain(rig, { ack: [1] })), [2, 3]);
  const only = await drain(rig, { ack: [2, 3], limit: 0 });
  assert.deepEqual([ids(only), only.body.left], [[], 0]);
  rig.db.exec('UPDATE inbox SET leased_until = 0');
  assert.deepEqual(ids(await drain(rig)), []);
  assert.deepEqual(
    rig.hive.items.list('ada', 'delivered', 10).map(({ id, read }) => [id, read !== null]),
    [1, 2, 3].map((id) => [id, true]),
  );
});

test('an answer ends after about 1 MiB, and the rest is pending at once', async () => {
  await using rig = await statusRig();
  for (let n = 0; n < 3; n += 1) await push(rig, { to: 'ada', content: 'x'.repeat(500_000) });
  const first = await drain(rig);
  assert.deepEqual([ids(first), first.body.left], [[1, 2], 1]);
  assert.deepEqual(ids(await drain(rig)), [3]);
});

test('a wait ends with the item that arrives, also a broadcast to a persona that is not there yet', async () => {
  await using rig = await statusRig();
  const own = drain(rig, { wait: 60 });
  const later = drain(rig, { persona: 'later', wait: 60 });
  await until('both wait', async () => (await readHolds(rig)) === 2);
  await push(rig, { to: 'ada', content: 'x' });
  assert.deepEqual(ids(await own), [1]);
  await push(rig, { broadcast: true, content: 'y' });
  assert.deepEqual(ids(await later), [2]);
});

test('given a drain that waits, when its connection is cut, then an item that comes is not lent to it', async () => {
  await using rig = await statusRig();
  const socket = drainRaw(rig, { wait: 60 });
  await until('it waits', async () => (await readHolds(rig)) === 1);
  socket.destroy();
  await until('it is gone', async () => (await readHolds(rig)) === 0);
  await push(rig, { to: 'ada', content: 'x' });
  assert.deepEqual(ids(await drain(rig)), [1]);
});

test('given an answer that its reader does not take, when the connection ends, then the items are pending at once', async () => {
  await using rig = await statusRig();
  // Its characters take six bytes of JSON each: more than the system buffers for a reader that does not read.
  rig.hive.items.push([newItem({ to: { is: 'persona', name: 'ada' }, content: '\u0001'.repeat(1024 * 1024) })]);
  const socket = drainRaw(rig, {});
  await until('it is lent', () => rig.hive.items.list('ada', 'pending', 10).length === 0);
  socket.destroy();
  const free = rig.db.prepare<{ n: number }>('SELECT count(*) AS n FROM inbox WHERE lease IS NULL');
  await until('it is given back, not only lapsed', () => free.get()?.n === 1);
  assert.deepEqual(ids(await drain(rig)), [1]);
});

test('two readers at once are never lent the same item', async () => {
  await using rig = await statusRig();
  for (let n = 0; n < 40; n += 1) await push(rig, { to: 'ada', content: `text ${n}` });
  const all = (await Promise.all([1, 2, 3, 4].map(() => drain(rig, { limit: 10 })))).flatMap(ids);
  assert.deepEqual(
    all.toSorted((a, b) => a - b),
    Array.from({ length: 40 }, (_, n) => n + 1),
  );
});

/** The number of answers that are held, as the metrics say it. */
async function readHolds(rig: StatusRig): Promise<number> {
  const headers = { connection: 'close' };
  const text = await (await fetch(`http://127.0.0.1:${rig.port}/metrics`, { headers })).text();
  return Number(/^hivebar_holds (\d+)$/m.exec(text)?.[1]);
}

test('given a push to a name one letter away from a known one, it is refused unless it says create', async () => {
  await using rig = await statusRig();
  assert.equal((await push(rig, { to: 'ada', content: 'x' })).status, 200);
  const { status, body } = await push(rig, { to: 'adaa', content: 'x' });
  assert.deepEqual(
    [status, body.error?.message],
    [400, 'there is no persona adaa: did you mean ada? Send with "create": true to make a new one'],
  );
  assert.equal((await push(rig, { to: 'adaa', create: true, content: 'x' })).status, 200);
  assert.equal((await push(rig, { to: 'zoe', content: 'x' })).status, 200);
});
