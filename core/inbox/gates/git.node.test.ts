import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import type { CheckAnswer } from './evaluate.ts';
import { createGitCheck } from './git.node.ts';

const LONG_MS = 20_000;

function git(dir: string, ...args: readonly string[]): void {
  const own = ['-c', 'user.name=t', '-c', 'user.email=t@example.org'];
  execFileSync('git', [...own, ...args], { cwd: dir, stdio: 'ignore', env: { ...process.env, GIT_CONFIG_GLOBAL: '' } });
}

function repository(space: Scratch): string {
  const dir = space.at('a repository; with $(odd) name');
  mkdirSync(dir);
  git(dir, 'init', '-q');
  writeFileSync(`${dir}/a.txt`, 'one');
  git(dir, 'add', '.');
  git(dir, 'commit', '-qm', 'first');
  return dir;
}

const probe = (cwd: string, env: NodeJS.ProcessEnv = process.env, withinMs = LONG_MS): Promise<CheckAnswer> =>
  createGitCheck(withinMs)({ cwd, env });

/** A program of that name that does this, first on PATH. */
function fakeGit(space: Scratch, script: string): NodeJS.ProcessEnv {
  mkdirSync(space.at('bin'));
  writeFileSync(space.at('bin', 'git'), `#!/bin/sh\n${script}\n`);
  chmodSync(space.at('bin', 'git'), 0o755);
  return { ...process.env, PATH: `${space.at('bin')}:${process.env.PATH}` };
}

describe('git in a folder', () => {
  test('is clear when all is committed, open for a change or a new file, and tells one change from the next', async () => {
    using space = scratch();
    const dir = repository(space);
    assert.deepEqual(await probe(dir), { is: 'clear' });
    writeFileSync(`${dir}/b.txt`, 'new');
    const untracked = await probe(dir);
    writeFileSync(`${dir}/a.txt`, 'two');
    const changed = await probe(dir);
    assert.deepEqual([untracked.is, changed.is], ['open', 'open']);
    assert.notDeepEqual(untracked, changed);
    assert.deepEqual(await probe(dir), changed);
  });

  test('is clear where there is no repository, no folder and no git', async () => {
    using space = scratch();
    assert.deepEqual(await probe(space.dir), { is: 'clear' });
    assert.deepEqual(await probe(space.at('gone')), { is: 'clear' });
    assert.deepEqual(await probe(repository(space), { PATH: space.dir }), { is: 'clear' });
  });

  test('is that of the folder, whatever the environment says of another', async () => {
    using space = scratch();
    const dir = repository(space);
    writeFileSync(`${dir}/b.txt`, 'new');
    mkdirSync(space.at('other'));
    git(space.at('other'), 'init', '-q');
    const env = { ...process.env, GIT_DIR: space.at('other', '.git'), GIT_WORK_TREE: space.at('other') };
    assert.equal((await probe(dir, env)).is, 'open');
  });

  test('that hangs, fails or floods is not waited for', async () => {
    using hanging = scratch();
    assert.match(
      JSON.stringify(await probe('/', fakeGit(hanging, 'exec sleep 600'), 300)),
      /failed.*timed out after 300 ms/,
    );
    using failing = scratch();
    assert.deepEqual(await probe('/', fakeGit(failing, 'exit 3')), { is: 'failed', why: 'git ended with 3' });
    using flooding = scratch();
    assert.equal((await probe('/', fakeGit(flooding, 'exec yes "?? file"'))).is, 'open');
  });

  test('is never one that lies in the folder, or in a relative entry of PATH', async () => {
    using space = scratch();
    const dir = repository(space);
    const mark = space.at('ran');
    writeFileSync(`${dir}/git`, `#!/bin/sh\ntouch '${mark}'\n`);
    chmodSync(`${dir}/git`, 0o755);
    // The last is relative to where git is started.
    for (const entry of ['.', '', dir.slice(1)])
      await probe(dir, { ...process.env, PATH: `${entry}:${process.env.PATH}` });
    assert.ok(!space.list().includes('ran'));
  });
});
