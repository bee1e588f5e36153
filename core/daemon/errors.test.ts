import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ERROR_CLASSES } from '../link/index.ts';
import { Fault } from '../model/index.ts';
import { classifyError } from './index.ts';
import { isErrorClass } from './machine-stream.ts';

const SCOPE = { is: 'machine', key: 'daemon' } as const;

function failed(code: string, syscall?: string): Error {
  return Object.assign(new Error(code), { code, ...(syscall === undefined ? {} : { syscall }) });
}

test('what the system failed at says the class', () => {
  for (const [error, expected] of [
    [failed('EADDRINUSE', 'listen'), 'ipc_bind_failed'],
    [failed('EACCES', 'listen'), 'ipc_bind_failed'],
    [failed('ECONNREFUSED', 'connect'), 'ws_connect_failed'],
    [failed('ENOTFOUND', 'getaddrinfo'), 'ws_connect_failed'],
    [failed('CERT_HAS_EXPIRED'), 'ws_connect_failed'],
    [failed('DEPTH_ZERO_SELF_SIGNED_CERT'), 'ws_connect_failed'],
    [failed('ERR_TLS_CERT_ALTNAME_INVALID'), 'ws_connect_failed'],
    [new Fault('daemon-config', 'no tenant', SCOPE), 'config_invalid'],
    [new Fault('daemon-socket', 'too long', SCOPE), 'ipc_bind_failed'],
    ['heartbeat_publish_failed', 'heartbeat_publish_failed'],
  ] as const) {
    assert.equal(classifyError(error), expected, String(error));
  }
});

test('everything else is unclassified', () => {
  const hostile = Object.defineProperty({}, 'syscall', {
    get() {
      throw new Error('no');
    },
  });
  for (const thrown of [
    ...[null, undefined, 0, '', 'ws_connect_failed ', Symbol('x'), [], hostile, () => {}],
    failed('ENOENT', 'open'),
    failed('x', 'toString'),
    failed('x', '__proto__'),
    new Fault('internal', 'x', SCOPE),
  ]) {
    assert.equal(classifyError(thrown), 'unclassified');
  }
});

test('persona daemon check 12: whatever is thrown is one of ten', () => {
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      assert.ok(ERROR_CLASSES.includes(classifyError(thrown)));
    }),
  );
  assert.ok(!isErrorClass('constructor'));
});
