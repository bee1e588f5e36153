import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_NATS_SERVER } from '../../../test/kit/nats-server.ts';
import { withClient } from '../../../test/kit/relay-queries.ts';
import { relayRig } from '../../../test/kit/relay-rig.ts';
import { needs } from '../../../test/kit/require.ts';

test('seed 16: a machine has the same durables after a restart: explicit acknowledgement within 30 s, new messages only', async (t) => {
  if (needs(t, NO_NATS_SERVER)) return;
  await using rig = await relayRig();
  const consumers = (): Promise<readonly string[]> =>
    withClient(rig.server.url, async ({ jsm }) => {
      const found: string[] = [];
      for await (const { name, config } of jsm.consumers.list('INBOX_EVENTS')) {
        const { durable_name: durable, ack_policy: ack, deliver_policy: deliver, ack_wait: wait } = config;
        assert.equal(name, durable);
        assert.deepEqual([ack, deliver, wait], ['explicit', 'new', 30e9], name);
        found.push(name);
      }
      return found.toSorted();
    });
  const comes = async (): Promise<void> => {
    await using machine = rig.machine('a', ['ada', 'bo']);
    machine.relay();
    await machine.says('ok');
  };
  await comes();
  const before = await consumers();
  assert.notEqual(before.length, 0);
  await comes();
  assert.deepEqual(await consumers(), before);
});
