import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJumpingClock } from '../../../test/conformance/source-rig.ts';
import { fakeSupervisor, sendMail } from '../../../test/kit/fake-gas-city.ts';
import { fakeTown } from '../../../test/kit/fake-gas-town.ts';
import { Fault } from '../../model/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { Reply, Source } from '../source.ts';
import { createFetcher, openCityHive } from './city-hive.ts';
import { createGtRunner } from './run-gt.node.ts';
import { openTownHive } from './town-hive.ts';

const never = new AbortController().signal;
const host = {
  disk: createRealDisk(silentLog),
  clock: createJumpingClock(realClock),
  log: silentLog,
  contentChars: 220,
};
const TEXT = '--force "yes"\n$(rm) ✓';

const isFault = (code: string, text: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === code && text.test(error.message);

async function reply(
  source: Source,
  named: (address: string) => Parameters<Source['poll']>[0],
  to: string,
  more: Partial<Reply>,
) {
  assert.ok(source.reply !== undefined);
  return await source.reply(named(to), { text: TEXT, message: null, subject: null, ...more }, never);
}

test('gas reply: a message to the person in a city is answered once, as human, with the header that a change needs', async () => {
  await using supervisor = await fakeSupervisor();
  const city = supervisor.addCity('mytown');
  const { id } = sendMail(city, 'human', 'Deploy?', { subject: 'Deploy?' });
  await using http = createFetcher(supervisor.url, { version: '0.0.0-test' });
  const open = (acts: boolean) =>
    openCityHive({ name: 'mytown', path: '', isRunning: true }, supervisor.url, http, () => true, acts, host);
  const { source } = open(true);
  await source.personas(never);
  const done = await reply(source, source.named, 'human', { message: id });
  assert.deepEqual(done, { is: 'accepted', says: 'sent: the city mytown has it' });
  await reply(source, source.named, 'human', { message: id, subject: 'Go' });
  const path = `/v0/city/mytown/mail/${id}/reply`;
  assert.deepEqual(supervisor.replies, [
    { path, body: { from: 'human', subject: 'Re: Deploy?', body: TEXT } },
    { path, body: { from: 'human', subject: 'Go', body: TEXT } },
  ]);
  await assert.rejects(reply(source, source.named, 'human', { message: 'gc-none' }), isFault('not-found', /gc-none/));
  await assert.rejects(reply(source, source.named, 'human', {}), isFault('usage', /is you: name the message/));
  await assert.rejects(reply(source, source.named, 'mayor', { message: id }), isFault('usage', /mayor is not you/));
  const posts = supervisor.requests.filter((request) => !request.startsWith('GET '));
  assert.equal(posts.length, 3, 'what is refused here is not sent, and nothing is sent again');
  const quiet = open(false).source;
  assert.equal(quiet.reply, undefined, 'without the setting there is no way to reply');
  for (const each of [source, quiet]) await each[Symbol.asyncDispose]();
});

test('gas reply: in a town gt answers or sends as the overseer, in the folder of the town and with no shell', async () => {
  using town = fakeTown();
  const env = { ...town.env, GT_ROLE: 'mayor', BD_ACTOR: 'gastown/Toast', GT_RIG: 'gastown' };
  const open = (acts: boolean) =>
    openTownHive(town.dir, town.bd, acts ? createGtRunner(town.dir, { env }) : null, { ...host, env });
  const { source } = open(true);
  assert.deepEqual(await reply(source, source.named, 'overseer', { message: 'hq-1' }), {
    is: 'accepted',
    says: 'sent: gt has it',
  });
  const lines = TEXT.split('\n');
  assert.deepEqual(town.lastGt(), { args: ['mail', 'reply', 'hq-1', '-m', ...lines], identity: town.dir });
  await reply(source, source.named, 'gastown/Toast', {});
  const subject = lines.join(' ');
  assert.deepEqual(town.lastGt().args, ['mail', 'send', 'gastown/Toast', '-s', subject, '-m', ...lines]);
  await reply(source, source.named, 'mayor/', { subject: 'Plan' });
  assert.deepEqual(town.lastGt().args, ['mail', 'send', 'mayor/', '-s', 'Plan', '-m', ...lines]);
  await assert.rejects(
    reply(source, source.named, 'mayor/', { message: 'hq-1' }),
    isFault('usage', /its own: only yours/),
  );
  await assert.rejects(reply(source, source.named, '-x', {}), isFault('usage', /gt takes it for a flag/));
  await assert.rejects(reply(source, source.named, 'overseer', {}), isFault('usage', /is you: name the message/));
  await assert.rejects(
    reply(source, source.named, 'mayor/', { text: 'ä'.repeat(70_000) }),
    isFault('usage', /140000 bytes: 120000 fit/),
  );
  assert.equal(town.calls().filter((call) => call.startsWith('gt ')).length, 3, 'what is refused here runs nothing');
  town.refuseGt('Error: no such message\n');
  await assert.rejects(
    reply(source, source.named, 'overseer', { message: 'hq-9' }),
    isFault('exec-failed', /^gt mail ended with 1: Error: no such message$/),
  );
  const quiet = open(false).source;
  assert.equal(quiet.reply, undefined, 'without the setting there is no way to reply');
  for (const each of [source, quiet]) await each[Symbol.asyncDispose]();
});
