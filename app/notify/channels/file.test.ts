import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { realClock, realSpawn, silentLog } from '../../../core/ports/index.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import type { Channel, Notification } from './channel.ts';
import { CHANNELS, createChannelsSchema, listConfiguredChannels } from './registry.ts';

const NOTIFICATION: Notification = {
  key: 'mail:ada',
  is: 'mail',
  title: 'ada: 1 new',
  body: 'bob: hi\n',
  urgency: 'normal',
  opens: { is: 'persona', persona: 'ada' },
  buttons: [],
};
const never = new AbortController().signal;

function openFile(path: string): Channel {
  const host = {
    ...{ clock: realClock, spawn: realSpawn, log: silentLog, disk: createRealDisk(silentLog) },
    openDesktop: () => {
      throw new Error('no desktop here');
    },
  };
  const configured = listConfiguredChannels({ file: { path } }, host).find(({ name }) => name === 'file');
  assert.ok(configured !== undefined);
  return configured.open({ clicked: () => {}, closed: () => {}, state: () => {} });
}

function makeFolder(t: TestContext): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hivebar-file-channel-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

test('each notification and each withdrawal is one line of JSON in a private file', async (t) => {
  const path = join(makeFolder(t), 'new', 'notifications.ndjson');
  const channel = openFile(path);
  await channel.send(NOTIFICATION, never);
  await channel.withdraw?.('mail:ada', never);
  const lines = fs.readFileSync(path, 'utf8').split('\n');
  assert.deepEqual(
    lines.slice(0, -1).map((line) => JSON.parse(line)),
    [
      { is: 'notification', notification: NOTIFICATION },
      { is: 'withdrawn', key: 'mail:ada' },
    ],
  );
  if (process.platform !== 'win32') assert.equal(fs.statSync(path).mode & 0o777, 0o600);
});

test('a file that cannot be written refuses, and says why', async (t) => {
  const folder = makeFolder(t);
  await assert.rejects(openFile(folder).send(NOTIFICATION, never), /.+/);
  await assert.rejects(openFile('notes.ndjson').send(NOTIFICATION, never), /notes.ndjson is not an absolute path/);
});

test('the setting has one entry per channel that has settings, and a channel without its entry is off', () => {
  const { properties } = createChannelsSchema() as { readonly properties: object };
  const withSettings = CHANNELS.filter(({ settings }) => settings !== null).map(({ name }) => name);
  assert.deepEqual(Object.keys(properties), withSettings);
  const host = { clock: realClock, spawn: realSpawn, log: silentLog, disk: createRealDisk(silentLog) };
  const names = (settings: Readonly<Record<string, unknown>>): readonly string[] =>
    listConfiguredChannels(settings, { ...host, openDesktop: () => assert.fail() }).map(({ name }) => name);
  assert.deepEqual(names({}), ['desktop']);
  assert.deepEqual(names({ file: { path: '/tmp/a' } }), ['desktop', 'file']);
});
