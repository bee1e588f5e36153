import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createJumpingClock } from '../../../test/conformance/source-rig.ts';
import { createDelivered, watchPersona } from '../../../test/conformance/watch-source.ts';
import { type CityMessage, type FakeCity, fakeSupervisor, sendMail } from '../../../test/kit/fake-gas-city.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { until } from '../../../test/kit/until.ts';
import { exactly, Fault } from '../../model/index.ts';
import { AS_WRITTEN, createHttpClient } from '../../net/index.ts';
import { type Log, realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { Persona } from '../source.ts';
import { createCityClient, listCities } from './city-client.ts';
import { createCitySource } from './city-source.ts';
import { createEventLogReader } from './event-log.ts';

const DATA = join(import.meta.dirname, '../../../test/data/gas-city');
const readData = (name: string): unknown => JSON.parse(readFileSync(join(DATA, name), 'utf8'));
const never = new AbortController().signal;

/** A supervisor with the recorded city, and the source that watches it. */
async function openRig(log: Log = silentLog) {
  const stack = new AsyncDisposableStack();
  const supervisor = stack.use(await fakeSupervisor());
  const city = supervisor.addCity('mytown', '', ['hq', 'web']);
  const clock = createJumpingClock(realClock);
  const openSource = (target: FakeCity) => {
    const scope = { is: 'source', key: `gas:${target.name}` } as const;
    const http = stack.use(
      createHttpClient({
        ...{ url: supervisor.url, policy: AS_WRITTEN, scope, userAgent: 'hivebar/0.0.0-test', credential: null },
      }),
    );
    return stack.use(
      createCitySource({
        ...{ name: target.name, path: target.path, clock, log, disk: createRealDisk(silentLog), contentChars: 220 },
        client: createCityClient(http, supervisor.url, target.name, scope),
        ...{ isRunning: () => target.isRunning, reset: () => http.reset() },
      }),
    );
  };
  const source = openSource(city);
  const delivered = createDelivered();
  const watch = (address: string) => watchPersona(source, source.named(address), clock, delivered);
  return {
    ...{ supervisor, city, clock, source, openSource, delivered, watch },
    events: () =>
      delivered.events.map(({ event, ...rest }) => `${event} ${'message' in rest ? rest.message : ''}`.trim()),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const poll = async (source: ReturnType<typeof createCitySource>, persona: Persona) =>
  await source.poll(persona, { is: 'unset' }, never);

test('gas 1: personas of a city have its name in their ids, and human is you', async () => {
  await using rig = await openRig();
  const { items } = readData('mail-unread.json') as { items: CityMessage[] };
  rig.city.messages.push(...items);
  const expected = readData('expected.json') as Record<string, { unread: number; urgent?: number; keys: string[] }>;
  const personas = await rig.source.personas(never);
  assert.deepEqual(
    personas.map(({ id, label }) => `${id} ${label}`),
    ['gas-mytown-human you', 'gas-mytown-mayor mayor'],
  );
  for (const persona of personas) {
    const { unread, urgent, evidence } = await poll(rig.source, persona);
    const want = expected[persona.id];
    assert.deepEqual(unread, exactly(want?.unread ?? -1));
    assert.deepEqual(urgent, exactly(want?.urgent ?? 0));
    assert.ok(evidence.is === 'set');
    assert.deepEqual(
      evidence.items.map(({ key }) => key),
      want?.keys,
    );
  }
});

test('gas 2: only GET requests are sent, none to /read, and one blocking request is open at a time', async () => {
  await using rig = await openRig();
  rig.city.sessions.push({ alias: 'mayor', id: 's-1', state: 'active' });
  await rig.source.personas(never);
  using _ = rig.source.hints?.(() => {});
  await until('one is held', () => rig.supervisor.held === 1);
  for (let n = 0; n < 5; n += 1) {
    const { id } = sendMail(rig.city, 'mayor', `mail ${n}`);
    await rig.watch('mayor').poll();
    for (const message of rig.city.messages) if (message.id === id) message.read = true;
    rig.city.touch();
    await rig.source.pending?.once(never);
    await until('one is held again', () => rig.supervisor.held === 1);
  }
  assert.equal(rig.supervisor.mostHeld, 1);
  for (const request of rig.supervisor.requests) {
    assert.match(request, /^GET /);
    assert.doesNotMatch(request, /\/read\b/);
  }
});

test('gas 3: a blocking answer with the same items makes no event, and the next request carries the new index', async () => {
  await using rig = await openRig();
  sendMail(rig.city, 'mayor', 'hello');
  const watched = rig.watch('mayor');
  await rig.source.personas(never);
  await watched.poll();
  const woken: string[] = [];
  using _ = rig.source.hints?.((address) => void woken.push(address));
  await until('one is held', () => rig.supervisor.held === 1);
  const before = rig.events().length;
  const { index } = rig.city;
  rig.city.touch();
  await until('the next is held', () => rig.supervisor.requests.some((line) => line.includes(`&index=${index + 1}&`)));
  assert.deepEqual(woken, []);
  await watched.poll();
  assert.equal(rig.events().length, before);
});

test('gas 4: a message that leaves the unread list and is read in all is read once, another is gone', async () => {
  await using rig = await openRig();
  const first = sendMail(rig.city, 'mayor', 'one');
  const second = sendMail(rig.city, 'mayor', 'two');
  const watched = rig.watch('mayor');
  await watched.poll();
  first.read = true;
  rig.city.messages.splice(rig.city.messages.indexOf(second), 1);
  for (let n = 0; n < 3; n += 1) await watched.poll();
  const mail = rig.events().filter((line) => line.includes(' '));
  assert.deepEqual(mail, [`new ${first.id}`, `new ${second.id}`, `read ${first.id}`, `gone ${second.id}`]);
  // Read and archived messages come back in some versions, which is no news.
  first.read = false;
  for (let n = 0; n < 2; n += 1) await watched.poll();
  assert.equal(rig.events().filter((line) => line.includes(' ')).length, 4);
});

test('gas 5: where count and list disagree the list is shown, the log says so once, and nothing flaps', async () => {
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (line) => void lines.push(line) };
  await using rig = await openRig(log);
  sendMail(rig.city, 'mayor', 'hello');
  rig.city.counts = 7;
  await rig.source.personas(never);
  for (let n = 0; n < 5; n += 1) {
    rig.clock.jump(61_000);
    await rig.source.pending?.once(never);
    assert.deepEqual((await poll(rig.source, rig.source.named('mayor'))).unread, exactly(1));
  }
  assert.deepEqual(lines, ['gas: city mytown: disagrees: it counts 7 unread and lists 1']);
});

test('gas 6: changes of the event log are delivered once, and an incomplete line waits until it is complete', async () => {
  using home = scratch();
  const expected = (readData('expected.json') as { events: { news: string[]; changes: string[] } }).events;
  const whole = readFileSync(join(DATA, '.gc/events.jsonl'));
  const path = home.at('events.jsonl');
  const reader = createEventLogReader(createRealDisk(silentLog), path);
  assert.deepEqual(reader.read(), []);
  const found: string[] = [];
  for (let at = 0; at < whole.length; at += 37) {
    appendFileSync(path, whole.subarray(at, at + 37));
    found.push(...reader.read().map(({ type, message }) => `${type} ${message}`));
    assert.deepEqual(reader.read(), []);
  }
  const mail = [...expected.news.map((id) => `mail.sent ${id}`), ...expected.changes.map((id) => `mail.read ${id}`)];
  assert.deepEqual(found, mail);
  appendFileSync(path, '0:11Z","actor":"x","subject":"gc-5"}\n');
  assert.deepEqual(
    reader.read().map(({ seq, message }) => [seq, message]),
    [[45, 'gc-5']],
  );
});

test('gas 6: without events in its API the log of a city says when to ask', async () => {
  using home = scratch();
  await using rig = await openRig();
  const folder = home.at('.gc');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'events.jsonl'), '');
  const city = rig.supervisor.addCity('quiet', home.dir);
  city.hasEvents = false;
  const source = rig.openSource(city);
  await source.personas(never);
  const woken: string[] = [];
  using _ = source.hints?.((address) => void woken.push(address));
  await sleep(100);
  sendMail(city, 'mayor', 'hello');
  appendFileSync(join(folder, 'events.jsonl'), '{"seq":1,"type":"mail.sent","ts":"x","subject":"gc-x"}\n');
  await until('the log is heard', () => woken.includes('mayor'));
});

