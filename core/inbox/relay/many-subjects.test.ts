import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newItem } from '../../../test/kit/new-item.ts';
import { until } from '../../../test/kit/until.ts';
import { Fault } from '../../model/index.ts';
import { realClock, realRandom, silentLog } from '../../ports/index.ts';
import { openDatabase } from '../../state/index.ts';
import { openItems } from '../items.ts';
import { openOutgoingItems, openRelayCheckpoints } from './exchange.ts';
import { RELAY, type RelayLink, type StreamDelivery } from './link.ts';
import { startRelay } from './relay.ts';
import { type Durable, formatWireMessage } from './wire.ts';

/** A server of 2.10 or newer, as far as a link shows it: the package of the tests is older. */
function newerServer() {
  const binds: Durable[] = [];
  const consumed: string[] = [];
  let hear: (message: StreamDelivery) => void = () => {};
  const gone = Promise.withResolvers<Fault>();
  const link: RelayLink = {
    serverVersion: '2.10.22',
    maxPayload: 1_048_576,
    closed: gone.promise,
    stream: async () => ({ created: 'once', lastSeq: 0, isNew: false }),
    next: async () => null,
    publish: async () => ({ seq: 1, isNew: true }),
    bind: async (durable) => {
      binds.push(durable);
      return { created: 'then', ackFloor: 0, delivered: 0 };
    },
    consume: async (name, listener) => {
      consumed.push(name);
      hear = listener;
      return { [Symbol.asyncDispose]: async () => {} };
    },
    unbind: async () => {},
    erase: async () => {},
    [Symbol.asyncDispose]: async () => gone.resolve(new Fault('broken', 'closed', RELAY)),
  };
  return { link, binds, consumed, hear: (message: StreamDelivery) => hear(message) };
}

test('from 2.10 on one durable brings every subject, and is bound anew when a persona appears', async () => {
  using db = openDatabase(':memory:');
  const items = openItems({ db, clock: realClock });
  const marks = openRelayCheckpoints(db, realRandom);
  let personas = ['ada'];
  const { link, binds, consumed, hear } = newerServer();
  const reported: (Fault | null)[] = [];
  await using relay = startRelay({
    items,
    outgoing: openOutgoingItems(db),
    checkpoints: marks,
    residents: () => [],
    setElsewhere: () => {},
    personas: () => personas,
    open: async () => link,
    clock: realClock,
    log: silentLog,
    retentionMs: 1e9,
    stored: () => {},
    tell: (fault) => void reported.push(fault),
  });
  await until('it is bound', () => consumed.length === 1);
  assert.deepEqual(binds, [{ name: `inbox-${marks.machine}`, subjects: ['inbox.all', 'inbox.agent.ada'] }]);
  const acked: number[] = [];
  const item = { ...newItem({ content: 'to all', to: { is: 'everyone' } }), dedupKey: 'k' };
  const message = { subject: 'inbox.all', data: new TextEncoder().encode(formatWireMessage(item)), seq: 1, time: 1 };
  hear({ ...message, ack: () => void acked.push(1), again: () => assert.fail('it was stored') });
  await until('it is acknowledged', () => acked.length === 1);
  assert.deepEqual(
    items.list('ada', 'all', 9).map(({ content }) => content),
    ['to all'],
  );
  await until('it works', () => reported.length === 1);
  personas = ['ada', 'bo'];
  relay.pushed();
  await until('it is bound again', () => binds.length === 2);
  assert.deepEqual(binds[1]?.subjects, ['inbox.all', 'inbox.agent.ada', 'inbox.agent.bo']);
  assert.deepEqual(reported, [null]);
});
