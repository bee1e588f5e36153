import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Value } from 'typebox/value';
import { type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { createHello, openStream } from '../../test/kit/stream-client.ts';
import { DrainWire, PendingWire, RegistrationsWire, StaleWire } from './answer-schemas.ts';
import { type DaemonKey, hashToken } from './session.ts';

const ADA = { tenant: 'lab', identity: 'ada' };
const OBSERVE = 'a'.repeat(64);
const ACT = 'b'.repeat(64);
/** Of another persona. */
const BO_ACT = 'c'.repeat(64);

const KEYS: readonly DaemonKey[] = [
  { scope: 'observe', digest: hashToken(OBSERVE), tenant: 'lab', identity: 'ada', address: 'Ada Lovelace' },
  { scope: 'act', digest: hashToken(ACT), tenant: 'lab', identity: 'ada', address: 'Ada Lovelace' },
  { scope: 'act', digest: hashToken(BO_ACT), tenant: 'lab', identity: 'bo', address: 'bo' },
];

let rig: StatusRig;
let base: string;
before(async () => {
  rig = await statusRig({ keys: { all: () => KEYS } });
  base = `http://127.0.0.1:${rig.port}`;
});
after(() => rig[Symbol.asyncDispose]());
beforeEach(() => void rig.hive.markRead('Ada Lovelace', 'all'));

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function ask(token: string, method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
  const answer = await fetch(base + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}
const drain = (token: string, body: object = {}): Promise<Answer> =>
  ask(token, 'POST', '/v1/signals/pending/drain', body);
const idsIn = ({ body }: Answer): number[] => (body as DrainWire).items.map(({ id }) => id);
const mail = (content = 'hello'): Promise<{ readonly id: number }> =>
  rig.hive.send({ to: 'Ada Lovelace', from: 'bo', content, urgent: false });

/** The body of an answer, over a connection of this agent. */
function overOne(agent: Agent, token: string, method: string, path: string): Promise<unknown> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asked = request(base + path, { agent, method, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve(JSON.parse(text)));
    });
    asked.on('error', reject).end();
  });
}

describe('whose signals', () => {
  test('the token of a daemon is for the persona it was installed for, by its name in the hive', async () => {
    await mail();
    const peek = await ask(OBSERVE, 'GET', '/v1/signals/pending');
    assert.ok(Value.Check(PendingWire, peek.body), JSON.stringify(peek.body));
    assert.equal(peek.body.count, 1);
    assert.deepEqual(await ask(OBSERVE, 'GET', '/v1/signals/pending?address=Ada%20Lovelace'), peek);
    assert.equal((await ask(OBSERVE, 'GET', '/v1/signals/pending?address=bo')).status, 403);
    assert.equal((await drain(BO_ACT, { address: 'Ada Lovelace' })).status, 403);
  });

  test("the owner's token is for anybody, and says for whom", async () => {
    const { id } = await mail();
    assert.equal((await ask(TOKEN, 'GET', '/v1/signals/pending')).status, 400);
    assert.equal((await drain(TOKEN)).status, 400);
    const answer = await drain(TOKEN, { address: 'Ada Lovelace' });
    assert.deepEqual(idsIn(answer), [id]);
  });

  test('a body or query that does not fit is 400, and takes nothing', async () => {
    await mail();
    for (const body of [{ max: 0 }, { max: 101 }, { max: 1.5 }, { max: '1' }, { min: 1 }, { session: '' }])
      assert.equal((await drain(ACT, body)).status, 400, JSON.stringify(body));
    assert.equal((await ask(OBSERVE, 'GET', '/v1/signals/pending?rev=1')).status, 400);
    const twice = '/v1/signals/pending?address=bo&address=Ada%20Lovelace';
    assert.equal((await ask(OBSERVE, 'GET', twice)).status, 400);
    assert.equal(idsIn(await drain(ACT)).length, 1);
  });

  test('the tokens of daemons open nothing else', async () => {
    for (const token of [OBSERVE, ACT]) {
      assert.equal((await ask(token, 'GET', '/api/inbox?persona=bo')).status, 401);
      assert.equal((await ask(token, 'POST', '/api/send', { to: 'bo', from: 'x', content: 'x' })).status, 401);
      assert.equal((await ask(token, 'GET', '/status.json')).status, 401);
    }
  });
});

