import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type FakeHive, fakeHive } from '../../test/kit/fake-hive.ts';
import { until } from '../../test/kit/until.ts';
import { Fault, type FaultCode } from '../model/index.ts';
import { AS_WRITTEN, createHttpClient, type HttpClient, type Resolve } from './index.ts';

/** The address of a hive that changes while it is watched, by a resolver of the test's own and a server that moves. */
const never = new AbortController().signal;

function createClient(hive: FakeHive, resolve: Resolve, deadlineMs = 5000): HttpClient {
  return createHttpClient({
    url: `http://hive.test:${hive.port}`,
    policy: AS_WRITTEN,
    scope: { is: 'source', key: 'team' },
    userAgent: 'hivebar/0.0.0-test',
    credential: null,
    resolve,
    deadlineMs,
  });
}

async function outcome(client: HttpClient): Promise<FaultCode | 'answered'> {
  try {
    await client.get('/api/personas', never);
    await setTimeout(20); // its connection is free for the next one
    return 'answered';
  } catch (error) {
    assert.ok(error instanceof Fault, `not a Fault: ${error}`);
    return error.code;
  }
}

/** What the end of a connection needs to arrive. */
async function waitForOutcome(client: HttpClient): Promise<FaultCode | 'answered'> {
  let last = await outcome(client);
  for (let n = 0; n < 5 && last === 'broken'; n += 1) last = await outcome(client);
  return last;
}

test('trap f: a server that moved to another address is found there, without a new client', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  let address = '127.0.0.1';
  await using client = createClient(hive, async () => [address]);
  assert.equal(await outcome(client), 'answered');
  await hive.move('127.0.0.2');
  assert.equal(await waitForOutcome(client), 'refused', 'DNS still says the old address');
  address = '127.0.0.2';
  assert.equal(await outcome(client), 'answered');
  await hive.move('127.0.0.1');
  address = '127.0.0.1';
  assert.equal(await waitForOutcome(client), 'answered');
});

test('trap f: an old server that went silent holds one request up to its deadline, and the next finds the new address', async () => {
  await using old = await fakeHive({ personas: ['ada'] });
  await using moved = await fakeHive({ personas: ['ada'], host: '127.0.0.2', port: old.port });
  let address = '127.0.0.1';
  await using client = createClient(old, async () => [address], 500);
  assert.equal(await outcome(client), 'answered');
  old.fail({ is: 'hang' });
  address = '127.0.0.2';
  assert.equal(await outcome(client), 'timeout', 'on the connection that was kept');
  assert.equal(await outcome(client), 'answered');
  assert.equal(moved.requests.length, 1);
});

test('trap f: DNS that fails between two connections is a failure of that time only', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  let isUp = false;
  const resolve = async (): Promise<readonly string[]> => {
    if (isUp) return ['127.0.0.1'];
    throw Object.assign(new Error('getaddrinfo EAI_AGAIN hive.test'), { code: 'EAI_AGAIN' });
  };
  await using client = createClient(hive, resolve);
  assert.equal(await outcome(client), 'dns');
  isUp = true;
  assert.equal(await outcome(client), 'answered');
  isUp = false;
  assert.equal(await outcome(client), 'answered', 'a connection that stands needs no name');
  client.reset();
  assert.equal(await outcome(client), 'dns');
  isUp = true;
  assert.equal(await outcome(client), 'answered');
});

test('trap f: an address nobody answered from is no class: behind the login page of a hotel the real one is not shut out', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  let address = '10.255.255.1'; // private, and nobody there within the deadline
  await using client = createClient(hive, async () => [address], 300);
  assert.notEqual(await outcome(client), 'answered');
  hive.fail({ is: 'redirect', to: 'http://login.test/' });
  address = '127.0.0.1';
  assert.equal(await outcome(client), 'redirect', 'an answer, and not one of a hive');
  await hive.heal();
  assert.equal(await outcome(client), 'answered');
  address = '10.255.255.1';
  client.reset();
  assert.equal(await outcome(client), 'blocked', 'from now on loopback it is');
});

test('trap f: a redirect does not move the class: the target of a later one is never asked', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  await using inner = await fakeHive({ personas: ['ada'], host: '127.0.0.2', port: hive.port });
  await using client = createClient(hive, async () => ['127.0.0.1']);
  assert.equal(await outcome(client), 'answered');
  hive.fail({ is: 'redirect', to: inner.url });
  assert.equal(await outcome(client), 'redirect');
  await until('nobody asks the other', () => hive.requests.length === 2);
  assert.equal(inner.requests.length, 0);
});
