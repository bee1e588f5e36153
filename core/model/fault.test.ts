import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS, Fault, type FaultCode, toFault } from './fault.ts';

const scope = { is: 'persona', key: 'ada' } as const;

test('a fault explains itself: what was wrong, then the next step', () => {
  const fault = new Fault('refused', '127.0.0.1:7474 refused the connection', scope);
  assert.equal(
    fault.explain(),
    '127.0.0.1:7474 refused the connection: check that the server is running at that address',
  );
});

test('every code has a next step', () => {
  for (const code of Object.keys(FAULTS) as FaultCode[]) assert.ok(FAULTS[code].next.length > 0, code);
});

test('a fault passes through as it is; anything else thrown is an internal one with its cause', () => {
  const fault = new Fault('timeout', 'no answer in 5 s', scope);
  assert.equal(toFault(fault, { is: 'machine', key: 'x' }), fault);
  const error = new TypeError('x is not a function');
  const wrapped = toFault(error, scope);
  assert.deepEqual(
    [wrapped.code, wrapped.message, wrapped.cause],
    ['internal', 'TypeError: x is not a function', error],
  );
  assert.equal(toFault('text', scope).message, 'text');
});

test('B11 given any fault, its next step is one a person can take, and no promise of a program that may have ended', () => {
  for (const [code, { next }] of Object.entries(FAULTS))
    assert.doesNotMatch(next, /by itself|again later|is retried/, code);
});
