import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { exactly, formatIso } from '../model/index.ts';
import { silentLog } from '../ports/index.ts';
import { openDatabase } from '../state/index.ts';
import { type LocalHive, type NewItem, openLocalHive } from './index.ts';

const going = new AbortController().signal;

function rig() {
  const clock = fakeClock();
  const db = openDatabase(':memory:');
  const hive = openLocalHive({ db, clock, log: silentLog, contentChars: 220 });
  return { clock, db, hive };
}

const mail = (to: string, content = 'hello', urgent = false, from = 'zoe') => ({ to, from, content, urgent });

function count(hive: LocalHive, persona: string): readonly unknown[] {
  const { unread, urgent } = hive.window(persona, null, going);
  return [unread, urgent];
}

test('mail that was marked as read by mistake is unread again, for counts and hooks', () => {
  const { hive } = rig();
  hive.sendNow(mail('ada', 'now', true));
  hive.sendNow(mail('ada'));
  const lease = hive.items.lease({ persona: 'ada', session: null, upTo: 4, most: 9, forMs: 1000 });
  hive.items.markDelivered(lease, [1]);
  hive.markRead('ada', [2]);
  assert.deepEqual(count(hive, 'ada'), [exactly(0), exactly(0)]);

  assert.equal(hive.markUnread('ada', [1, 1, 2, 99]), 2);
  assert.deepEqual(count(hive, 'ada'), [exactly(2), exactly(1)]);
  assert.deepEqual(
    hive.items.lease({ persona: 'ada', session: null, upTo: 4, most: 9, forMs: 1000 }).items.map(({ id }) => id),
    [1, 2],
    'a hook shows it once more',
  );
  assert.equal(hive.markUnread('bo', [1]), 0, 'it is mail of ada');
});

test('mail to oneself and expired mail are not marked as unread', async () => {
  const { hive, clock } = rig();
  hive.sendNow(mail('ada', 'note', false, 'Ada'));
  const item: NewItem = {
    ...{ to: { is: 'persona', name: 'ada' }, type: 'event', source: 'ci', content: 'built', priority: 2 },
    ...{ session: null, created: clock.now(), expires: clock.now() + 1000, dedupKey: null },
  };
  hive.items.push([item]);
  hive.markRead('ada', 'all');
  await clock.advance(2000);
  assert.equal(hive.markUnread('ada', [1, 2]), 0);
  assert.deepEqual(count(hive, 'ada'), [exactly(0), exactly(0)]);
});

test('a deleted message is gone, and no id is used again', () => {
  const { hive } = rig();
  for (const content of ['one', 'two', 'three']) hive.sendNow(mail('ada', content, content === 'two'));
  hive.markRead('ada', [1]);
  const heard: string[] = [];
  hive.hints((name) => heard.push(name));
  assert.equal(hive.remove('ada', [1, 2, 99]), 2);
  assert.deepEqual(heard, ['ada']);
  assert.deepEqual(count(hive, 'ada'), [exactly(1), exactly(0)]);
  assert.deepEqual(
    hive.list('ada', 9).map(({ id }) => id),
    [3],
  );
  assert.equal(hive.remove('ada', [3]), 1);
  assert.equal(hive.sendNow(mail('ada')).id, 4);
  assert.equal(hive.remove('ada', [1]), 0);
});

test('a broadcast is deleted and marked in one inbox only', () => {
  const { hive, clock } = rig();
  for (const name of ['ada', 'bo']) hive.sendNow(mail(name));
  hive.markRead('ada', 'all');
  const item: NewItem = {
    ...{ to: { is: 'everyone' }, type: 'alert', source: 'ci', content: 'main is red', priority: 0 },
    ...{ session: null, created: clock.now(), expires: null, dedupKey: null },
  };
  const [pushed] = hive.items.push([item]);
  const id = pushed?.id ?? 0;
  hive.markRead('ada', [id]);
  assert.equal(hive.markUnread('ada', [id]), 1);
  assert.deepEqual(count(hive, 'ada'), [exactly(1), exactly(1)]);
  assert.equal(hive.remove('ada', [id]), 1);
  assert.deepEqual(count(hive, 'ada'), [exactly(0), exactly(0)]);
  assert.equal(hive.show('bo', id)?.content, 'main is red');
});

test('all messages can be looked through, newest first, and looking marks nothing', () => {
  const { hive } = rig();
  for (let n = 1; n <= 120; n += 1) hive.sendNow(mail('ada', `message ${n}`, n === 3));
  hive.sendNow(mail('bo'));
  const all = [...hive.older('ada', null)];
  assert.deepEqual(
    all.map(({ id }) => id),
    Array.from({ length: 120 }, (_, n) => 120 - n),
  );
  assert.deepEqual(
    [...hive.older('ada', 4)].map(({ content, urgent, priority }) => [content, urgent, priority]),
    [
      ['message 3', true, 1],
      ['message 2', false, 2],
      ['message 1', false, 2],
    ],
  );
  assert.deepEqual(all[0], {
    ...{ id: 120, from: 'zoe', to: 'ada', content: 'message 120', created: formatIso(1_750_000_000_000) },
    ...{ type: 'mail', priority: 2, urgent: false, read: false, answers: null, replies: [] },
  });
  assert.deepEqual(count(hive, 'ada'), [exactly(120), exactly(1)]);
});

test('damaged mail is listed without its text', () => {
  const { hive, db } = rig();
  hive.sendNow(mail('ada', 'pay 10'));
  db.exec("UPDATE inbox SET content = 'pay 99'");
  const [message] = hive.older('ada', null);
  assert.match(message?.content ?? '', /damaged/);
  assert.equal(message?.from, '(damaged)');
});
