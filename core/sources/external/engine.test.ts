import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDelivered, type SinkRecord, watchPersona } from '../../../test/conformance/watch-source.ts';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { exactly } from '../../model/index.ts';
import { silentLog } from '../../ports/index.ts';
import type { Source } from '../source.ts';
import { createEngine, type Engine } from './engine.ts';
import { SourceFault } from './faults.ts';
import { parseLine } from './lines.ts';
import type { ResultPage } from './model.ts';
import { openExternalSource } from './source.ts';
import type { DataLine, Transport, TransportListener, TransportOutcome } from './transport.ts';

const never = new AbortController().signal;

interface Page {
  readonly lines?: readonly object[];
  readonly cursor?: string | null;
  readonly full?: boolean;
  readonly more?: boolean;
}

type Answer = (cursor: string | null) => Page | 'silent' | 'kept' | SourceFault;

interface Rig {
  readonly source: Source;
  readonly engine: Engine;
  readonly listener: TransportListener;
  readonly polledFrom: readonly (string | null)[];
  answer: Answer;
  poll(): Promise<string>;
}

/** What a restart finds. */
interface Store {
  position: object | null;
  readonly delivered: SinkRecord;
}

const createStore = (): Store => ({ position: null, delivered: createDelivered() });

function toPage({ lines = [], cursor = null, full = true, more = false }: Page): ResultPage {
  const parsed = lines.map((line) => {
    const reading = parseLine(JSON.stringify(line), 220);
    assert.ok(reading.is === 'line');
    return reading.line as DataLine;
  });
  return { lines: parsed, cursor, full, more };
}

