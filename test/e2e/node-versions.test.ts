import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { OLDEST_NODE } from '../../app/oldest-node.ts';
import { buildPackage } from '../../build/package.ts';
import { ROOT } from '../house/source-file.ts';
import { otherNode } from '../kit/other-node.ts';
import { needs } from '../kit/require.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';

const OLDEST = '24.15.0';
const NEWEST = '26.12.1';
const TOO_OLD = ['18.20.8', '24.14.1'];
const { bin, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

describe('the package on other versions of Node', { concurrency: 4 }, () => {
  let space: Scratch;
  let folder = '';
  before(async () => {
    space = scratch();
    mkdirSync(space.at('package'));
    folder = process.env.HIVEBAR_TEST_PACKAGE ?? space.at('package/dist');
    if (process.env.HIVEBAR_TEST_PACKAGE === undefined) {
      copyFileSync(join(ROOT, 'package.json'), space.at('package/package.json'));
      symlinkSync(join(ROOT, 'node_modules'), space.at('package/node_modules'), 'junction');
      await buildPackage(folder);
    }
  });
  after(() => space[Symbol.dispose]());

  const findEntry = (program: string): string => join(folder, `${program}.cjs`);

  async function run(node: string, home: string, ...args: string[]) {
    return await runProgram('hivebar', node, home, args);
  }

  async function runProgram(program: string, node: string, home: string, args: readonly string[]) {
    const env = { PATH: process.env.PATH, HOME: home, HIVEBAR_HOME: join(home, 'hb') };
    const ended = promisify(execFile)(node, [findEntry(program), ...args], { env, timeout: 60_000 });
    return ended.then(
      ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
      (error) => ({ code: error.code, out: error.stdout, err: error.stderr }),
    );
  }

  test('the oldest version that is tried is the oldest that package.json allows', () => {
    assert.equal(OLDEST_NODE.join('.'), OLDEST.replace(/\.0$/, ''));
    assert.equal(engines.node, `>=${OLDEST.replace(/\.0$/, '')}`);
  });

  for (const version of TOO_OLD) {
    test(`E2 G1 given Node ${version}, it says in one line what it needs and what it found`, async (t) => {
      const node = await otherNode(version);
      if (needs(t, node === null ? `Node ${version} is not to be had from the registry` : null) || node === null)
        return;
      const says = new RegExp(`^hivebar: needs Node 24\\.15 or newer, and this is Node ${version} \\(.*\\): .*\\n$`);
      const hook = await runProgram('hook', node, space.dir, ['hook', '--harness', 'claude', '--event', 'Stop']);
      assert.deepEqual([hook.code, hook.out], [0, '']);
      assert.match(hook.err.replace(/^hivebar hook:/, 'hivebar:'), says);
      for (const program of Object.keys(bin)) {
        const { code, out, err } = await runProgram(program, node, space.dir, ['--version']);
        assert.deepEqual([code, out], [1, ''], program);
        assert.match(err, says, program);
      }
    });
  }

  for (const version of [OLDEST, NEWEST]) {
    test(`G1 given Node ${version}, the program starts, takes mail, shows it and stops`, async (t) => {
      const node = await otherNode(version);
      if (needs(t, node === null ? `Node ${version} is not to be had from the registry` : null) || node === null)
        return;
      const home = space.at(`home-${version}`);
      mkdirSync(home);
      const sent = await run(node, home, 'send', '--to', 'ada', '--from', 'me', 'hello');
      assert.deepEqual(sent, { code: 0, out: 'sent 1 to ada\n', err: '' });
      const tray = execFile(node, [findEntry('hivebar'), 'run', '--no-tray', '--no-notifications', '--port', '0'], {
        env: { PATH: process.env.PATH, HOME: home, HIVEBAR_HOME: join(home, 'hb') },
      });
      const ended = new Promise((resolve) => tray.once('close', (code) => resolve(code)));
      try {
        let unread: unknown = null;
        for (let tries = 0; tries < 120 && unread !== 1; tries += 1) {
          const status = await run(node, home, 'status', '--json');
          if (status.code === 0) unread = JSON.parse(status.out).totals.unread;
          else await sleep(250);
        }
        assert.equal(unread, 1);
        const listed = await run(node, home, 'inbox', 'list', 'ada');
        assert.match(listed.out, /me: hello\n$/);
      } finally {
        tray.kill('SIGTERM');
      }
      assert.equal(await ended, 0);
      for (const args of [
        ['doctor', '--json'],
        ['gate', 'list'],
        ['decision', 'list'],
        ['tail', 'ada'],
      ]) {
        const { err } = await run(node, home, ...args);
        assert.doesNotMatch(err, /is not defined|fault of Hivebar/, args.join(' '));
      }
    });
  }
});
