import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createCommitSchedule, createGroupCommit } from './group-commit.node.ts';

test('the first job of a turn is committed at once, the others of the turn together; all are answered in order', async () => {
  const commits: number[] = [];
  const group = createGroupCommit((jobs: readonly number[]) => {
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
  const group = createGroupCommit((jobs: readonly string[]) => {
    commits.push([...jobs]);
    return jobs;
  });
  await group.add('a');
  await Promise.all([group.add('b'), group.add('c')]);
  assert.deepEqual(commits, [['a'], ['b', 'c']]);
});

test('a commit that throws fails its own group only', async () => {
  let broken = true;
  const group = createGroupCommit((jobs: readonly string[]) => {
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
  const group = createGroupCommit((jobs: readonly string[]) => {
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

test('a group of 1,000 is committed at once, the rest with its turn', async () => {
  const commits: number[] = [];
  const group = createGroupCommit(
    (jobs: readonly number[]) => {
      commits.push(jobs.length);
      return jobs;
    },
    createCommitSchedule(0, 'after the call'),
  );
  const answers = Array.from({ length: 2500 }, (_, i) => group.add(i));
  assert.deepEqual(commits, [1000, 1000]);
  assert.deepEqual(
    await Promise.all(answers),
    Array.from({ length: 2500 }, (_, i) => i),
  );
  assert.deepEqual(commits, [1000, 1000, 500]);
});

describe('by default', () => {
  /** A group that writes down what is committed. */
  function recorded() {
    const seen: string[] = [];
    const group = createGroupCommit((jobs: readonly string[]) => {
      seen.push(`commit ${jobs.join(' ')}`);
      return jobs;
    });
    return { seen, group };
  }

  /**
   * Two connections of this process. What is written to the far ends in one go is there when the loop looks for input
   * next, and so arrives in one turn.
   */
  async function twoInputs(heard: (from: number) => void) {
    const dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-group-'));
    const near: Socket[] = [];
    const server = createServer((socket) => {
      const from = near.push(socket);
      socket.on('data', () => heard(from));
    });
    server.listen(process.platform === 'win32' ? `\\\\.\\pipe\\${dir}` : join(dir, 's'));
    await once(server, 'listening');
    const far: Socket[] = [];
    for (let n = 1; n <= 2; n += 1) {
      const socket = connect(server.address() as string);
      far.push(socket);
      await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
    }
    return {
      /** Both inputs at once; done when the turn that brings them is over. */
      async arrive() {
        await new Promise(setImmediate);
        for (const socket of far) socket.write('x');
        await new Promise(setImmediate);
        await new Promise(setImmediate);
      },
      async [Symbol.asyncDispose]() {
        for (const socket of [...far, ...near]) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
        fs.rmSync(dir, { recursive: true, force: true });
      },
    };
  }

  test('a lone job is committed before whatever the loop does next, in turn after turn', async () => {
    const { seen, group } = recorded();
    for (const job of ['a', 'b', 'c']) {
      // A timer of its own a job: the turn of the one before is over.
      await new Promise((resolve) => setTimeout(resolve, 1));
      const next = new Promise<void>((resolve) =>
        setImmediate(() => {
          seen.push('immediate');
          resolve();
        }),
      );
      const answer = group.add(job);
      seen.push('added');
      void answer.then(() => seen.push('answered'));
      await next;
      assert.deepEqual(seen.splice(0), [`commit ${job}`, 'added', 'answered', 'immediate']);
    }
  });

  test('what the answer to the first job, and other promises of the same input, add is one group', async () => {
    const { seen, group } = recorded();
    const first = group.add('first').then(() => group.add('answered'));
    const later = (async () => {
      await null;
      const soon = group.add('soon');
      await null;
      await null;
      return await Promise.all([soon, group.add('later')]);
    })();
    const ticked = new Promise<string>((resolve) => process.nextTick(() => resolve(group.add('tick'))));
    await Promise.all([first, later, ticked]);
    const [alone, together, ...more] = seen;
    assert.equal(alone, 'commit first');
    assert.deepEqual(together?.split(' ').sort(), ['answered', 'commit', 'later', 'soon', 'tick']);
    assert.deepEqual(more, []);
  });

  test('what comes after the first commit of a turn is committed when all input of the turn was handled; from then on all of a turn is', async () => {
    const { seen, group } = recorded();
    const answers: Promise<string>[] = [];
    await using inputs = await twoInputs((from) => {
      seen.push(`input ${from}`);
      answers.push(group.add(`${from}a`), group.add(`${from}b`));
      void Promise.resolve().then(() => answers.push(group.add(`${from}c`)));
    });
    for (let turn = 0; turn < 3; turn += 1) {
      await inputs.arrive();
      const [first, second] = seen[0] === 'input 1' ? [1, 2] : [2, 1];
      const rest = `${first}b ${first}c ${second}a ${second}b ${second}c`;
      const alone = [`input ${first}`, `commit ${first}a`, `input ${second}`, `commit ${rest}`];
      const crowd = [`input ${first}`, `input ${second}`, `commit ${first}a ${rest}`];
      assert.deepEqual(seen.splice(0), turn === 0 ? alone : crowd);
    }
    assert.equal((await Promise.all(answers)).length, 18);
  });

  test('one that comes alone after a crowd waits for the end of its turn, and the next is committed at once again', async () => {
    const { seen, group } = recorded();
    await Promise.all([group.add('a'), group.add('b'), group.add('c')]);
    seen.length = 0;
    const answer = group.add('d');
    assert.deepEqual(seen, []);
    await answer;
    await new Promise(setImmediate);
    const next = group.add('e');
    assert.deepEqual(seen, ['commit d', 'commit e']);
    await next;
  });

  test('the first job of a further input waits for the end of the turn, though nothing else waits then', async () => {
    const { seen, group } = recorded();
    const answers: Promise<string>[] = [];
    await using inputs = await twoInputs((from) => {
      answers.push(group.add(`${from}`));
      seen.push(`handled ${from}`);
    });
    await inputs.arrive();
    const [first, second] = seen[1] === 'handled 1' ? [1, 2] : [2, 1];
    assert.deepEqual(seen, [`commit ${first}`, `handled ${first}`, `handled ${second}`, `commit ${second}`]);
    await Promise.all(answers);
  });

  test('a job that the commit itself adds is committed after it, with the others of the turn', async () => {
    const seen: string[] = [];
    const inner: Promise<string>[] = [];
    const group = createGroupCommit((jobs: readonly string[]) => {
      seen.push(`begin ${jobs.join(' ')}`);
      if (jobs.includes('a')) inner.push(group.add('from a'));
      seen.push(`end ${jobs.join(' ')}`);
      return jobs;
    });
    const outer = [group.add('a'), group.add('b')];
    assert.deepEqual(await Promise.all([...outer, ...inner]), ['a', 'b', 'from a']);
    assert.deepEqual(seen, ['begin a', 'end a', 'begin from a b', 'end from a b']);
  });

  test('a first commit that throws rejects, and the rest of the turn is committed as ever', async () => {
    const seen: string[] = [];
    const group = createGroupCommit((jobs: readonly string[]) => {
      if (jobs.includes('bad')) throw new Error('disk');
      seen.push(jobs.join(' '));
      return jobs;
    });
    const bad = assert.rejects(group.add('bad'), /disk/);
    const good = [group.add('a'), group.add('b')];
    await bad;
    assert.deepEqual(await Promise.all(good), ['a', 'b']);
    assert.deepEqual(seen, ['a b']);
  });

  test('two groups do not share what is first in a turn', async () => {
    const { seen, group } = recorded();
    const other = recorded();
    const answers = [group.add('a'), other.group.add('b')];
    assert.deepEqual([seen, other.seen], [['commit a'], ['commit b']]);
    assert.deepEqual(await Promise.all(answers), ['a', 'b']);
  });
});

describe('with patience', () => {
  function recorded(patienceMs: number) {
    const seen: string[] = [];
    const group = createGroupCommit((jobs: readonly string[]) => {
      seen.push(jobs.join(' '));
      return jobs;
    }, createCommitSchedule(patienceMs));
    return { seen, add: group.add };
  }
  const turns = async (): Promise<void> => {
    for (let n = 0; n < 5; n += 1) await new Promise(setImmediate);
  };

  test('a crowd waits over turns for as many as came before', async () => {
    const { seen, add } = recorded(60_000);
    const answers = ['a', 'b', 'c', 'd'].map(add);
    await turns();
    assert.deepEqual(seen.splice(0), ['a', 'b c d']);
    for (const job of ['e', 'f', 'g']) {
      assert.deepEqual(seen, []);
      answers.push(add(job));
      await turns();
    }
    assert.deepEqual(seen, ['e f g']);
    assert.equal((await Promise.all(answers)).length, 7);
  });

  test('it waits no longer than it has', async () => {
    const { seen, add } = recorded(2);
    await Promise.all(['a', 'b', 'c'].map(add));
    assert.equal(await add('d'), 'd');
    assert.deepEqual(seen, ['a', 'b c', 'd']);
  });

  test('whoever comes alone after that waits for nobody', async () => {
    const { seen, add } = recorded(2);
    await Promise.all(['a', 'b', 'c'].map(add));
    await add('d');
    await turns();
    void add('e');
    assert.deepEqual(seen, ['a', 'b c', 'd', 'e']);
  });
});

test('a group is full with as many as the largest of the last eight had', async () => {
  const begun: { readonly run: () => void; readonly isFull: () => boolean }[] = [];
  const group = createGroupCommit(
    (jobs: readonly string[]) => jobs,
    (run, { isFull }) => begun.push({ run, isFull }),
  );
  const commit = (...jobs: readonly string[]): readonly boolean[] => {
    const full = jobs.map((job) => {
      void group.add(job);
      return begun.at(-1)?.isFull() === true;
    });
    begun.at(-1)?.run();
    return full;
  };
  assert.deepEqual(commit('a', 'b', 'c'), [true, true, true]);
  assert.deepEqual(commit('a', 'b', 'c', 'd'), [false, false, true, true]);
  for (let n = 0; n < 8; n += 1) assert.deepEqual(commit('alone'), [false]);
  assert.deepEqual(commit('alone'), [true]);
});

test('with a schedule of its own nothing is committed before that says so, and it is asked once a group', async () => {
  const runs: (() => void)[] = [];
  const commits: string[][] = [];
  const group = createGroupCommit(
    (jobs: readonly string[]) => {
      commits.push([...jobs]);
      return jobs;
    },
    (run) => runs.push(run),
  );
  const answers = [group.add('a'), group.add('b')];
  await new Promise(setImmediate);
  assert.deepEqual([runs.length, commits], [1, []]);
  runs[0]?.();
  answers.push(group.add('c'));
  assert.deepEqual([runs.length, commits], [2, [['a', 'b']]]);
  runs[1]?.();
  assert.deepEqual(await Promise.all(answers), ['a', 'b', 'c']);
  assert.deepEqual(commits, [['a', 'b'], ['c']]);
});

test('flush takes what waits for the end of the turn, which then commits what came after it', async () => {
  const commits: string[][] = [];
  const group = createGroupCommit((jobs: readonly string[]) => {
    commits.push([...jobs]);
    return jobs;
  });
  const answers = [group.add('a'), group.add('b'), group.add('c')];
  group.flush();
  assert.deepEqual(commits, [['a'], ['b', 'c']]);
  answers.push(group.add('d'));
  assert.equal(commits.length, 2);
  assert.deepEqual(await Promise.all(answers), ['a', 'b', 'c', 'd']);
  await new Promise(setImmediate);
  assert.deepEqual(commits, [['a'], ['b', 'c'], ['d']]);
});
