import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { createRecord, createSink, type LogOutlet } from '../daemon-log.ts';
import type { LogRecord } from '../log-record.ts';

const OWNER = { tenant_id: 't', agent_identity: 'i', agent_surface: 's', machine_id: 'm', pid: 1, version: '0' };
const record = (msg: string): LogRecord =>
  createRecord(OWNER, fakeClock(0), 'CONNECTED', { level: 'info', event: 'note', msg });

type Way = 'well' | 'fails' | 'hangs';

/** An outlet that keeps what it took. */
function openStored(name: string, way: { is: Way }) {
  const reported: string[] = [];
  const writes: number[] = [];
  const pending: (() => void)[] = [];
  let closed = 0;
  const outlet: LogOutlet = {
    name,
    most: 3,
    write(records, done) {
      writes.push(records.length);
      const take = (): void => {
        if (way.is === 'well') reported.push(...records.map(({ msg }) => msg));
        done(way.is === 'fails' ? new Error('no space') : null);
      };
      if (way.is === 'hangs') pending.push(take);
      else queueMicrotask(take);
    },
    async close() {
      closed += 1;
    },
  };
  return { outlet, reported, writes, pending, closed: () => closed };
}

function createTestSink(first: () => LogOutlet, fallback: () => LogOutlet, clock: FakeClock = fakeClock()) {
  return createSink({ first, fallback, clock, notice: (name, { message }) => record(`${name} failed: ${message}`) });
}

describe('persona daemon check 15: a log that cannot fail', () => {
  test('records keep their order, and go together while a write is on its way', async () => {
    const file = openStored('file', { is: 'well' });
    const sink = createTestSink(() => file.outlet, assert.fail);
    for (const msg of ['a', 'b', 'c', 'd', 'e']) sink.put(record(msg));
    await sink[Symbol.asyncDispose]();
    assert.deepEqual([file.reported, file.writes, file.closed()], [['a', 'b', 'c', 'd', 'e'], [1, 3, 1], 1]);
  });

  test('persona daemon check 15: what the system did not take is in the file, behind the reason, and nothing is lost', async () => {
    const system = openStored('journal', { is: 'fails' });
    const file = openStored('file', { is: 'well' });
    const sink = createTestSink(
      () => system.outlet,
      () => file.outlet,
    );
    for (const msg of ['a', 'b', 'c', 'd', 'e']) sink.put(record(msg));
    await sink[Symbol.asyncDispose]();
    assert.deepEqual(file.reported, ['journal failed: no space', 'a', 'b', 'c', 'd', 'e']);
    assert.equal(system.closed(), 1);
  });

  test('a system log that cannot be opened is one that failed', async () => {
    const file = openStored('file', { is: 'well' });
    const sink = createTestSink(
      () => {
        throw new Error('no such function');
      },
      () => file.outlet,
    );
    sink.put(record('a'));
    await sink[Symbol.asyncDispose]();
    assert.deepEqual(file.reported, ['log failed: no such function', 'a']);
  });

  test('the log of the system is tried again after a while', async () => {
    const clock = fakeClock();
    const way: { is: Way } = { is: 'fails' };
    const system = openStored('journal', way);
    const file = openStored('file', { is: 'well' });
    const sink = createTestSink(
      () => system.outlet,
      () => file.outlet,
      clock,
    );
    sink.put(record('a'));
    await clock.advance(1);
    way.is = 'well';
    sink.put(record('b'));
    await clock.advance(5 * 60_000);
    sink.put(record('c'));
    await sink[Symbol.asyncDispose]();
    assert.deepEqual([file.reported.slice(1), system.reported], [['a', 'b'], ['c']]);
    assert.equal(clock.waiting, 0);
  });

  test('when nothing takes records they are lost, and nobody is told by a throw', async () => {
    const clock = fakeClock();
    const sink = createTestSink(
      () => openStored('journal', { is: 'fails' }).outlet,
      () => openStored('file', { is: 'fails' }).outlet,
      clock,
    );
    for (let n = 0; n < 10; n += 1) {
      sink.put(record(`${n}`));
      await clock.advance(1);
    }
    await sink[Symbol.asyncDispose]();
    assert.equal(clock.waiting, 0);
  });

  test('a sink that hangs holds up neither the daemon nor its end, and keeps no more than so many records', async () => {
    const clock = fakeClock();
    const way: { is: Way } = { is: 'hangs' };
    const system = openStored('journal', way);
    const sink = createTestSink(() => system.outlet, assert.fail, clock);
    for (let n = 0; n < 10_000; n += 1) sink.put(record(`${n}`));
    const over = sink[Symbol.asyncDispose]();
    await clock.advance(500);
    await clock.advance(500);
    await over;
    way.is = 'well';
    for (let next = system.pending.shift(); next !== undefined; next = system.pending.shift()) next();
    await clock.advance(0);
    assert.ok(system.reported.length <= 501, `${system.reported.length}`);
    assert.equal(system.closed(), 1);
  });
});
