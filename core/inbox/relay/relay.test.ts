import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_NATS_SERVER } from '../../../test/kit/nats-server.ts';
import {
  count,
  deleteDurables,
  deleteStream,
  published,
  rows,
  untilAcked,
  withClient,
} from '../../../test/kit/relay-queries.ts';
import { relayRig } from '../../../test/kit/relay-rig.ts';
import { needs } from '../../../test/kit/require.ts';
import { until } from '../../../test/kit/until.ts';
import { Fault } from '../../model/index.ts';

const EVERYONE = { is: 'everyone' } as const;
const to = (name: string) => ({ is: 'persona', name }) as const;

describe('two machines and a server', { concurrency: 4 }, () => {
  test('what is pushed on one is on the other, once, direct and for everybody, in both directions', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', ['ada']);
    const b = rig.machine('b', ['bo']);
    a.relay();
    b.relay();
    await Promise.all([a.says('ok'), b.says('ok')]);
    a.push({ to: to('bo'), content: 'to bo', dedupKey: 'k1', priority: 0, session: 's1' });
    b.push({ to: to('ada'), content: 'to ada' });
    b.push({ to: EVERYONE, content: 'to all', type: 'system' });
    await b.has('bo', 2);
    await a.has('ada', 2);
    const direct = b.all('bo').find((item) => !item.isBroadcast);
    assert.deepEqual(
      [direct?.content, direct?.dedupKey, direct?.priority, direct?.session, direct?.isBroadcast],
      ['to bo', 'k1', 0, 's1', false],
    );
    assert.deepEqual(a.texts('ada'), ['to ada', 'to all']);
    assert.ok(a.all('ada').some((item) => item.isBroadcast));
    // What came by the stream is not published again, so nothing goes round.
    await b.has('bo', 2);
    assert.equal(rows(a.db), 3);
    assert.equal(rows(b.db), 3);
  });

  test('bad input 8: a persona of any name is reached, and no other', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const names = [
      'Ada Lovelace',
      'ada',
      'Ada',
      'a.b.c',
      '*',
      '>',
      'x/../y',
      'Jos\u00e9 \u{1f41d}',
      '\u{1f41d}'.repeat(200),
    ];
    const a = rig.machine('a', []);
    const b = rig.machine('b', names);
    a.relay();
    b.relay();
    await Promise.all([a.says('ok'), b.says('ok')]);
    a.push(...names.map((name) => ({ to: to(name), content: name })), { to: to('nobody there') });
    for (const name of names) await b.has(name, 1);
    for (const name of names) assert.deepEqual(b.texts(name), [name]);
    assert.equal(rows(b.db), names.length);
  });

  test('bad input 7: 1,000 messages while the server is away arrive when it is back, each once, both ways; killed in the middle', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', ['ada']);
    const b = rig.machine('b', ['bo']);
    a.relay();
    b.relay();
    await Promise.all([a.says('ok'), b.says('ok')]);
    await rig.server.kill();
    const batch = (name: string, from: number) =>
      Array.from({ length: 250 }, (_, n) => ({ to: to(name), content: `${from + n}` }));
    for (const from of [0, 250, 500, 750]) {
      a.push(...batch('bo', from));
      b.push(...batch('ada', from));
    }
    await rig.restart();
    await b.has('bo', 100);
    await rig.restart(); // killed while it delivers
    await b.has('bo', 1000);
    await a.has('ada', 1000);
    const wanted = Array.from({ length: 1000 }, (_, n) => n);
    assert.deepEqual(
      b
        .texts('bo')
        .map(Number)
        .sort((x, y) => x - y),
      wanted,
    );
    assert.deepEqual(
      a
        .texts('ada')
        .map(Number)
        .sort((x, y) => x - y),
      wanted,
    );
  });

  test('the same key from both sides is one item on both', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', ['ada']);
    const b = rig.machine('b', ['ada']);
    a.push({ content: 'first', dedupKey: 'decision:7' });
    b.push({ content: 'second', dedupKey: 'decision:7' });
    a.relay();
    b.relay();
    await Promise.all([a.says('ok'), b.says('ok')]);
    a.push({ content: 'after', dedupKey: 'x' });
    await b.has('ada', 2);
    assert.deepEqual(
      [a.texts('ada'), b.texts('ada')],
      [
        ['first', 'after'],
        ['second', 'after'],
      ],
    );
  });

  test('inbox-gates 8.10a: two machines with the same persona both get every message', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const [a, b, c] = [rig.machine('a', []), rig.machine('b', ['ada']), rig.machine('c', ['ada'])] as const;
    for (const each of [a, b, c]) each.relay();
    await Promise.all([a, b, c].map((each) => each.says('ok')));
    a.push(...Array.from({ length: 40 }, (_, n) => ({ content: String(n) })));
    await Promise.all([b.has('ada', 40), c.has('ada', 40)]);
  });

  test('inbox-gates 8.1: what was published before a machine first came is reconciled into it, and stays pending there', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', []);
    a.relay();
    await a.says('ok');
    a.push({ content: 'before' }, { to: EVERYONE, content: 'before, to all' }, { content: 'urgent', priority: 0 });
    await until('the stream has them', () => published(a.db) === 3);
    const b = rig.machine('b', ['ada']);
    b.relay();
    await b.has('ada', 3);
    assert.deepEqual(b.items.pending('ada', null), [1, 0, 2, 0, 0]);
  });

  test('a durable that somebody deleted loses nothing: the stream is read from where we were', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', []);
    const first = rig.machine('b', ['ada']);
    a.relay();
    first.relay();
    await Promise.all([a.says('ok'), first.says('ok')]);
    a.push({ content: 'one' });
    await first.has('ada', 1);
    await first.relay()[Symbol.asyncDispose]();
    await deleteDurables(rig.server.url);
    a.push({ content: 'two' }, { content: 'three' });
    await until('the stream has them', () => published(a.db) === 3);
    const second = rig.machine('b', ['ada']);
    second.relay();
    await second.has('ada', 3);
    assert.deepEqual(second.texts('ada'), ['one', 'two', 'three']);
  });

  test('seed 17: what was delivered and stored before a kill, and not acknowledged, is neither lost nor stored twice', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', []);
    const first = rig.machine('b', ['ada'], {
      // As a kill between the commit and the acknowledgement: stored, and the message comes again.
      items: (items) => ({
        push(batch) {
          items.push(batch.slice(0, 3));
          throw new Fault('database', 'killed', { is: 'machine', key: 'database' });
        },
      }),
    });
    a.relay();
    first.relay();
    await Promise.all([a.says('ok'), first.says('ok')]);
    a.push(...Array.from({ length: 5 }, (_, n) => ({ content: String(n) })));
    await first.says('database');
    await first.relay()[Symbol.asyncDispose]();
    const second = rig.machine('b', ['ada']);
    second.relay();
    await second.has('ada', 5); // at once, and not after the ack wait
    await untilAcked(rig.server.url);
    assert.deepEqual(second.texts('ada').toSorted(), ['0', '1', '2', '3', '4']);
  });

  test('marks that are lost publish again what the stream has, and nobody has it twice', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', []);
    const b = rig.machine('b', ['ada']);
    a.relay();
    b.relay();
    await Promise.all([a.says('ok'), b.says('ok')]);
    a.push({ content: 'one' }, { content: 'two' });
    await b.has('ada', 2);
    await a.relay()[Symbol.asyncDispose]();
    a.db.exec('UPDATE relay SET published = 0');
    const again = rig.machine('a', []);
    again.relay();
    await again.says('ok');
    again.push({ content: 'three' });
    await b.has('ada', 3);
    assert.deepEqual(b.texts('ada'), ['one', 'two', 'three']);
    await withClient(rig.server.url, async ({ jsm }) => {
      assert.equal((await jsm.streams.info('INBOX_EVENTS')).state.messages, 3);
    });
  });

  test('what came by the stream is not published again by whom it came to, nor is what has expired', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', ['ada']);
    const b = rig.machine('b', ['ada']);
    a.relay();
    b.relay();
    await Promise.all([a.says('ok'), b.says('ok')]);
    a.push({ content: 'of a' }, { content: 'over', expires: Date.now() - 1, dedupKey: 'over' });
    await b.has('ada', 1);
    b.push({ content: 'of b' });
    await a.has('ada', 3);
    await until('both have passed all of it', () => published(a.db) === 3 && published(b.db) === 2);
    await withClient(rig.server.url, async ({ jsm }) => {
      assert.equal((await jsm.streams.info('INBOX_EVENTS')).state.messages, 2);
    });
    assert.deepEqual([a.sent.length, b.sent.length], [1, 1], 'else a message would go round for ever');
    for (const { db } of [a, b]) assert.equal(count(db, 'relay_came'), 0, 'what was passed is forgotten');
  });

  test('after a sleep it connects anew, at once', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig({ config: 'debug: true' });
    const a = rig.machine('a', []);
    const relay = a.relay();
    await a.says('ok');
    const connections = (): number => rig.server.log().split('Client connection created').length - 1;
    const before = connections();
    relay.wake();
    await until('it connected again', () => connections() > before);
    a.push({ content: 'after' });
    await until('it is published', () => published(a.db) === 1);
    assert.deepEqual(a.reported, ['ok']);
  });

  test('seed 18: a server that lost its store is told again what was pushed lately', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', []);
    a.relay();
    await a.says('ok');
    const long = Date.now() - 3 * 86_400_000;
    a.push({ content: 'long ago', created: long }, { content: 'lately' }, { content: 'late', created: long });
    await until('the stream has them', () => published(a.db) === 3);
    await deleteStream(rig.server.url);
    await rig.restart();
    const b = rig.machine('b', ['ada']);
    b.relay();
    await b.has('ada', 2);
    assert.deepEqual(b.texts('ada').toSorted(), ['late', 'lately']);
  });
});
