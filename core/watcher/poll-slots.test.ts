import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPollSlots } from './inbox-poller.ts';

/** Runs that end when they are told to. */
function bench(size: number) {
  const slots = createPollSlots(size);
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = async (name: string, slow = false): Promise<string> =>
    slots.run(slow, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      running.splice(running.indexOf(name), 1);
      return name;
    });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await turn();
  };
  return { slots, running, begin, end, turn };
}

test('never more than its size at once; the rest follows in order', async () => {
  const { running, begin, end, turn } = bench(2);
  const all = ['a', 'b', 'c', 'd'].map((name) => begin(name));
  await turn();
  assert.deepEqual(running, ['a', 'b']);
  await end('a');
  assert.deepEqual(running, ['b', 'c']);
  await end('c');
  assert.deepEqual(running, ['b', 'd']);
  await end('b');
  await end('d');
  assert.deepEqual(await Promise.all(all), ['a', 'b', 'c', 'd']);
});

test('the slow ones wait behind all others', async () => {
  const { running, begin, end, turn } = bench(1);
  const all = [begin('a'), begin('slow', true), begin('b'), begin('c')];
  await turn();
  for (const name of ['a', 'b', 'c', 'slow']) {
    assert.deepEqual(running, [name]);
    await end(name);
  }
  await Promise.all(all);
});

test('slow ones that hang leave a place for the others', async () => {
  const { running, begin, end, turn } = bench(3);
  const hanging = ['x', 'y', 'z'].map((name) => begin(name, true));
  await turn();
  assert.deepEqual(running, ['x', 'y']);
  const quick = [begin('a'), begin('b')];
  await turn();
  assert.deepEqual(running, ['x', 'y', 'a']);
  await end('a');
  assert.deepEqual(running, ['x', 'y', 'b']);
  await end('b');
  assert.deepEqual(running, ['x', 'y']);
  for (const name of ['x', 'y', 'z']) await end(name);
  await Promise.all([...hanging, ...quick]);
});

test('a single place is for slow ones too', async () => {
  const { begin, end, turn } = bench(1);
  const slow = begin('slow', true);
  await turn();
  await end('slow');
  assert.equal(await slow, 'slow');
});

test('a run that fails gives its place back, and its failure to whoever asked', async () => {
  const { slots, begin, end, turn } = bench(1);
  await assert.rejects(
    slots.run(true, () => Promise.reject(new Error('broken'))),
    /broken/,
  );
  const next = begin('a');
  await turn();
  await end('a');
  assert.equal(await next, 'a');
});

/** Keeps a place until it is told to leave. */
function hang(slots: ReturnType<typeof createPollSlots>, slow = false): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const run = slots.run(slow, () => promise);
  return async () => {
    resolve();
    await run;
  };
}

describe('work that is done at once', () => {
  test('has its result returned as it is, and its place back in the same turn', () => {
    const slots = createPollSlots(1);
    for (let n = 0; n < 3; n += 1) {
      assert.equal(
        slots.run(false, () => n),
        n,
      );
      assert.equal(
        slots.run(true, () => n),
        n,
      );
    }
    const nothing: unknown = slots.run(false, () => undefined);
    assert.equal(nothing, undefined);
  });

  test('gives its place back when it throws, and throws to whoever asked', () => {
    const slots = createPollSlots(1);
    for (const slow of [false, true, false]) {
      assert.throws(
        () =>
          slots.run(slow, () => {
            throw new Error('broken');
          }),
        /broken/,
      );
    }
    assert.equal(
      slots.run(true, () => 'next'),
      'next',
    );
  });

  test('holds its place while it runs', async () => {
    const { slots, turn } = bench(2);
    const begun: string[] = [];
    const inner = slots.run(false, () =>
      slots.run(false, () => {
        const third = slots.run(false, () => {
          begun.push('third');
          return 3;
        });
        begun.push('second');
        return { third };
      }),
    );
    assert.ok(!(inner instanceof Promise));
    assert.ok(inner.third instanceof Promise);
    assert.deepEqual(begun, ['second']);
    await turn();
    assert.deepEqual(begun, ['second', 'third']);
    assert.equal(await inner.third, 3);
  });

  test('1,000 times beside a run that hangs in the other of two places: each begins and ends in its turn', async () => {
    const slots = createPollSlots(2);
    for (const hangsSlowly of [false, true]) {
      const leave = hang(slots, hangsSlowly);
      const done: number[] = [];
      for (let n = 0; n < 1000; n += 1) {
        // A slow one may have the last place only while none of its kind hangs.
        const slow = !hangsSlowly && n % 2 === 1;
        if (n % 10 === 9) {
          assert.throws(() =>
            slots.run(slow, () => {
              done.push(n);
              throw new Error('broken');
            }),
          );
        } else {
          assert.equal(
            slots.run(slow, () => done.push(n)),
            n + 1,
          );
        }
      }
      assert.equal(done.length, 1000);
      await leave();
    }
  });

  test('waits like any other when all places are taken, and then lets the next one in, whether it throws or not', async () => {
    const slots = createPollSlots(2);
    const leave = [hang(slots), hang(slots)];
    const done: number[] = [];
    const all = Array.from({ length: 1000 }, (_, n) =>
      slots.run(n >= 500, () => {
        done.push(n);
        if (n % 10 === 9) throw new Error(`broken ${n}`);
        return n;
      }),
    );
    assert.ok(all.every((promise) => promise instanceof Promise));
    const allOutcomes = Promise.allSettled(all);
    await null;
    assert.deepEqual(done, []);
    await leave[0]?.(); // the other one hangs on
    const outcomes = await allOutcomes;
    const asked = Array.from({ length: 1000 }, (_, n) => n);
    assert.deepEqual(done, asked);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))),
      asked.map((n) => (n % 10 === 9 ? `Error: broken ${n}` : n)),
    );
    await leave[1]?.();
  });

  test('does not slip in before who was given the place that is free', async () => {
    const { slots, turn } = bench(1);
    const leave = hang(slots);
    const begun: string[] = [];
    const waiting = slots.run(false, () => begun.push('waited'));
    const left = leave();
    const late: unknown[] = [];
    // Asked for in every turn of the queue of promises from the leaving on.
    for (let n = 0; n < 10; n += 1) {
      late.push(slots.run(false, () => begun.push('late')));
      await null;
    }
    await Promise.all([left, waiting, ...late]);
    await turn();
    assert.equal(begun[0], 'waited');
    assert.equal(begun.length, 11);
  });

  test('and is slow leaves the last place to the others', async () => {
    const slots = createPollSlots(2);
    const leave = hang(slots, true);
    const slow = slots.run(true, () => 'slow');
    assert.ok(slow instanceof Promise);
    assert.equal(
      slots.run(false, () => 'quick'),
      'quick',
    );
    await leave();
    assert.equal(await slow, 'slow');
  });
});
