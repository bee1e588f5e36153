import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calledProgram } from '../../../test/kit/called-program.ts';
import { Fault } from '../../model/index.ts';
import type { Reply } from '../source.ts';
import { createMailReply } from './reply.node.ts';

const never = new AbortController().signal;
const TEXT = '--all "x"\n$(rm) ✓';

const isFault = (code: string, text: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === code && text.test(error.message);

test('amail reply: am sends it as the overseer, or answers a message, with the text in an argument of its own', async () => {
  using program = calledProgram('am');
  const send = createMailReply({ env: { ...program.env, HTTP_BEARER_TOKEN: 'its-own' } });
  const reply = (more: Partial<Reply>, address = 'data-projects-p/BlueLake') =>
    send(address, { text: TEXT, message: null, subject: null, ...more }, never);
  assert.deepEqual(await reply({}), { is: 'accepted', says: 'sent: the mail server has it' });
  const to = ['mail', 'send', '-p', 'data-projects-p', '--from=HumanOverseer', '--to=BlueLake'];
  assert.deepEqual(program.args(), [...to, '--subject=--all "x" $(rm) ✓', `--body=${TEXT}`]);
  assert.equal(program.variable('HTTP_BEARER_TOKEN'), 'its-own', 'the token of this server, and of no other source');
  await reply({ subject: 'Plan' });
  assert.deepEqual(program.args(), [...to, '--subject=Plan', `--body=${TEXT}`]);
  await reply({ message: '42' });
  assert.deepEqual(program.args(), ['mail', 'reply', '-p', 'data-projects-p', '--message-id=42', `--body=${TEXT}`]);
  await assert.rejects(reply({ message: 'x1' }), isFault('usage', /x1 is no message of a mail server/));
  await assert.rejects(reply({ message: '7', subject: 'no' }), isFault('usage', /subject of its message/));
  await assert.rejects(reply({}, '-p/BlueLake'), isFault('usage', /takes it for a flag/));
  assert.equal(program.args()?.at(4), '--message-id=42', 'what is refused here runs nothing');
  program.end(2, 'error: contact policy refuses\n');
  await assert.rejects(reply({}), isFault('exec-failed', /^am mail ended with 2: error: contact policy refuses$/));
  const without = createMailReply({ env: { PATH: '/nowhere' } });
  await assert.rejects(
    without('p/BlueLake', { text: TEXT, message: null, subject: null }, never),
    isFault('exec-failed', /no program am on PATH of Hivebar: .*write on its page, which hivebar open shows/),
  );
});
