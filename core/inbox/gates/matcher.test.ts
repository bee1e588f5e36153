import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, gate, rig } from '../../../test/kit/gates-rig.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { type AgentToolCall, checkGate, isGateCommand, isMatchingCall } from './gate.ts';

const bash = (command: string): AgentToolCall => ({ name: 'Bash', command });

test('C5 a matcher is one of tools by name and of a part of the command, with * for anything', () => {
  const push = { tool: 'Bash|Shell', command: 'git push' };
  assert.ok(isMatchingCall(push, bash('git push origin main')));
  assert.ok(isMatchingCall(push, bash('cd /src &&  git \n push')));
  assert.ok(isMatchingCall(push, { name: 'Shell', command: 'git push' }));
  assert.equal(isMatchingCall(push, bash('git pull')), false);
  assert.equal(isMatchingCall(push, { name: 'Read', command: null }), false);
  assert.equal(isMatchingCall(push, { name: 'Bash', command: null }), false);
  assert.equal(isMatchingCall(push, { name: 'Bashful', command: 'git push' }), false);
  assert.ok(isMatchingCall({ tool: 'mcp__*', command: null }, { name: 'mcp__mail__send', command: null }));
  assert.equal(isMatchingCall({ tool: 'mcp__*', command: null }, { name: 'amcp__x', command: null }), false);
  assert.ok(isMatchingCall({ tool: null, command: 'rm * /' }, bash('rm -rf / tmp')));
  assert.ok(isMatchingCall({ tool: 'a*a', command: null }, { name: 'aa', command: null }));
  assert.equal(isMatchingCall({ tool: 'a*a', command: null }, { name: 'a', command: null }), false);
});

test('C5 what settles a gate is one plain command of hivebar, and nothing that carries another', () => {
  for (const fine of [
    'hivebar gate mark push',
    ' hivebar gate status --json ',
    `hivebar decision create --prompt 'may I push? $5; or not' --option "a: yes"`,
  ])
    assert.ok(isGateCommand(bash(fine)), fine);
  for (const other of [
    'hivebar gate mark push && git push',
    'hivebar gate mark push; git push',
    'hivebar gate mark $(git push)',
    'hivebar gate mark `git push`',
    'hivebar gate mark "$(git push)"',
    'hivebar gate mark push\ngit push',
    'hivebar gate mark push | sh',
    'hivebar gate mark push > ~/.bashrc',
    'hivebar run',
    './hivebar gate mark push',
    'x=1 hivebar gate mark push',
    'git push # hivebar gate mark push',
    "hivebar gate mark 'push",
    '',
  ])
    assert.equal(isGateCommand(bash(other)), false, other);
});

test('C5 a strict gate of PreToolUse denies the fourth call and the fortieth, names itself alone, and takes no block of the turn', async () => {
  using space = scratch();
  const all = rig(space);
  all.asked = [];
  const matcher = { tool: 'Bash', command: 'git push' };
  all.gates.register('ada', gate('push', { hook: 'PreToolUse', matcher }));
  const call = (toolCall: AgentToolCall) =>
    check(all, { hook: 'PreToolUse', by: 'hook', call: toolCall, stopHookActive: true, also: 'the same' });
  for (let n = 1; n <= 40; n += 1) {
    const { decision, reason } = await call(bash('git push'));
    assert.deepEqual([decision, reason], ['block', 'push: push is open'], `call ${n}`);
  }
  assert.equal((await call({ name: 'Read', command: null })).decision, 'allow');
  assert.equal((await call(bash('git status'))).decision, 'allow');
  all.gates.register('ada', gate('freeze', { hook: 'PreToolUse' }));
  assert.equal(
    (await call(bash('ls'))).reason,
    'freeze: freeze is open',
    'a gate without a matcher concerns every call',
  );
  assert.equal(
    (await call(bash('hivebar gate mark freeze'))).decision,
    'allow',
    'the call that settles it goes through',
  );
  all.gates.remove('ada', 'freeze');
  all.gates.register('ada', gate('tests'));
  for (const expected of ['block', 'block', 'block', 'allow'])
    assert.equal((await check(all, { also: `${Math.random()}` })).decision, expected, 'the bound of a Stop is its own');
  all.gates.mark('ada', 'push', { by: 'cli', session: null, terminal: null, tells: false });
  assert.equal((await call(bash('git push'))).decision, 'allow');
});

test('C5 a matcher is refused at another hook, and when it could match nothing', () => {
  const at = (matcher: { tool: string | null; command: string | null }, hook: 'Stop' | 'PreToolUse' = 'PreToolUse') =>
    checkGate(gate('g', { hook, matcher }));
  assert.doesNotThrow(() => at({ tool: 'Edit|Write', command: null }));
  assert.throws(() => at({ tool: 'Bash', command: null }, 'Stop'), { message: /PreToolUse, not of Stop/ });
  assert.throws(() => at({ tool: 'Bash|', command: null }), { message: /empty name/ });
  assert.throws(() => at({ tool: null, command: '  ' }), { message: /command is empty/ });
});

test('C7 a gate is removed with its mark; a built-in one is again as everybody has it', () => {
  using space = scratch();
  const all = rig(space);
  all.gates.register('ada', gate('deploy'));
  all.gates.register('ada', gate('commit-push', { mode: 'strict' }));
  assert.equal(all.gates.remove('ada', 'deploy'), true);
  assert.equal(all.gates.remove('ada', 'deploy'), false);
  assert.equal(all.gates.find('ada', 'deploy'), null);
  assert.equal(all.gates.remove('ada', 'commit-push'), true);
  assert.equal(all.gates.find('ada', 'commit-push')?.gate.mode, 'soft');
});
