import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { describe, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { commandLine } from '../../test/kit/command-line.ts';
import { freePort, NO_NATS_SERVER } from '../../test/kit/nats-server.ts';
import { relayRig } from '../../test/kit/relay-rig.ts';
import { needs } from '../../test/kit/require.ts';
import { scratch } from '../../test/kit/scratch.ts';

const hivebar = (home: string, ...args: string[]) => commandLine(args, { HIVEBAR_HOME: home });

/** `ok address`, in order. */
const steps = (out: string): readonly string[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .split(/ +/)
        .slice(0, line.includes('clean up') ? 3 : 2)
        .join(' '),
    );

describe('hivebar nats check', () => {
  test('C7 given an address of another kind, it says what one of NATS is', async () => {
    using folder = scratch();
    for (const url of ['http://127.0.0.1:4222', 'nats://me@127.0.0.1', 'nats://:::']) {
      const { code, err } = await hivebar(folder.dir, 'nats', 'check', url);
      assert.notEqual(code, 0, url);
      assert.match(err, /write it like nats:\/\/127\.0\.0\.1:4222/, url);
      assert.doesNotMatch(err, /http or https/, url);
    }
  });

  test('proves every step, leaves nothing but the stream, and ends with 0', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    using folder = scratch();
    const file = folder.write('token', `${rig.server.token}\n`);
    const first = await hivebar(folder.at('home'), 'nats', 'check', rig.server.url, '--token-file', file);
    assert.deepEqual([first.code, first.err], [0, '']);
    assert.deepEqual(steps(first.out), [
      'ok address',
      'ok connection',
      'ok token',
      'ok JetStream',
      'ok stream',
      'ok consumer',
      'ok publish',
      'ok consume',
      'ok acknowledge',
      'ok clean up',
    ]);
    assert.match(first.out, /INBOX_EVENTS, made just now/);
    const value = JSON.stringify({ url: rig.server.url, tokenFile: file });
    assert.equal((await hivebar(folder.at('home'), 'config', 'set', 'nats', value)).code, 0);
    const second = await hivebar(folder.at('home'), 'nats', 'check');
    assert.deepEqual([second.code, second.err], [0, '']);
    const client = await connect({ servers: rig.server.url, token: rig.server.token, tls: null });
    const { config, state } = await (await jetstreamManager(client)).streams.info('INBOX_EVENTS');
    assert.deepEqual([state.messages, state.consumer_count], [0, 0]);
    assert.deepEqual(
      [config.subjects, config.storage, config.retention, config.discard, config.max_msgs, config.max_bytes],
      [['inbox.>'], 'file', 'limits', 'old', 10_000, 100 * 1024 * 1024],
    );
    assert.equal(config.duplicate_window, 120_000_000_000);
    await client.close();
  });

  test('ends with 1 at the first step that fails, and says what to do', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    using folder = scratch();
    const home = folder.at('home');
    const wrong = folder.write('wrong', 'not it');
    const check = (...args: string[]) => hivebar(home, 'nats', 'check', ...args);

    const refused = await check(rig.server.url, '--token-file', wrong);
    assert.equal(refused.code, 1);
    assert.deepEqual(steps(refused.out), ['ok address', 'ok connection', 'failed token']);
    assert.match(refused.out, /refused the token: put the token .* into the file/);

    const nobody = await check(`nats://127.0.0.1:${await freePort()}`);
    assert.equal(nobody.code, 1);
    assert.deepEqual(steps(nobody.out), ['ok address', 'failed connection']);
    assert.match(nobody.out, /connection refused .*: check that the server is running/);

    const unknown = await check('nats://no-such-host.invalid:4222');
    assert.equal(unknown.code, 1);
    assert.deepEqual(steps(unknown.out), ['failed address']);

    const encrypted = await check(rig.server.url.replace('nats:', 'tls:'), '--token-file', wrong);
    assert.equal(encrypted.code, 1);
    assert.deepEqual(steps(encrypted.out).at(-1), 'failed connection');

    await rig.restart({ jetStream: false });
    const right = folder.write('right', rig.server.token);
    const plain = await check(rig.server.url, '--token-file', right);
    assert.equal(plain.code, 1);
    assert.deepEqual(steps(plain.out), ['ok address', 'ok connection', 'ok token', 'failed JetStream']);
    assert.ok(![refused, nobody, plain].some(({ out, err }) => `${out}${err}`.includes(rig.server.token)));
  });

  test('a bad command line ends with 2, a token file that cannot be read with 1', async () => {
    using folder = scratch();
    const home = folder.at('home');
    for (const args of [[], ['check', 'a', 'b'], ['check'], ['check', '--x']]) {
      const output = await hivebar(home, 'nats', ...args);
      assert.deepEqual([output.code, output.out], [2, ''], args.join(' '));
    }
    assert.match((await hivebar(home, 'nats', 'check')).err, /hivebar config set nats/);
    assert.equal((await hivebar(home, 'nats', 'check', 'http://h')).code, 1);
    const missing = await hivebar(home, 'nats', 'check', 'nats://127.0.0.1', '--token-file', folder.at('none'));
    assert.deepEqual([missing.code, missing.out], [1, '']);
    const open = folder.write('open', 'x');
    chmodSync(open, 0o644);
    const port = await freePort();
    assert.match(
      (await hivebar(home, 'nats', 'check', `nats://127.0.0.1:${port}`, '--token-file', open)).err,
      /open to other/,
    );
  });
});
