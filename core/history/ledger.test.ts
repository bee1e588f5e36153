import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS, Fault, type FaultCode } from '../model/index.ts';
import { formatAlertMessage } from './ledger.ts';

const SCOPE = { is: 'source', key: 'hive' } as const;

test('an alert says what was wrong and the next step', () => {
  const fault = new Fault('refused', 'http://127.0.0.1:7474/: the connection was refused', SCOPE);
  assert.equal(
    formatAlertMessage(fault),
    'http://127.0.0.1:7474/: the connection was refused: check that the server is running at that address',
  );
});

test('it quotes nothing that a hive answered, a command printed or an unforeseen error says', () => {
  const quoting: readonly FaultCode[] = ['not-json', 'exec-failed', 'internal'];
  for (const code of quoting) {
    const message = formatAlertMessage(new Fault(code, 'the answer begins "{\\"content\\": \\"SECRET', SCOPE));
    assert.doesNotMatch(message, /SECRET/, code);
    assert.ok(message.endsWith(FAULTS[code].next), code);
  }
});

test('it is one line of well-formed text, and not longer than 500 characters', () => {
  const long = new Fault('refused', `a\nb\u001b[31m\u202e\u2028${'\ud800'}${'😀'.repeat(400)}`, SCOPE);
  const message = formatAlertMessage(long);
  assert.ok(message.length <= 500);
  assert.ok(message.isWellFormed());
  assert.doesNotMatch(message, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
});
