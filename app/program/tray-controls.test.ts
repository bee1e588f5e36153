import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../core/model/index.ts';
import { type Log, silentLog } from '../../core/ports/index.ts';
import type { Reply, ReplyResult } from '../../core/sources/index.ts';
import { sendReply } from './tray-controls.ts';

const never = new AbortController().signal;
const REPLY: Reply = { text: 'SECRET ✓', message: null, subject: null };

function createRig(replies: Readonly<Record<string, () => Promise<ReplyResult>>>) {
  const lines: string[] = [];
  const sent: [string, Reply][] = [];
  const add = (line: string): void => void lines.push(line);
  const log: Log = { ...silentLog, info: add, warn: add };
  const watchers = Object.entries(replies).map(([own, run]) => ({
    reply(persona: string, reply: Reply) {
      if (persona !== own) return null;
      sent.push([persona, reply]);
      return run();
    },
  }));
  return {
    lines,
    sent,
    reply: (persona: string, reply = REPLY) => sendReply({ watchers, log }, persona, reply, never),
  };
}

test('reply: it is sent once by whoever has the persona, and the log has who, how long and what came of it, and no text', async () => {
  const result: ReplyResult = { is: 'stored', says: 'stored, not delivered' };
  const fault = new Fault('refused', 'nobody listens', { is: 'machine', key: 'x' });
  const rig = createRig({ ada: async () => result, bo: () => Promise.reject(fault) });
  assert.equal(await rig.reply('ada'), result);
  await assert.rejects(rig.reply('bo', { ...REPLY, message: 'gc-7' }), (error) => error === fault);
  assert.deepEqual(rig.sent, [
    ['ada', REPLY],
    ['bo', { ...REPLY, message: 'gc-7' }],
  ]);
  assert.deepEqual(rig.lines, [
    'reply of a person to ada: 8 characters',
    'reply of a person to ada: stored: stored, not delivered',
    'reply of a person to bo: 8 characters, to gc-7',
    'reply of a person to bo: not sent: nobody listens',
  ]);
});

test('reply: where nobody sends one, the setting is named that would allow it', async () => {
  const { reply, lines } = createRig({});
  const refuses = async (persona: string, text: RegExp) =>
    await assert.rejects(
      reply(persona),
      (error) => error instanceof Fault && error.code === 'usage' && text.test(error.message),
    );
  await refuses('claude-0123abcd', /add "actions": true to the setting claude,/);
  await refuses('claude-main', /^no reply is sent to claude-main: its inbox system/);
  for (const name of ['gas', 'amail', 'agmsg', 'amq'])
    await refuses(
      `${name}-x`,
      new RegExp(`^no reply is sent to ${name}-x: add "actions": true to the setting ${name},`),
    );
  await refuses('ada', /^no reply is sent to ada: its inbox system has no way .*hivebar send/);
  await refuses('garden-x', /^no reply is sent to garden-x: its inbox system has no way/);
  assert.deepEqual(lines, []);
});
