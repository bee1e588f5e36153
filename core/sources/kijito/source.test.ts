import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly, UNKNOWN, VITAL_NOT_REPORTED } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { Levels, Row } from '../source.ts';
import { type HiveClient, kijitoSource, type Members } from './index.ts';

const never = new AbortController().signal;
const clock: Clock = {
  now: () => 42,
  monotonic: () => 0,
  sleep: async () => {},
  after: () => ({ [Symbol.dispose]: () => {} }),
};
const PRIMARY: Members = { is: 'directory', prefix: '', reserved: ['local-', 'garden-'] };
const ROW: Row = { id: 7, from: 'river', created: 'now', content: 'hi', read: false };
const LEVELS: Levels = { at: 1, of: new Map(), cursor: 'c' };

/** A client that remembers what it was asked. */
function recording(more: Partial<HiveClient> = {}): { client: HiveClient; asked: unknown[] } {
  const asked: unknown[] = [];
  const client: HiveClient = {
    personas: async () => ['ada', 'Ada', 'local-x', 'Garden-y'],
    window: async (address, after) => {
      asked.push([address, after]);
      return { rows: [ROW], max: 7, unread: exactly(1), urgent: UNKNOWN };
    },
    [Symbol.asyncDispose]: async () => void asked.push('closed'),
    ...more,
  };
  return { client, asked };
}

const ids = async (members: Members): Promise<string[]> => {
  await using source = kijitoSource({ id: 'kijito', client: recording().client, clock, members });
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
  await using source = kijitoSource({ id: 'local', client: recording().client, clock, members });
  assert.deepEqual((await source.personas(never))[0], { id: 'local-ada', address: 'ada', label: 'ada' });
});

test('a look asks from the mark and says when it was', async () => {
  const { client, asked } = recording();
  const source = kijitoSource({ id: 'kijito', client, clock, members: PRIMARY });
  const ada = { id: 'ada', address: 'ada', label: 'ada' };
  await source.look(ada, { is: 'unset' }, never);
  assert.deepEqual(await source.look(ada, { is: 'at', id: 6 }, never), {
    at: 42,
    unread: exactly(1),
    urgent: UNKNOWN,
    vital: VITAL_NOT_REPORTED,
    evidence: { is: 'log', rows: [ROW], max: 7 },
  });
  await source[Symbol.asyncDispose]();
  assert.deepEqual(asked, [['ada', null], ['ada', 6], 'closed']);
});

test('pending and hints are there exactly when the client has them, also called on their own', async () => {
  const bare = kijitoSource({ id: 'kijito', client: recording().client, clock, members: PRIMARY });
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
  const { pending, hints } = kijitoSource({ id: 'kijito', client, clock, members: PRIMARY });
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
  const source = kijitoSource({ id: 'kijito', client: recording().client, clock, members: { is: 'single', persona } });
  assert.deepEqual(await source.personas(never), [persona]);
});

test('a client without a directory can not be asked for one', async () => {
  const { personas, ...client } = recording().client;
  assert.ok(personas);
  const source = kijitoSource({ id: 'kijito', client, clock, members: PRIMARY });
  await assert.rejects(source.personas(never), { code: 'not-found' });
});
