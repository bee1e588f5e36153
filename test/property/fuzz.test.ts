import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Fault } from '../../core/model/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { createHttpHive, parseHiveUrl } from '../../core/sources/index.ts';
import { fakeClock } from '../kit/fake-clock.ts';

/**
 * Answers of a hive that nobody would send: whatever the bytes are, a question ends with an answer that can be used, or with
 * a Fault, and never holds the process up.
 */
const SCOPE = { is: 'source', key: 'kijito' } as const;
const BODIES = 100_000;
const never = new AbortController().signal;
const ANSWERS: readonly string[] = [
  JSON.stringify({
    result: [5, 6, 7].map((id) => ({ id, from: 'river', content: 'é😀 "x"', created: 'c', read: id === 6 })),
    truncated: true,
    size_dropped: 0,
    size_truncated: false,
    next_before_id: 5,
    unread_not_shown: 2,
  }),
  JSON.stringify({ result: [], truncated: false, size_dropped: 0, next_before_id: null, unread_not_shown: 0 }),
  JSON.stringify({ result: [{ persona: 'ada', unread: 3, unread_urgent: 1 }], cursor: 'v7' }),
  JSON.stringify({ result: [{ persona: 'ada', memory_count: 4 }, { persona: 'bo' }] }),
];

function createHive(answer: () => Buffer) {
  return createHttpHive({
    hive: parseHiveUrl('http://h', SCOPE),
    fetcher: { get: async () => ({ body: answer() }), [Symbol.asyncDispose]: async () => {} },
    clock: fakeClock(),
    contentChars: 20,
    longPoll: true,
    scope: SCOPE,
    log: silentLog,
  });
}

async function faultOr<T>(ask: () => T | Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return null;
  }
}

/** One thing that is asked of a hive; what comes must hold together. */
async function ask(client: ReturnType<typeof createHive>, kind: number, after: number): Promise<void> {
  if (kind === 0) {
    const levels = await faultOr(() => client.pending?.(null, never));
    for (const { unread } of levels?.byAddress.values() ?? []) assert.ok(unread.is === 'unknown' || unread.n >= 0);
    return;
  }
  if (kind === 1) {
    const names = await faultOr(() => client.personas?.(never));
    assert.ok(names === null || names === undefined || names.length > 0);
    return;
  }
  const from = kind === 2 ? null : after;
  const found = await faultOr(() => client.window('ada', from, never, []));
  if (found === null) return;
  const ids = found.messages.map(({ id }) => id);
  assert.ok(
    ids.every((id, i) => Number.isSafeInteger(id) && id > (ids[i - 1] ?? 0)),
    ids.join(' '),
  );
  if (from !== null) assert.ok(ids.every((id) => id > from));
  assert.ok(found.messages.every(({ content }) => content === null || [...content].length <= 20));
  for (const { from: low, to } of found.gap?.spans ?? []) assert.ok(low <= to && low > after);
}

/** A few bytes flipped, cut, doubled or put in; `random` gives whole numbers below what it is given. */
function mutated(text: string, random: (below: number) => number): Buffer {
  let bytes = Buffer.from(text);
  for (let times = 1 + random(3); times > 0; times -= 1) {
    const at = random(bytes.length + 1);
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
    const put = Buffer.from(
      [['"'], ['{'], ['null'], ['-1'], ['1e999'], ['9007199254740993'], [',']][random(7)]?.[0] ?? '',
    );
    const parts = [
      [head, tail.subarray(1)],
      [head],
      [head, put, tail],
      [head, Buffer.from([random(256)]), tail.subarray(1)],
      [bytes, tail],
    ];
    bytes = Buffer.concat(parts[random(parts.length)] ?? []);
  }
  return bytes;
}

test('a hundred thousand mutated answers: each is refused or used, none stalls the process', async () => {
  let seed = 42;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  let body: Buffer = Buffer.alloc(0);
  const client = createHive(() => body);
  let longest = 0;
  for (let n = 0; n < BODIES; n += 1) {
    body = mutated(ANSWERS[n % ANSWERS.length] ?? '', random);
    const from = performance.now();
    await ask(client, random(5), n % 8);
    longest = Math.max(longest, performance.now() - from);
  }
  assert.ok(longest < 1000, `${longest} ms over one answer`);
});

test('any value in any field of a window: each is refused or used', async () => {
  const odd = fc.oneof(fc.constantFrom(undefined, null, true, false, 0, -1, 3, 5, 2.5, '5', 2 ** 53), fc.jsonValue());
  const row = fc.oneof(
    fc.record({ id: odd, from: odd, content: odd, created: odd, read: odd }),
    fc.record({ id: fc.integer({ min: 1, max: 12 }) }),
    odd,
  );
  const envelope = fc.record({
    result: fc.oneof({ weight: 8, arbitrary: fc.array(row, { maxLength: 4 }) }, odd),
    truncated: odd,
    size_dropped: odd,
    size_truncated: odd,
    next_before_id: odd,
    unread_not_shown: odd,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(envelope, { minLength: 1, maxLength: 4 }), fc.nat(8), async (envelopes, after) => {
      let n = 0;
      const client = createHive(() => {
        n += 1;
        return Buffer.from(JSON.stringify(envelopes[n % envelopes.length]));
      });
      for (const kind of [0, 1, 2, 3]) await ask(client, kind, after);
    }),
    { numRuns: 3000 },
  );
});
