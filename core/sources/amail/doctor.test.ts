import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { captureTree } from '../../../test/conformance/source-store.ts';
import { fakeAgentMail } from '../../../test/kit/fake-agent-mail.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { realClock } from '../../ports/index.ts';
import { checkAmail, judgeAmail, probeStore } from './doctor.node.ts';
import { listMailProcesses } from './servers.node.ts';

const never = new AbortController().signal;
const DATA = new URL('../../../test/data/amail/', import.meta.url);
const context = { env: {}, clock: realClock, state: '/nowhere', version: '0.0.0-test' };

for (const kind of ['Rust', 'Python'] as const) {
  test(`amail 11: the store of a ${kind} server that is down is read, and nothing lies beside it afterwards`, async () => {
    using home = scratch();
    const database = home.at('storage.sqlite3');
    copyFileSync(new URL(`storage-${kind.toLowerCase()}.sqlite3`, DATA), database);
    const before = captureTree(home.dir);
    const seen = await probeStore(database, [], context, never);
    assert.deepEqual(seen, { is: 'store', database, kind, agents: 3, unread: 3 });
    assert.deepEqual(captureTree(home.dir), before);
    const finding = judgeAmail({ base: 'http://127.0.0.1:8765', store: home.dir, isNamed: false, listeners: [], seen });
    assert.equal(finding.is, 'skipped');
    assert.match(finding.seen, /storage\.sqlite3 of the \w+ server holds 3 unread for 3 agents$/);
    writeFileSync(`${database}-wal`, 'mail');
    const unclosed = captureTree(home.dir);
    assert.equal((await probeStore(database, [], context, never)).is, 'store unclosed');
    assert.equal((await probeStore(database, [{ pid: 7, listens: true }], context, never)).is, 'store in use');
    assert.deepEqual(captureTree(home.dir), unclosed);
  });
}

test('amail 11: a database that is none says so, and a server that answers is asked instead of its store', async () => {
  using home = scratch();
  const seen = await probeStore(home.write('storage.sqlite3', 'x'.repeat(5000)), [], context, never);
  assert.equal(seen.is, 'store unreadable');
  await using server = await fakeAgentMail();
  for (const name of ['ada', 'bo']) server.addAgent(name);
  server.deliver({ to: ['ada', 'bo'] });
  const settings = { amail: { is: 'auto', base: server.url, envFile: home.at('none') } } as const;
  const check = () => checkAmail(settings, { ...context, env: { HOME: home.dir } }, never);
  assert.deepEqual(await check(), { is: 'ok', seen: `${server.url}: 2 agents, 2 unread` });
  server.setToken('other');
  const refused = await check();
  assert.ok(refused.is === 'fail' && refused.next.includes('amail.tokenFile'), refused.seen);
  await server.refuse();
  assert.equal((await check()).is, 'fail', 'the settings name it');
});

test('two processes that listen with one STORAGE_ROOT are warned of', {
  skip: process.platform !== 'linux',
}, async () => {
  using home = scratch();
  const store = home.at('store');
  mkdirSync(store);
  await using stack = new AsyncDisposableStack();
  for (let n = 0; n < 2; n += 1) {
    const code = "require('net').createServer().listen(0, '127.0.0.1', () => console.log('ready'))";
    const child = spawn(process.execPath, ['-e', code], {
      env: { STORAGE_ROOT: store },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    stack.defer(async () => {
      child.kill();
      await once(child, 'exit');
    });
    await once(child.stdout, 'data');
  }
  const listeners = listMailProcesses(store, home.at('storage.sqlite3')) ?? assert.fail('no /proc');
  assert.deepEqual(
    listeners.map(({ listens }) => listens),
    [true, true],
  );
  const seen = { is: 'another program' } as const;
  const finding = judgeAmail({ base: 'http://127.0.0.1:8765', store, isNamed: false, listeners, seen });
  assert.match(finding.seen, /^2 servers work on /);
  assert.equal(finding.is, 'warn');
});