describe('a drain', () => {
  test('gives the whole text and who wrote it', async () => {
    const { id } = await mail('x'.repeat(20_000));
    const { body } = await drain(ACT);
    assert.ok(Value.Check(DrainWire, body), JSON.stringify(body).slice(0, 500));
    const [item] = body.items;
    assert.deepEqual([item?.id, item?.from, item?.body.length, item?.urgent], [id, 'bo', 20_000, false]);
  });

  test('of a client that dies before it has its answer takes nothing, and nothing comes twice', async () => {
    const sent: number[] = [];
    const given: number[] = [];
    const body = '{"max":1}';
    const head = [
      'POST /v1/signals/pending/drain HTTP/1.1',
      `Host: 127.0.0.1:${rig.port}`,
      `Authorization: Bearer ${ACT}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    for (let i = 0; i < 40; i += 1) {
      sent.push((await mail(`signal ${i}`)).id);
      await new Promise<void>((resolve) => {
        const socket = connect(rig.port, '127.0.0.1', () => {
          socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => {
            if (i % 2 === 0) socket.destroy();
            else socket.resetAndDestroy();
          });
        });
        socket.pause(); // what it never reads, it never had
        socket.on('error', () => {});
        socket.on('close', () => resolve());
      });
      if (i % 4 === 0) given.push(...idsIn(await drain(ACT, { max: 1 })));
    }
    await sleep(50); // for those whose end is still on its way
    for (let drained = await drain(ACT); idsIn(drained).length > 0; drained = await drain(ACT))
      given.push(...idsIn(drained));
    assert.deepEqual(
      given.toSorted((a, b) => a - b),
      sent,
    );
  });

  test('is seen by whoever asks next: what was handed over is not pending', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; i < 30; i += 1) {
      await mail();
      // Both on one connection, the second as soon as the first is answered.
      const [drained, peek] = await Promise.all([
        overOne(agent, ACT, 'POST', '/v1/signals/pending/drain'),
        overOne(agent, OBSERVE, 'GET', '/v1/signals/pending'),
      ]);
      assert.deepEqual([(drained as DrainWire).items.length, (peek as PendingWire).count], [1, 0]);
    }
    agent.destroy();
  });

  test('of two at once gives each item to one of them', async () => {
    const sent = [];
    for (let i = 0; i < 12; i += 1) sent.push((await mail()).id);
    const answers = await Promise.all(Array.from({ length: 6 }, () => drain(ACT, { max: 2 })));
    assert.deepEqual(
      answers.flatMap(idsIn).toSorted((a, b) => a - b),
      sent,
    );
  });
});

describe('a signal', () => {
  const signal = { to: 'Ada Lovelace', from: 'bo', body: 'hello' };

  test('is sent in the name of the persona its token is of, and in any with that of the owner', async () => {
    assert.equal((await ask(BO_ACT, 'POST', '/v1/signals', signal)).status, 202);
    assert.equal((await ask(ACT, 'POST', '/v1/signals', signal)).status, 403);
    assert.equal((await ask(TOKEN, 'POST', '/v1/signals', { ...signal, urgent: true })).status, 202);
    const { body } = await drain(ACT);
    assert.deepEqual(
      (body as DrainWire).items.map(({ from, urgent }) => [from, urgent]),
      [
        ['bo', true],
        ['bo', false],
      ],
    );
  });

  test('that does not fit is 400 and stored nowhere', async () => {
    for (const body of [
      {},
      { ...signal, to: '' },
      { ...signal, to: 'a\nb' },
      { ...signal, body: 7 },
      { ...signal, urgent: 1 },
    ])
      assert.equal((await ask(TOKEN, 'POST', '/v1/signals', body)).status, 400, JSON.stringify(body));
    assert.equal(idsIn(await drain(ACT)).length, 0);
  });

  test('to a persona that was wrapped is 409 with the binding; what was accepted before stays', async () => {
    using stream = openStream(base, { token: OBSERVE });
    stream.send(createHello(ADA));
    await stream.next('welcome');
    const accepted = await ask(BO_ACT, 'POST', '/v1/signals', signal);
    assert.equal(accepted.status, 202);
    stream.send({ type: 'bye', reason: 'wrap' });
    stream.socket.close();
    await stream.ended();
    const { status, body } = await ask(BO_ACT, 'POST', '/v1/signals', signal);
    assert.equal(status, 409);
    assert.ok(Value.Check(StaleWire, body), JSON.stringify(body));
    const { kind, identity, surface, reason } = body.binding;
    assert.deepEqual(
      { kind, identity, surface, reason },
      {
        kind: 'daemon',
        identity: 'ada',
        surface: 'claude-code',
        reason: 'wrap',
      },
    );
    const stored = await ask(TOKEN, 'POST', '/api/send', { to: 'Ada Lovelace', from: 'bo', content: 'mail' });
    assert.equal(stored.status, 200);
    assert.equal(idsIn(await drain(ACT)).length, 2);
    using again = openStream(base, { token: OBSERVE });
    again.send(createHello(ADA));
    await again.next('welcome');
    assert.equal((await ask(BO_ACT, 'POST', '/v1/signals', signal)).status, 202);
  });
});

test('registrations are as they are described', async () => {
  using stream = openStream(base, { token: OBSERVE });
  stream.send(createHello(ADA));
  await stream.next('welcome');
  const { body } = await ask(ACT, 'GET', '/v1/registrations');
  assert.ok(Value.Check(RegistrationsWire, body), JSON.stringify(body));
  assert.deepEqual([body.counts, body.registrations[0]?.address], [{ daemon: 1, agent: 0 }, 'Ada Lovelace']);
});
