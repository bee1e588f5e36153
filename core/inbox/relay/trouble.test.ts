import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_NATS_SERVER } from '../../../test/kit/nats-server.ts';
import { published, untilAcked, withClient } from '../../../test/kit/relay-queries.ts';
import { relayRig } from '../../../test/kit/relay-rig.ts';
import { needs } from '../../../test/kit/require.ts';
import { until } from '../../../test/kit/until.ts';
import { Fault } from '../../model/index.ts';

describe('what fails', { concurrency: 2 }, () => {
  test('what is no item is dropped and acknowledged, and said once; the rest of its batch is kept', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const good = JSON.stringify({ type: 'event', source: 'ci', content: 'good', priority: 1 });
    const nameless = JSON.stringify({
      type: 'event',
      source: 'x'.repeat(500),
      content: 'the store refuses its source',
    });
    const publish = () =>
      withClient(rig.server.url, async ({ js }) => {
        for (const data of ['{', '[]', nameless, good, '{"type":"nudge"}']) await js.publish('inbox.agent.ada', data);
      });
    const a = rig.machine('a', []);
    a.relay();
    await a.says('ok');
    await publish();
    const b = rig.machine('b', ['ada']);
    b.relay();
    await b.says('ok');
    await publish();
    await b.has('ada', 2);
    assert.deepEqual(b.texts('ada'), ['good', 'good']);
    await untilAcked(rig.server.url);
    assert.equal(b.warnings.filter((line) => line.includes('is not a valid item')).length, 1);
    assert.deepEqual(b.reported, ['ok']);
  });

  test('seed 17: a store that fails loses nothing: nothing is acknowledged before it is stored', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', []);
    let isFull = true;
    const b = rig.machine('b', ['ada'], {
      items: (items) => ({
        push(batch) {
          if (isFull) throw new Fault('no-space', 'no space left', { is: 'machine', key: 'database' });
          return items.push(batch);
        },
      }),
    });
    a.relay();
    b.relay();
    await Promise.all([a.says('ok'), b.says('ok')]);
    a.push({ content: 'kept' });
    await b.says('no-space');
    isFull = false;
    await b.has('ada', 1);
    await b.says('ok', 2);
    assert.deepEqual(b.reported.slice(0, 3), ['ok', 'no-space', 'ok']);
  });

  test('a server that is away is said once, and once that it is back; a short restart is not said', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', ['ada']);
    a.relay();
    await a.says('ok');
    await rig.restart();
    a.push({ content: 'x' });
    await until('it is published', () => published(a.db) === 1);
    assert.deepEqual(a.reported, ['ok']);
    await rig.server.kill();
    await a.says('refused');
    const attempts = a.attempts();
    await until('it tried again, twice', () => a.attempts() >= attempts + 2);
    assert.match(
      a.faults[0]?.explain() ?? '',
      /nats:\/\/127\.0\.0\.1:\d+: connecting: connection refused .*: check that the server/,
    );
    await rig.restart();
    await a.says('ok', 2);
    assert.deepEqual(a.reported, ['ok', 'refused', 'ok']);
  });

  test('a wrong token is said at once, once, and mended without a restart', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', [], { token: 'wrong' });
    a.relay();
    await a.says('relay-token');
    assert.ok(a.attempts() <= 3, `said after ${a.attempts()} attempts`);
    await rig.restart({ token: 'wrong' });
    await a.says('ok');
    assert.deepEqual(a.reported, ['relay-token', 'ok']);
    assert.match(a.faults[0]?.explain() ?? '', /refused the token: put the token .* nats\.tokenFile/);
  });

  test('a server without JetStream says so', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig({ jetStream: false });
    const a = rig.machine('a', []);
    a.relay();
    await a.says('relay-server');
    assert.match(a.faults[0]?.explain() ?? '', /JetStream is not enabled on the server: run nats-server 2\.9/);
    await rig.restart({ jetStream: true });
    await a.says('ok');
  });

  test('a stream that somebody else made with other subjects is not changed, and said', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    await withClient(rig.server.url, async ({ jsm }) => {
      await jsm.streams.add({ name: 'INBOX_EVENTS', subjects: ['other.>'] });
    });
    const a = rig.machine('a', []);
    a.relay();
    await a.says('relay-stream');
    await withClient(rig.server.url, async ({ jsm }) => {
      assert.deepEqual((await jsm.streams.info('INBOX_EVENTS')).config.subjects, ['other.>']);
    });
  });

  test('bad input 7: a server that answers nothing any more is found out, and what was pushed meanwhile goes out', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', []);
    a.relay();
    await a.says('ok');
    rig.server.freeze();
    a.push({ content: 'meanwhile' });
    await a.says('timeout');
    rig.server.thaw();
    await until('it is published', () => published(a.db) === 1);
    await a.says('ok', 2);
  });

  test('a message that is larger than the server takes stays here, is named, and holds nothing up', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig({ config: 'max_payload: 4096' });
    const a = rig.machine('a', []);
    const b = rig.machine('b', ['ada']);
    a.relay();
    b.relay();
    await Promise.all([a.says('ok'), b.says('ok')]);
    a.push({ content: 'x'.repeat(5000) }, { content: 'small' });
    await b.has('ada', 1);
    assert.deepEqual(b.texts('ada'), ['small']);
    assert.equal(a.warnings.filter((line) => /message 1 stays on this machine/.test(line)).length, 1);
  });

  test('it ends at once, also while it waits for a server', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    await using rig = await relayRig();
    const a = rig.machine('a', []);
    rig.server.freeze();
    const relay = a.relay();
    await relay[Symbol.asyncDispose]();
    assert.deepEqual(a.reported, []);
    rig.server.thaw();
  });
});
