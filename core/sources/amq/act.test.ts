import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../model/index.ts';
import type { ChildCommand, ProcessEnd } from '../../ports/index.ts';
import { type AmqActionParams, runAmqAction, toReplyParams } from './act.ts';

const never = new AbortController().signal;

async function run(params: Omit<AmqActionParams, 'persona'>, handle: string, end: ProcessEnd = EXIT_0) {
  const commands: ChildCommand[] = [];
  const spawn = {
    run: async (command: ChildCommand) => {
      commands.push(command);
      return end;
    },
  };
  const target = { queue: '/srv/q', handle };
  const env = { PATH: '/bin', GONE: undefined };
  const result = await runAmqAction({ persona: 'amq-x', ...params }, target, spawn, env, never);
  return { result, args: commands[0]?.args.join(' '), env: commands[0]?.env };
}

const EXIT_0: ProcessEnd = { is: 'exited', code: 0, stderr: '' };
const isFault = (code: string, text: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === code && text.test(error.message);

test('a person reads, replies and sends as user, pinned to the queue', async () => {
  const pinned = '--root /srv/q --me user';
  assert.equal((await run({ do: 'read', message: 'x_pid1_ab' }, 'user')).args, `read ${pinned} --id x_pid1_ab`);
  const reply = await run({ do: 'reply', message: 'x_pid1_ab', text: '--help; rm' }, 'user');
  assert.deepEqual([reply.args, reply.env], [`reply ${pinned} --id x_pid1_ab --body --help; rm`, { PATH: '/bin' }]);
  assert.deepEqual((await run({ do: 'send', text: 'hi' }, 'ada')).result, { done: 'send' });
  assert.equal(
    (await run({ do: 'send', text: 'hi', urgent: true }, 'ada')).args,
    `send ${pinned} --to ada --body hi --priority urgent`,
  );
});

test('the mail of an agent is not read for it, and what makes no sense is refused', async () => {
  await assert.rejects(run({ do: 'read', message: 'x_pid1_ab' }, 'ada'), isFault('usage', /mail of ada is its own/));
  await assert.rejects(run({ do: 'read' }, 'user'), isFault('usage', /is not named/));
  await assert.rejects(
    run({ do: 'reply', message: 'x_pid1_ab', text: ' ' }, 'user'),
    isFault('usage', /text is needed/),
  );
  await assert.rejects(run({ do: 'send', text: 'x' }, '-old'), isFault('usage', /takes it for a flag/));
});

test('what AMQ refuses is shown as it says it', async () => {
  const refuse = (code: number) =>
    run({ do: 'read', message: 'x_pid1_ab' }, 'user', { is: 'exited', code, stderr: 'no:\nnot here\n' });
  await assert.rejects(
    refuse(5),
    isFault('exec-failed', /^amq read: it ended with 5: the queue is pinned .*: no: not here$/),
  );
  await assert.rejects(refuse(6), isFault('exec-failed', /6: a person has to decide/));
  await assert.rejects(refuse(1), isFault('exec-failed', /1: no: not here$/));
  const end: ProcessEnd = { is: 'not-started', why: 'there is no program amq on PATH' };
  await assert.rejects(
    run({ do: 'read', message: 'x_pid1_ab' }, 'user', end),
    isFault('exec-failed', /no program amq on PATH/),
  );
});

test('amq reply: with a message it is an answer, without one it is sent to the agent, and never to the person', async () => {
  const reply = (handle: string, message: string | null) =>
    toReplyParams({ persona: `amq-${handle}`, handle, text: 'Yes.', message });
  const answer = reply('user', 'x_pid1_ab') ?? assert.fail();
  assert.equal((await run(answer, 'user')).args, 'reply --root /srv/q --me user --id x_pid1_ab --body Yes.');
  const mail = reply('ada', null) ?? assert.fail();
  assert.equal((await run(mail, 'ada')).args, 'send --root /srv/q --me user --to ada --body Yes.');
  await assert.rejects(
    run(reply('ada', 'x_pid1_ab') ?? assert.fail(), 'ada'),
    isFault('usage', /mail of ada is its own/),
  );
  assert.equal(reply('user', null), null);
});
