import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatPermissionReply, parsePermissionCall } from './index.ts';

const call = (tool_name: unknown, tool_input: unknown, harness = 'claude') =>
  parsePermissionCall(harness, JSON.stringify({ tool_name, tool_input }));

describe('the call of a permission prompt, as a person reads it', () => {
  test('has every field of the call, the command first', () => {
    const input = { description: 'Harmless', run_in_background: true, command: 'rm -rf x' };
    const shown = 'command: rm -rf x\ndescription: Harmless\nrun_in_background: true';
    assert.deepEqual(call('Bash', input), { tool: 'Bash', text: shown, cut: 0 });
  });

  test('given a value of several lines, then no line of it can pose as a field', () => {
    const shown = call('Bash', { command: 'echo a\ndescription: all is well' })?.text;
    assert.equal(shown, 'command: echo a\n    description: all is well');
  });

  test('given characters that nobody can see, or that reorder others, then each is a number', () => {
    const hidden = 'a\u202eb\u200bc\u001b[2Kd\re\u00a0f\u3164g\u2800h\u0000i\u{e0041}j\ud800k\u2028l';
    const shown = call('Bash', { command: hidden })?.text ?? '';
    assert.match(shown, /^[\x20-\x7e\ufffd]+$/);
    for (const code of ['202e', '200b', '001b', '000d', '00a0', '3164', '2800', '0000', '{e0041}', '2028'])
      assert.ok(shown.includes(`\\u${code}`), code);
    assert.equal(call('Bash', { command: 'a\tb' })?.text, 'command: a\tb');
    assert.equal(call('a\nb\u202e', {})?.tool, 'a\\u000ab\\u202e');
    assert.match(call('x', { 'a\u202e: b': 1 })?.text ?? '', /^"a\\u202e: b": 1$/);
  });

  test('given a call that is too long, then it says how many characters are cut', () => {
    const long = call('Write', { file_path: '/x', content: 'y'.repeat(5000) });
    assert.equal(long?.text.length, 2000);
    assert.equal((long?.cut ?? 0) + 2000, 'file_path: /x\ncontent: '.length + 5000);
    assert.equal(call('Bash', { command: 'y'.repeat(1991) })?.cut, 0);
    const pair = call('Bash', { command: `${'y'.repeat(1990)}😀` });
    assert.deepEqual([pair?.text.length, pair?.cut], [1999, 2]);
  });

  test('given values that are no text, then their JSON is shown', () => {
    assert.equal(call('mcp__x', { a: { b: [1, null] } })?.text, 'a: {"b":[1,null]}');
    assert.equal(call('x', ['a', 1])?.text, '["a",1]');
    assert.equal(call('x', null)?.text, 'null');
    assert.equal(call('x', undefined)?.text, 'null');
  });

  test('given a question of an agent, another program, or no tool, then there is nothing to allow', () => {
    for (const tool of ['AskUserQuestion', 'ExitPlanMode', '', 7, undefined, 'x'.repeat(201)])
      assert.equal(call(tool, { command: 'x' }), null);
    assert.equal(call('Bash', { command: 'x' }, 'other'), null);
    assert.equal(call('Bash', { command: 'x' }, 'toString'), null);
    assert.notEqual(call('Bash', { command: 'x' }, 'codex'), null);
  });
});

test('the reply to a prompt changes neither the input nor the permissions, and interrupts nothing', () => {
  const replies = [formatPermissionReply('allow'), formatPermissionReply('deny')].map(
    (line) => JSON.parse(line) as object,
  );
  const reply = (decision: object) => ({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });
  assert.deepEqual(replies, [
    reply({ behavior: 'allow' }),
    reply({ behavior: 'deny', message: 'The person denied this in Hivebar.' }),
  ]);
});
