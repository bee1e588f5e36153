import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupCommit } from './group-commit.node.ts';

test('jobs of one turn are one commit, answered in order', async () => {
  const commits: number[] = [];
  const group = groupCommit((jobs: readonly number[]) => {
    commits.push(jobs.length);
    return jobs.map((job) => job * 2);
  });
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => group.add(i)));
  assert.deepEqual(commits, [100]);
  assert.deepEqual(
    answers,
    Array.from({ length: 100 }, (_, i) => i * 2),
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
