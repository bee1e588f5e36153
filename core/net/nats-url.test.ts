import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNatsTarget } from './nats-url.ts';

const scope = { is: 'source', key: 'nats' } as const;

test('the address of a NATS server: scheme, host and port, 4222 when none is given', () => {
  for (const [text, shown, port, tls] of [
    ['nats://127.0.0.1', 'nats://127.0.0.1:4222', 4222, false],
    ['nats://hub.example.org:80/', 'nats://hub.example.org:80', 80, false],
    ['tls://hub.example.org', 'tls://hub.example.org:4222', 4222, true],
    ['nats://[::1]:14222', 'nats://[::1]:14222', 14222, false],
    ['nats://[::1]', 'nats://[::1]:4222', 4222, false],
  ] as const) {
    const found = parseNatsTarget(text, scope);
    assert.deepEqual([found.display, found.port, found.tls], [shown, port, tls], text);
  }
});

test('it is held to its class as a hive is: a literal to its own, and none that no server has', () => {
  assert.deepEqual(parseNatsTarget('nats://10.1.2.3', scope).target.admission, {
    is: 'classes',
    of: new Set(['private']),
  });
  assert.deepEqual(parseNatsTarget('nats://localhost', scope).target.admission, {
    is: 'classes',
    of: new Set(['loopback']),
  });
  assert.deepEqual(parseNatsTarget('nats://hub', scope).target.admission, { is: 'first-seen' });
  for (const text of ['nats://0.0.0.0', 'nats://224.0.0.1:4222', 'tls://192.0.2.1']) {
    assert.throws(() => parseNatsTarget(text, scope), { code: 'blocked' }, text);
  }
});

test('what is none is refused, and no secret is in the message', () => {
  for (const text of [
    '',
    'hub:4222',
    'http://hub',
    'ws://hub',
    'nats://',
    'nats://hub/x',
    'nats://hub?x',
    'nats://hub:99999',
    'nats://a b',
  ]) {
    assert.throws(() => parseNatsTarget(text, scope), { code: 'bad-nats-url' }, text);
  }
  for (const text of ['nats://s3cret@hub', 'http://s3cret@hub', 'nats://me:s3cret@hub:4222/x']) {
    assert.throws(
      () => parseNatsTarget(text, scope),
      (error: Error) => !error.message.includes('s3cret'),
      text,
    );
  }
});