test('gas 7: a rig that answers 500 takes its city down, with its name, and no other city', async () => {
  await using rig = await openRig();
  const other = rig.openSource(rig.supervisor.addCity('other'));
  rig.city.fault = { is: 'rig', rig: 'web' };
  await assert.rejects(poll(rig.source, rig.source.named('mayor')), (error) => {
    assert.ok(error instanceof Fault);
    assert.equal(error.scope.key, 'gas:mytown');
    assert.match(error.message, /the rig web of the city mytown/);
    return true;
  });
  assert.deepEqual((await poll(other, other.named('human'))).unread, exactly(0));
  rig.city.fault = { is: 'partial', errors: ['web: store is gone'] };
  await assert.rejects(rig.source.personas(never), /rig web: store is gone/);
});

test('gas 11: a message whose id or recipient cannot be used is refused as data, and the log says so', async () => {
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (line) => void lines.push(line) };
  await using rig = await openRig(log);
  const good = sendMail(rig.city, 'mayor', 'good');
  for (const id of ['a b', '../../etc/passwd', '', 'x'.repeat(300), '-rf']) sendMail(rig.city, 'mayor', 'bad', { id });
  sendMail(rig.city, 'a b', 'bad');
  sendMail(rig.city, '../b', 'bad');
  const { unread, evidence } = await poll(rig.source, rig.source.named('mayor'));
  assert.deepEqual(unread, exactly(1));
  assert.ok(evidence.is === 'set');
  assert.deepEqual(
    evidence.items.map(({ key }) => key),
    [good.id],
  );
  assert.equal(lines.length, 7, lines.join('\n'));
  assert.deepEqual(
    (await rig.source.personas(never)).map(({ address }) => address),
    ['human', 'mayor'],
  );
});

