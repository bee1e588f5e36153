import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import type { Channel, Notification, NotificationKey } from './channel.ts';
import { ChannelQueue } from './queue.ts';

const ALL: Channel['can'] = { replace: true, withdraw: true, buttons: 3 };

function buildNotification(key: NotificationKey): Notification {
  const action = { name: 'open', params: {} };
  return {
    key,
    is: 'mail',
    title: key,
    body: '',
    urgency: 'normal',
    opens: { is: 'overview' },
    buttons: [
      { id: 'open', label: 'Open', action },
      { id: 'read', label: 'Read', action },
    ],
  };
}

/** A channel that notes its calls. `answer` decides what a `send` comes to. */
function createRig(can: Channel['can'] = ALL, answer: (key: NotificationKey) => Promise<void> = async () => {}) {
  const clock: FakeClock = fakeClock();
  const calls: string[] = [];
  const channel: Channel = {
    name: 'rig',
    can,
    send: async ({ key, buttons }) => {
      calls.push(`send ${key} ${buttons.length}`);
      await answer(key);
    },
    withdraw: async (key) => void calls.push(`withdraw ${key}`),
  };
  return { clock, calls, queue: new ChannelQueue(channel, clock) };
}

test('given a channel that can do little, then it is asked for no more', async () => {
  const none = createRig({ replace: false, withdraw: false, buttons: 0 });
  await none.queue.send(buildNotification('mail:ada'));
  await none.queue.send(buildNotification('mail:ada'));
  await none.queue.withdraw('mail:ada');
  assert.deepEqual(none.calls, ['send mail:ada 0', 'send mail:ada 0']);
  const withdraws = createRig({ replace: false, withdraw: true, buttons: 1 });
  await withdraws.queue.send(buildNotification('mail:ada'));
  assert.deepEqual(withdraws.calls, ['withdraw mail:ada', 'send mail:ada 1']);
});

test('given a slow notification, when its withdrawal follows, then the withdrawal waits, and other keys do not', async () => {
  const gate = Promise.withResolvers<void>();
  const { queue, calls } = createRig(ALL, (key) => (key === 'mail:ada' ? gate.promise : Promise.resolve()));
  const sent = queue.send(buildNotification('mail:ada'));
  const withdrawn = queue.withdraw('mail:ada');
  await queue.send(buildNotification('mail:bo'));
  assert.deepEqual(calls, ['send mail:ada 2', 'send mail:bo 2']);
  gate.resolve();
  await Promise.all([sent, withdrawn, queue.whenIdle()]);
  assert.deepEqual(calls.slice(2), ['withdraw mail:ada']);
});

test('given a channel that never answers, then its call is refused after 10 s with its signal aborted, and so is all that waits', async () => {
  const { queue, clock, calls } = createRig(ALL, () => new Promise(() => {}));
  const results = Array.from({ length: 100 }, (_, i) => queue.send(buildNotification(`mail:p${i}`)));
  const ended = Promise.allSettled(results);
  await clock.advance(9_999);
  assert.equal(calls.length, 8, 'so many at once');
  await clock.advance(2);
  const reasons = (await ended).map((result) => (result.status === 'rejected' ? String(result.reason) : 'accepted'));
  assert.deepEqual([...new Set(reasons)], ['Error: the rig did not answer within 10 s']);
  assert.equal(calls.length, 8, 'the others were never asked');
  assert.equal(clock.waiting, 0);
});

test('given more than a thousand calls that wait, then the next is refused at once', async () => {
  const { queue } = createRig(ALL, () => new Promise(() => {}));
  for (let i = 0; i < 1008; i += 1) void queue.send(buildNotification(`mail:p${i}`)).catch(() => {}); // never answered
  await assert.rejects(queue.send(buildNotification('mail:last')), /1000 notifications are waiting already/);
});
