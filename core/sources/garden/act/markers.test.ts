import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { EXPECTED_V3, findCitizenId, garden, handAt } from '../../../../test/kit/garden-store.ts';
import { type ProcessReader, readProcesses, readReceiver, readSenders } from '../read/index.ts';
import { type ReceiverMarkerInput, writeReceiver, writeSender } from './markers.ts';

const ID = findCitizenId('cc-enqueued');
const ARMING: ReceiverMarkerInput = {
  ...{ gardenId: ID, backend: 'claude-code', nativeSessionId: 'n', ownerPid: process.pid },
  armProvenance: 'session-start',
};
const SENDING = { gardenId: ID, backend: 'antigravity', nativeSessionId: 'n', ownerPid: process.pid, cwd: '/c' };
const createReader =
  (key: string): ProcessReader =>
  async (pids) =>
    new Map(pids.map((pid) => [pid, { is: 'running', startKey: key }]));

describe('a marker that is written', () => {
  test('has the bytes of the data, is private, and is read again', async () => {
    using store = garden();
    const path = await writeReceiver(handAt(), store.places, createReader('linux:42'), ARMING);
    assert.equal(path, join(store.places.receivers, `${ID}.json`));
    const owner = `  "ownerPid": ${process.pid},\n  "ownerStartKey": "linux:42",\n`;
    const time = '"updatedAt": "2026-06-14T06:00:00.000Z"\n}\n';
    assert.equal(
      readFileSync(path, 'utf8'),
      `{\n  "gardenId": "${ID}",\n  "backend": "claude-code",\n  "nativeSessionId": "n",\n${owner}` +
        `  "ownerKind": "claude-code-cli",\n  "armProvenance": "session-start",\n  ${time}`,
    );
    const sender = await writeSender(handAt(), store.places, createReader('linux:42'), SENDING);
    assert.equal(sender, join(store.places.senders, 'antigravity', `${process.pid}.json`));
    assert.equal(
      readFileSync(sender, 'utf8'),
      `{\n  "backend": "antigravity",\n  "gardenId": "${ID}",\n  "nativeSessionId": "n",\n  "cwd": "/c",\n${owner}  ${time}`,
    );
    const { disk } = handAt();
    assert.equal(readReceiver(disk, store.places.receivers, ID).is, 'marker');
    assert.deepEqual(readSenders(disk, store.places.senders).errors, []);
    assert.match(String(store.tree()[`meta-receivers/${ID}.json`]), /^100600 /);
  });

  test('keeps the order of keys that the data has', () => {
    using store = garden('store');
    const keys = (path: string): readonly string[] =>
      Object.keys(JSON.parse(readFileSync(join(store.store, path), 'utf8')) as object);
    assert.deepEqual(keys(`meta-receivers/${findCitizenId('cc-delivered')}.json`), [
      ...[
        'gardenId',
        'backend',
        'nativeSessionId',
        'ownerPid',
        'ownerStartKey',
        'ownerKind',
        'armProvenance',
        'updatedAt',
      ],
    ]);
    assert.deepEqual(keys('meta-senders/claude-code/4194305.json'), [
      ...['backend', 'gardenId', 'nativeSessionId', 'cwd', 'ownerPid', 'ownerStartKey', 'updatedAt'],
    ]);
  });

  test('has the start of the process that owns it', async () => {
    using store = garden();
    await writeReceiver(handAt(), store.places, readProcesses, ARMING);
    const read = readReceiver(handAt().disk, store.places.receivers, ID);
    const state = (await readProcesses([process.pid])).get(process.pid);
    assert.ok(read.is === 'marker' && state?.is === 'running');
    assert.equal(read.marker.ownerStartKey, state.startKey);
  });
});

describe('no marker is written', () => {
  test('for process 1, which adopts orphans and owns none', async () => {
    using store = garden();
    for (const ownerPid of [1, 0, -4]) {
      await assert.rejects(
        writeReceiver(handAt(), store.places, createReader('linux:1'), { ...ARMING, ownerPid }),
        (error) => {
          assert.ok(error instanceof Error);
          if (ownerPid === 1)
            assert.ok(EXPECTED_V3.pid1Marker.error.startsWith(`Error: ${error.message}`), error.message);
          return true;
        },
      );
    }
    assert.deepEqual(readdirSync(store.store), []);
  });

  const bad: readonly (readonly [string, Partial<ReceiverMarkerInput>, RegExp])[] = [
    ['a process that is gone', { ownerPid: 4194305 }, /owner pid 4194305: no such process/],
    ['a process that cannot be', { ownerPid: 2 ** 40 }, /no such process/],
    ['pi, which has a socket', { backend: 'pi' }, /must be one of claude-code \| antigravity \| codex/],
    ['a garden id that leads elsewhere', { gardenId: '../x' }, /"gardenId" must match/],
    ['an event that cannot wake', { armProvenance: 'user-prompt-submit' }, /"armProvenance" must be one of/],
    ['no session', { nativeSessionId: '' }, /"nativeSessionId" must be/],
  ];
  for (const [label, given, why] of bad) {
    test(`for ${label}`, async () => {
      using store = garden();
      const written = writeReceiver(handAt(), store.places, readProcesses, { ...ARMING, ...given });
      await assert.rejects(written, { code: 'garden', message: why });
      assert.deepEqual(readdirSync(store.store), []);
    });
  }
});