/** A source without a program: an engine over answers that the test gives, on a clock that stands still. */
async function open(
  clock: FakeClock,
  first: Answer,
  store: Store = createStore(),
  readMemory: () => number | null = () => null,
): Promise<Rig> {
  let answer = first;
  let listener: TransportListener | null = null;
  const polledFrom: (string | null)[] = [];
  const transport: Transport = {
    ...{ isCheap: false, pid: 4711 },
    start: async () => ({ kind: 'my-mail', label: 'My mail', can: [] }),
    async poll(cursor, withinMs, signal): Promise<TransportOutcome> {
      polledFrom.push(cursor);
      const page = answer(cursor);
      if (page === 'kept') return { is: 'kept' };
      if (page === 'silent') {
        await clock.sleep(withinMs, signal);
        throw new SourceFault('source-down', 'ext', `it did not answer within ${withinMs / 1000} s`);
      }
      if (page instanceof SourceFault) throw page;
      return { is: 'answered', ...toPage(page) };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const engine = createEngine({
    ...{ name: 'ext', setKey: 'set', everyMs: 30_000, stalledAfterMs: null, isUrlAllowed: () => true, clock },
    createTransport(heard) {
      listener = heard;
      return transport;
    },
    readMemory,
    draw: () => 0.5,
    positions: {
      read: () => store.position,
      async save(_key, value) {
        store.position = JSON.parse(JSON.stringify(value)) as object;
      },
    },
    log: silentLog,
    reportFault() {},
    renamed() {},
  });
  const source = openExternalSource('ext', engine, false, silentLog);
  const personas = source.personas(never);
  await clock.advance(0);
  const [persona] = await personas;
  assert.ok(persona !== undefined);
  const watched = watchPersona(source, persona, clock, store.delivered);
  const poll = async (): Promise<string> => (await watched.poll()).is;
  source.hints?.((address) => {
    if (address === persona.address) void poll();
  });
  await clock.advance(0);
  return {
    ...{ source, engine, polledFrom, poll },
    get listener() {
      return listener ?? assert.fail('nobody listens');
    },
    get answer() {
      return answer;
    },
    set answer(now) {
      answer = now;
    },
  };
}

const item = (key: string, state = 'unread'): object => ({ op: 'item', persona: 'ada', key, state });
const listEvents = ({ events }: SinkRecord): readonly string[] =>
  events.flatMap((event) =>
    'id' in event
      ? [`${event.event} ${event.id}`]
      : ['armed', 'persona_added'].includes(event.event)
        ? []
        : [event.event],
  );

test('external 5: given no answer within 10 s, it is DOWN after alertAfter with its count, and recovers once', async () => {
  const clock = fakeClock();
  const store = createStore();
  const rig = await open(clock, () => ({ lines: [item('a'), item('b')] }), store);
  await using source = rig.source;
  await clock.advance(100);
  assert.deepEqual(listEvents(store.delivered), ['new 1', 'new 2']);
  rig.answer = () => 'silent';
  await clock.advance(30_000 + 10_000);
  assert.deepEqual(listEvents(store.delivered).slice(2), [], 'one failure is no outage');
  await clock.advance(25_000);
  assert.deepEqual(listEvents(store.delivered).slice(2), ['alert']);
  await clock.advance(120_000);
  rig.answer = () => ({ lines: [item('a'), item('b'), item('c')] });
  await clock.advance(70_000);
  assert.deepEqual(listEvents(store.delivered).slice(2).sort(), ['alert', 'new 3', 'recovered']);
  const persona = rig.engine.named('ada');
  const polling = source.poll(persona, { is: 'unset' }, never);
  await clock.advance(0);
  assert.deepEqual((await polling).unread, exactly(3));
});

test('external 6: given what is final, nothing is tried again', async () => {
  const clock = fakeClock();
  const rig = await open(clock, () => ({ lines: [item('a')] }));
  await using _source = rig.source;
  await clock.advance(100);
  rig.answer = () => new SourceFault('source-config', 'ext', 'exit code 78', { isFinal: true });
  await clock.advance(31_000);
  const polled = rig.polledFrom.length;
  rig.answer = () => ({ lines: [item('a')] });
  await clock.advance(600_000);
  assert.equal(rig.polledFrom.length, polled);
  assert.equal(rig.engine.report().state, 'stopped');
});

test('external 10: what a full result leaves out is gone, and what another one leaves out is unchanged', async () => {
  const clock = fakeClock();
  const store = createStore();
  const rig = await open(clock, () => ({ lines: [item('a'), item('b')] }), store);
  await using _source = rig.source;
  await clock.advance(100);
  rig.answer = () => ({ lines: [item('b')] });
  await clock.advance(30_000);
  assert.deepEqual(listEvents(store.delivered), ['new 1', 'new 2', 'gone 1']);
  rig.answer = () => ({ full: false });
  await clock.advance(30_000);
  assert.deepEqual(listEvents(store.delivered), ['new 1', 'new 2', 'gone 1']);
  rig.answer = () => ({ lines: [item('b', 'read'), item('old', 'read')], full: false });
  await clock.advance(30_000);
  assert.deepEqual(listEvents(store.delivered), ['new 1', 'new 2', 'gone 1', 'read 2']);
});

test('given a program that holds more than 256 MiB for 30 s, it is ended and says memory', async () => {
  const clock = fakeClock();
  let bytes = 300 * 1024 * 1024;
  const rig = await open(
    clock,
    () => ({ lines: [item('a')] }),
    createStore(),
    () => bytes,
  );
  await using _source = rig.source;
  await clock.advance(25_000);
  bytes = 1024;
  await clock.advance(10_000);
  bytes = 300 * 1024 * 1024;
  await clock.advance(29_000);
  assert.equal(rig.engine.report().state, 'up', 'not for 30 s in a row');
  await clock.advance(25_000);
  const { state, why } = rig.engine.report();
  assert.equal(state, 'stopped');
  assert.match(why ?? '', /memory: it held 300 MiB for 30 s, over 256/);
});

test('given more than 1,000 personas, nothing of the answer counts and it says too many', async () => {
  const clock = fakeClock();
  const rig = await open(clock, () => ({ lines: [item('a')] }));
  await using _source = rig.source;
  await clock.advance(100);
  const lines = Array.from({ length: 1000 }, (_, n) => ({ op: 'persona', persona: `p${n}` }));
  rig.answer = () => ({ lines });
  await clock.advance(31_000);
  const { state, why, personas } = rig.engine.report();
  assert.deepEqual([state, personas], ['stopped', 1]);
  assert.match(why ?? '', /too many: it has more than 1000 personas/);
});

test('given hints, polls follow at most once per second', async () => {
  const clock = fakeClock();
  const rig = await open(clock, () => ({ lines: [item('a')] }));
  await using _source = rig.source;
  await clock.advance(5000);
  const before = rig.polledFrom.length;
  for (let n = 0; n < 50; n += 1) {
    rig.listener.hint();
    await clock.advance(100);
  }
  const count = rig.polledFrom.length - before;
  assert.ok(count >= 5 && count <= 6, `${count} polls`);
});

test('given a fault of one persona, that one fails and the position waits for it', async () => {
  const clock = fakeClock();
  const store = createStore();
  const rig = await open(clock, () => ({ lines: [item('a')], cursor: 'c1' }), store);
  await using _source = rig.source;
  await clock.advance(100);
  const saved = JSON.stringify(store.position);
  assert.match(saved, /"c1"/);
  const fault = { op: 'fault', code: 'auth', message: 'log in', persona: 'ada' };
  rig.answer = () => ({ lines: [item('a'), item('b'), fault], cursor: 'c2' });
  await clock.advance(30_000);
  assert.equal(JSON.stringify(store.position), saved);
  rig.answer = () => ({ lines: [item('a'), item('b')], cursor: 'c3' });
  await clock.advance(31_000);
  assert.deepEqual(listEvents(store.delivered), ['new 1', 'new 2']);
  assert.match(JSON.stringify(store.position), /"c3"/);
});
