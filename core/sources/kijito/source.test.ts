import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AGENT_STATE_NOT_REPORTED, exactly, UNKNOWN } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { Message, PendingCounts } from '../source.ts';
import { createKijitoSource, type HiveClient, type Members } from './index.ts';

const never = new AbortController().signal;
const clock: Clock = {
  now: () => 42,
  monotonic: () => 0,
  sleep: async () => {},
  after: () => ({ [Symbol.dispose]: () => {} }),
};
const PRIMARY: Members = { is: 'directory', prefix: '', reserved: ['local-', 'garden-'] };
const ROW: Message = { id: 7, from: 'river', created: 'now', content: 'hi', read: false };
const LEVELS: PendingCounts = { at: 1, byAddress: new Map(), cursor: 'c' };

/** A client that remembers what it was asked. */
function recording(more: Partial<HiveClient> = {}): { client: HiveClient; asked: unknown[] } {
  const asked: unknown[] = [];
  const client: HiveClient = {
    personas: async () => ['ada', 'Ada', 'local-x', 'Garden-y'],
    window: async (address, after) => {
      asked.push([address, after]);
      return { messages: [ROW], max: 7, unread: exactly(1), urgent: UNKNOWN };
    },
    [Symbol.asyncDispose]: async () => void asked.push('closed'),
    ...more,
  };
  return { client, asked };
}

const ids = async (members: Members): Promise<string[]> => {
  await using source = createKijitoSource({ id: 'kijito', client: recording().client, clock, members });
  return (await source.personas(never)).map(({ id }) => id);
};

test('personas of the primary hive have bare names; a name with the prefix of another source gets a hash', async () => {
  const [ada, upper, local, garden] = await ids(PRIMARY);
  assert.deepEqual([ada, upper], ['ada', 'Ada']);
  assert.match(local ?? '', /^local-x~[0-9a-f]{6}$/);
  assert.match(garden ?? '', /^Garden-y~[0-9a-f]{6}$/);
});

test('personas of a further hive carry its prefix, and keep their address', async () => {
  const members: Members = { is: 'directory', prefix: 'local-', reserved: ['local-'] };
  await using source = createKijitoSource({ id: 'local', client: recording().client, clock, members });
  assert.deepEqual((await source.personas(never))[0], { id: 'local-ada', address: 'ada', label: 'ada' });
});

test('a look asks from the mark and says when it was', async () => {
  const { client, asked } = recording();
  const source = createKijitoSource({ id: 'kijito', client, clock, members: PRIMARY });
  const ada = { id: 'ada', address: 'ada', label: 'ada' };
  await source.poll(ada, { is: 'unset' }, never);
  assert.deepEqual(await source.poll(ada, { is: 'at', id: 6 }, never), {
    at: 42,
    unread: exactly(1),
    urgent: UNKNOWN,
    agentState: AGENT_STATE_NOT_REPORTED,
    evidence: { is: 'log', messages: [ROW], max: 7 },
  });
  await source[Symbol.asyncDispose]();
  assert.deepEqual(asked, [['ada', null], ['ada', 6], 'closed']);
});

test('pending and hints are there exactly when the client has them, also called on their own', async () => {
  const bare = createKijitoSource({ id: 'kijito', client: recording().client, clock, members: PRIMARY });
  assert.deepEqual([bare.pending, bare.hints], [undefined, undefined]);
  const holds: unknown[] = [];
  const { client } = recording({
    pending: async (hold) => {
      holds.push(hold);
      return LEVELS;
    },
    hints: (wake) => {
      wake('ada');
      return { [Symbol.dispose]: () => {} };
    },
  });
  const { pending, hints } = createKijitoSource({ id: 'kijito', client, clock, members: PRIMARY });
  const hold = pending?.hold;
  assert.equal(await pending?.once(never), LEVELS);
  assert.equal(await hold?.('c', 50, never), LEVELS);
  assert.deepEqual(holds, [null, { cursor: 'c', ms: 50 }]);
  const woken: string[] = [];
  hints?.((address) => woken.push(address));
  assert.deepEqual(woken, ['ada']);
});

test('a single inbox is its one persona, whatever the client knows', async () => {
  const persona = { id: '_', address: '', label: 'http://h/x' };
  const source = createKijitoSource({
    id: 'kijito',
    client: recording().client,
    clock,
    members: { is: 'single', persona },
  });
  assert.deepEqual(await source.personas(never), [persona]);
});

test('a client without a directory cannot be asked for one', async () => {
  const { personas, ...client } = recording().client;
  assert.ok(personas);
  const source = createKijitoSource({ id: 'kijito', client, clock, members: PRIMARY });
  await assert.rejects(source.personas(never), { code: 'not-found' });
});
