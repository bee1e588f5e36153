import assert from 'node:assert/strict';
import { chmodSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ClaudeStore, claudeStore } from '../../../test/kit/claude-store.ts';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { sessionSocket } from '../../../test/kit/session-socket.ts';
import { Fault } from '../../model/index.ts';
import { type Files, realFiles, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { createSessionReply, formatFrame } from './reply.ts';
import { createSendToSession } from './send-to-session.node.ts';
import { createClaudeSource } from './source.ts';

const never = new AbortController().signal;
const ADA = 'aaaaaaaa';
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** Sends as the tray process does, to whatever the files of the store name. */
function createRig(store: ClaudeStore, more: { readonly uid?: number; readonly files?: Files } = {}) {
  const disk = createRealDisk(silentLog);
  const send = createSendToSession(more.files ?? realFiles, more.uid ?? disk.uid);
  const replyToSession = createSessionReply({ readProcess: store.readProcess, send });
  const source = createClaudeSource({
    ...{
      directories: [store.root],
      readProcess: store.readProcess,
      disk,
      clock: fakeClock(Date.now()),
      log: silentLog,
    },
    ...{ contentChars: 220, statOnly: true, replyToSession },
  });
  return {
    source,
    async reply(text: string, address = ADA, message: string | null = null) {
      await source.personas(never);
      assert.ok(source.reply !== undefined);
      return await source.reply(source.named(address), { text, message, subject: null }, never);
    },
    [Symbol.asyncDispose]: async () => await source[Symbol.asyncDispose](),
  };
}

const isFault = (code: string, text: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === code && text.test(error.message);

test('claude reply: one line of JSON with the text as it was typed, then the end; it is sent, not confirmed', async () => {
  await using socket = await sessionSocket();
  using store = claudeStore();
  const session = store.addSession(ADA, { status: 'idle', messagingSocketPath: socket.path });
  await using rig = createRig(store);
  const text = '  use the "other" branch\n\n--force \u2028 $(rm) ✓';
  assert.deepEqual(await rig.reply(text), {
    is: 'handed-over',
    says: 'sent, not confirmed: a session acknowledges nothing, and may hold or refuse it',
  });
  assert.deepEqual([socket.count, socket.received.length], [1, 1]);
  const [line = ''] = socket.received;
  assert.deepEqual([line.at(-1), line.split('\n').length], ['\n', 2]);
  const { msg_id: id, ...frame } = JSON.parse(line);
  assert.match(id, UUID);
  assert.deepEqual(frame, {
    ...{ msgV: 1, type: 'user', priority: 'next', from: 'hivebar' },
    message: { role: 'user', content: text },
  });
  session.set({ status: 'waiting', waitingFor: 'permission prompt' });
  assert.match((await rig.reply('yes')).says, /It waits \("permission prompt"\), which a reply does not answer/);
  const ids = socket.received.map((each) => JSON.parse(each).msg_id);
  assert.equal(new Set(ids).size, 2, 'each has an id of its own');
});

test('claude reply: a session that leaves the connection open has the line all the same', async () => {
  await using socket = await sessionSocket(false);
  using store = claudeStore();
  store.addSession(ADA, { messagingSocketPath: socket.path });
  await using rig = createRig(store);
  assert.equal((await rig.reply('hi')).is, 'handed-over');
  assert.equal(socket.received.length, 1);
});

test('claude reply: without a socket, or with an unknown protocol, it says why and what to do, and connects nowhere', async () => {
  await using socket = await sessionSocket();
  using store = claudeStore();
  const session = store.addSession(ADA);
  await using rig = createRig(store);
  const open = /hivebar open claude-aaaaaaaa shows it, to type there$/;
  const isUsage = (text: RegExp) => (error: unknown) => isFault('usage', open)(error) && isFault('usage', text)(error);
  await assert.rejects(
    rig.reply('hi'),
    isUsage(/^claude-aaaaaaaa \(Claude Code 2\.1\.197\) has no socket .*2\.1\.224/),
  );
  for (const protocol of [2, '1', null, undefined]) {
    session.set({ messagingSocketPath: socket.path, peerProtocol: protocol });
    await assert.rejects(
      rig.reply('hi'),
      isFault('schema', /speaks protocol (?:2|none) at its socket, and 1 is known/),
    );
  }
  session.set({ messagingSocketPath: '4711.sock', peerProtocol: 1 });
  await assert.rejects(rig.reply('hi'), isUsage(/no absolute path/));
  assert.equal(socket.count, 0);
});

test('claude reply: a session that ended, a member of a team and a reply to one message are refused', async () => {
  await using socket = await sessionSocket();
  using store = claudeStore();
  const session = store.addSession(ADA, { status: 'idle', messagingSocketPath: socket.path });
  store.addTeam(ADA, ['bo']);
  await using rig = createRig(store);
  await assert.rejects(rig.reply('hi', `${ADA}-bo`), isFault('usage', /member of a team and has no socket/));
  await assert.rejects(rig.reply('hi', ADA, '7'), isFault('usage', /no reply to one message: leave 7 out/));
  await assert.rejects(rig.reply('hi', 'bbbbbbbb'), isFault('usage', /no session behind claude-bbbbbbbb/));
  session.kill();
  await assert.rejects(rig.reply('hi'), isFault('usage', /ended: hivebar open claude-aaaaaaaa resumes its session/));
  assert.equal(socket.count, 0);
});

test('claude reply: the socket is one of this user that nobody else can replace', {
  skip: process.platform === 'win32',
}, async () => {
  await using socket = await sessionSocket();
  using store = claudeStore();
  const session = store.addSession(ADA, { messagingSocketPath: socket.path });
  await using rig = createRig(store);
  const refuses = async (code: string, text: RegExp) => await assert.rejects(rig.reply('hi'), isFault(code, text));
  chmodSync(socket.folder, 0o777);
  await refuses('usage', /others can replace .*4711\.sock/);
  chmodSync(socket.folder, 0o700);
  const file = join(socket.folder, 'file');
  writeFileSync(file, '');
  const link = join(socket.folder, 'link');
  symlinkSync(socket.path, link);
  for (const path of [file, link]) {
    session.set({ messagingSocketPath: path });
    await refuses('usage', /is no socket, so nothing is sent to it/);
  }
  session.set({ messagingSocketPath: join(socket.folder, 'gone') });
  await refuses('refused', /is gone, so the session cannot be reached/);
  session.set({ messagingSocketPath: socket.path });
  await using foreign = createRig(store, { uid: (process.getuid?.() ?? 0) + 1 });
  await assert.rejects(foreign.reply('hi'), isFault('usage', /belongs to another user/));
  assert.equal(socket.count, 0);
});

test('claude reply: a socket that a dead session left behind is said to be that', async () => {
  using store = claudeStore();
  let path: string;
  {
    await using socket = await sessionSocket();
    path = `${store.at('left.sock')}`;
    renameSync(socket.path, path);
  }
  store.addSession(ADA, { messagingSocketPath: path });
  await using rig = createRig(store);
  await assert.rejects(rig.reply('hi'), isFault('refused', /nobody listens there any more/));
});

test('claude reply: a frame over the limit of a session is not sent, and without the setting there is no way to reply', async () => {
  assert.throws(() => formatFrame('id', '\u0001'.repeat(200_000)), isFault('usage', /too long.*1000000 bytes/));
  assert.ok(formatFrame('id', '\u0001'.repeat(100_000)).length < 1_000_000, 'what an action takes at most fits');
  using store = claudeStore();
  const disk = createRealDisk(silentLog);
  await using source = createClaudeSource({
    ...{
      directories: [store.root],
      readProcess: store.readProcess,
      disk,
      clock: fakeClock(Date.now()),
      log: silentLog,
    },
    ...{ contentChars: 220, statOnly: true },
  });
  assert.equal(source.reply, undefined);
});
