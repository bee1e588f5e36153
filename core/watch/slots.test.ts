import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots } from './slots.ts';

/** Runs that end when they are told to. */
function bench(size: number) {
  const slots = createSlots(size);
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
