import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calledProgram } from '../../../test/kit/called-program.ts';
import { fakeAgentMail, PROJECT } from '../../../test/kit/fake-agent-mail.ts';
import { until } from '../../../test/kit/until.ts';
import { exactly, Fault } from '../../model/index.ts';
import { AS_WRITTEN, createHttpClient } from '../../net/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import type { Reply } from '../source.ts';
import { createMailReply } from './reply.node.ts';
import { createMailServer } from './server.ts';
import { createAmailSource } from './source.ts';

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

test('amail reply: a person marks mail as read by the route of the page, and nobody else does', async () => {
  await using server = await fakeAgentMail({ token: 'secret' });
  server.addAgent('BlueLake');
  const ids = Array.from({ length: 502 }, () => server.deliver({ to: ['BlueLake', 'GreenCastle'] }));
  const lines: string[] = [];
  const open = (acts: boolean) =>
    createAmailSource({
      server: createMailServer({
        fetcher: createHttpClient({
          ...{ url: server.url, policy: AS_WRITTEN, scope: { is: 'source', key: 'amail' }, accepts: [503] },
          ...{ userAgent: 'hivebar/0.0.0-test', credential: { name: 'authorization', value: 'Bearer secret' } },
        }),
        ...{ base: server.url, clock: realClock, log: silentLog, contentChars: 220 },
      }),
      ...{ base: server.url, clock: realClock, memory: { load: () => null, save: () => {} } },
      ...(acts ? { acting: { warn: (line: string) => void lines.push(line) } } : {}),
    });
  await using quiet = open(false);
  assert.equal(quiet.markRead, undefined, 'without the setting there is no way');
  await using source = open(true);
  const [persona] = await source.personas(never);
  assert.ok(persona !== undefined && source.markRead !== undefined);
  const count = async () => (await source.poll(persona, { is: 'unset' }, never)).unread;
  assert.deepEqual(await count(), exactly(502));
  server.allowMarks();
  const posts = () => server.requests.filter((request) => request.startsWith('POST'));
  assert.equal(source.markRead(persona, [ids[0] ?? 0, 9999]), 1);
  await until('one is read', async () => (await count()).is === 'exact' && posts().length === 1);
  await until('its count', async () => JSON.stringify(await count()) === JSON.stringify(exactly(501)));
  assert.equal(source.markRead(persona, { upTo: ids[1] ?? 0 }), 1);
  await until('two are read', async () => JSON.stringify(await count()) === JSON.stringify(exactly(500)));
  assert.equal(source.markRead(persona, 'all'), 500);
  await until('all are read', async () => JSON.stringify(await count()) === JSON.stringify(exactly(0)));
  assert.deepEqual(new Set(posts()), new Set([`POST /mail/${PROJECT}/inbox/BlueLake/mark-read`]));
  assert.ok(
    server.mail.every(({ readBy }) => readBy.get('GreenCastle') === false),
    'for this agent alone',
  );
  server.deliver({ to: ['BlueLake'] });
  await until('a new one', async () => JSON.stringify(await count()) === JSON.stringify(exactly(1)));
  server.setToken('another');
  assert.equal(source.markRead(persona, 'all'), 1);
  await until('it is said', () => lines.length === 1);
  assert.match(lines[0] ?? '', /^amail-BlueLake: mail is not marked as read: .*mark-read/);
});