test('a city that is stopped is gone and not down, its mail stays as it was, and it goes on where it was', async () => {
  await using rig = await openRig();
  sendMail(rig.city, 'mayor', 'one');
  const watched = rig.watch('mayor');
  await watched.poll();
  rig.city.isRunning = false;
  rig.city.fault = { is: 'status', status: 503 };
  assert.equal((await watched.poll()).is, 'healthy');
  assert.deepEqual((await poll(rig.source, rig.source.named('mayor'))).agentState, { is: 'gone', why: 'city-stopped' });
  rig.city.isRunning = true;
  rig.city.fault = null;
  sendMail(rig.city, 'mayor', 'two');
  await watched.poll();
  assert.deepEqual(
    rig.delivered.events.flatMap((event) => (event.event === 'new' ? [event.content] : [])),
    ['one', 'two'],
  );
});

test('an agent that idles beside mail of a quarter of an hour is stalled, and a session has the state of its agent', async () => {
  await using rig = await openRig();
  for (const state of ['active', 'asleep', 'closed', 'odd']) rig.city.sessions.push({ alias: state, id: state, state });
  const personas = await rig.source.personas(never);
  assert.deepEqual(
    personas.map(({ address }) => address),
    ['human', 'active', 'asleep', 'odd'],
  );
  const read = async (address: string) => (await poll(rig.source, rig.source.named(address))).agentState;
  assert.deepEqual(await Promise.all(['active', 'asleep', 'odd'].map(read)), [
    { is: 'live' },
    { is: 'idle' },
    { is: 'unknown', why: 'odd' },
  ]);
  sendMail(rig.city, 'asleep', 'wake up');
  assert.deepEqual(await read('asleep'), { is: 'stalled', why: 'mail-not-taken' });
});

test('a copy counts for each recipient, the subject of an urgent message says so, and pages are read to their end', async () => {
  await using rig = await openRig();
  sendMail(rig.city, 'mayor', 'x', { cc: ['human'], subject: 'ESCALATION: stuck' });
  for (let n = 0; n < 1100; n += 1) sendMail(rig.city, 'human', `mail ${n}`);
  const mayor = await poll(rig.source, rig.source.named('mayor'));
  const human = await poll(rig.source, rig.source.named('human'));
  assert.deepEqual([mayor.unread, mayor.urgent], [exactly(1), exactly(1)]);
  assert.deepEqual([human.unread, human.urgent], [exactly(1101), exactly(1)]);
});

test('another program that answers at the address of the supervisor is no supervisor', async () => {
  const scope = { is: 'source', key: 'gas' } as const;
  const answer = (body: string) => ({
    get: async () => ({ status: 200, headers: {}, body: Buffer.from(body) }),
  });
  for (const body of ['<html>', '[]', '{}', '{"items":3}'])
    await assert.rejects(listCities(answer(body), 'http://a', scope, never), Fault);
  const cities = await listCities(
    answer(
      JSON.stringify({ items: [{ name: '../x', running: true }, ...(readData('cities.json') as { items: [] }).items] }),
    ),
    ...(['http://a', scope, never] as const),
  );
  const [{ path }] = (readData('cities.json') as { items: [{ path: string }] }).items;
  assert.deepEqual(cities, [{ name: 'mytown', path, isRunning: true }]);
});
