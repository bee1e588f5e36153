import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupCommit } from './group-commit.node.ts';

test('the first job of a turn is committed at once, the others of the turn together; all are answered in order', async () => {
  const commits: number[] = [];
  const group = groupCommit((jobs: readonly number[]) => {
    commits.push(jobs.length);
    return jobs.map((job) => job * 2);
  });
  const first = group.add(0);
  assert.deepEqual(commits, [1]);
  const others = Array.from({ length: 99 }, (_, i) => group.add(i + 1));
  await null;
  const late = group.add(100);
  assert.deepEqual(commits, [1]);
  const answers = await Promise.all([first, ...others, late]);
  assert.deepEqual(commits, [1, 100]);
  assert.deepEqual(
    answers,
    Array.from({ length: 101 }, (_, i) => i * 2),
  );
});

test('what arrives after a commit forms the next group', async () => {
  const commits: string[][] = [];
  const group = groupCommit((jobs: readonly string[]) => {
    commits.push([...jobs]);
    return jobs;
  });
  await group.add('a');
  await Promise.all([group.add('b'), group.add('c')]);
  assert.deepEqual(commits, [['a'], ['b', 'c']]);
});

test('a commit that throws fails its own group only', async () => {
  let broken = true;
  const group = groupCommit((jobs: readonly string[]) => {
    if (broken) throw new Error('disk');
    return jobs;
  });
  const failed = await Promise.allSettled([group.add('a'), group.add('b')]);
  assert.deepEqual(
    failed.map((f) => f.status),
    ['rejected', 'rejected'],
  );
  broken = false;
  assert.equal(await group.add('c'), 'c');
});

test('flush commits at once, and the turn that follows commits nothing twice', async () => {
  const commits: string[][] = [];
  const group = groupCommit((jobs: readonly string[]) => {
    commits.push([...jobs]);
    return jobs;
  });
  const answer = group.add('a');
  group.flush();
  assert.deepEqual(commits, [['a']]);
  assert.equal(await answer, 'a');
  await new Promise(setImmediate);
  assert.deepEqual(commits, [['a']]);
});
