import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createJumpingClock } from '../../../test/conformance/source-rig.ts';
import { createDelivered, listTexts, watchPersona } from '../../../test/conformance/watch-source.ts';
import { type FakeAgentMail, fakeAgentMail, PROJECT } from '../../../test/kit/fake-agent-mail.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import { until } from '../../../test/kit/until.ts';
import { formatEventLine } from '../../events/index.ts';
import { exactly, Fault, UNKNOWN } from '../../model/index.ts';
import { AS_WRITTEN, createHttpClient } from '../../net/index.ts';
import { realClock, realFiles, silentLog } from '../../ports/index.ts';
import type { RunInboxEvents } from './deliveries.ts';
import { createInboxEventsRunner } from './inbox-events.node.ts';
import { createMailServer } from './server.ts';
import { watchSignals } from './signals.ts';
import { type AmailSource, createAmailSource, type SavedAmail } from './source.ts';

const never = new AbortController().signal;
const UNSET = { is: 'unset' } as const;
const read = (name: string): string =>
  readFileSync(new URL(`../../../test/data/amail/${name}`, import.meta.url), 'utf8');

/** A source that remembers in memory what the real one saves, so that a second process can be opened over the same server. */
function createRig(server: FakeAgentMail, signals?: string, runInboxEvents?: RunInboxEvents) {
  const clock = createJumpingClock(realClock);
  let saved: SavedAmail | null = null;
  const open = (): AmailSource =>
    createAmailSource({
      server: createMailServer({
        fetcher: createHttpClient({
          ...{ url: server.url, policy: AS_WRITTEN, scope: { is: 'source', key: 'amail' }, credential: null },
          ...{ userAgent: 'hivebar/0.0.0-test', accepts: [503] },
        }),
        ...{ base: server.url, clock, log: silentLog, contentChars: 220 },
      }),
      ...{ base: server.url, clock },
      memory: {
        load: () => (saved === null ? null : (JSON.parse(JSON.stringify(saved)) as SavedAmail)),
        save: (next) => {
          saved = next;
        },
      },
      ...(signals === undefined
        ? {}
        : { watchSignals: (heard) => watchSignals(signals, { clock, files: realFiles }, heard) }),
      ...(runInboxEvents === undefined ? {} : { runInboxEvents }),
    });
  return {
    clock,
    open,
    forget: () => {
      saved = null;
    },
  };
}

const at = (name: string, project = PROJECT): string => `${project}/${name}`;

async function find(source: AmailSource, address: string) {
  const persona = (await source.personas(never)).find((each) => each.address === address);
  return persona ?? assert.fail(`${address} is not listed`);
}

test('amail 1: unread and urgent of each recipient follow recipient_read and importance', async () => {
  await using server = await fakeAgentMail();
  const expected = JSON.parse(read('expected.json')) as Record<string, { unread: number[]; urgent: number[] }>;
  for (const name of Object.keys(expected)) server.addAgent(name);
  server.fail({ is: 'body', body: read('unified-inbox.json') }, 'inbox');
  await using source = createRig(server).open();
  for (const [name, { unread, urgent }] of Object.entries(expected)) {
    const result = await source.poll(source.named(at(name)), UNSET, never);
    assert.deepEqual([result.unread, result.urgent], [exactly(unread.length), exactly(urgent.length)], name);
    assert.ok(result.evidence.is === 'log');
    const ids = result.evidence.messages.filter((message) => !message.read).map(({ id }) => id);
    assert.deepEqual(ids, unread, name);
  }
});

test('amail 2: only GET of four routes is sent, one at a time, never /mcp and never POST', async () => {
  await using server = await fakeAgentMail();
  for (const name of ['ada', 'bo']) server.addAgent(name);
  server.deliver({ to: ['ada', 'bo'] });
  const rig = createRig(server);
  await using source = rig.open();
  using _ = source.hints?.(() => {}) as Disposable;
  const personas = await source.personas(never);
  server.fail({ is: 'slow', ms: 20 }); // so that two at once would be seen
  await Promise.all([
    ...personas.map((persona) => source.poll(persona, UNSET, never)),
    ...personas.map((persona) => source.poll(persona, { is: 'at', id: 0 }, never)),
    source.pending?.once(never),
    source.personas(never),
  ]);
  const routes = [/^GET \/mail\/api\/unified-inbox\?/, /^GET \/mail\/api\/projects\/[^/]+\/agents$/, /^GET \/health\//];
  for (const request of server.requests)
    assert.ok(
      routes.some((route) => route.test(request)),
      request,
    );
  assert.equal(server.mostAtOnce, 1);
  assert.deepEqual(server.violations, []);
});

test('amail 2: one request serves all agents, and each agent once', async () => {
  await using server = await fakeAgentMail();
  for (let n = 0; n < 40; n += 1) server.addAgent(`agent-${n}`);
  const rig = createRig(server);
  await using source = rig.open();
  const personas = await source.personas(never);
  const count = (): number => server.requests.filter((request) => request.includes('unified-inbox')).length;
  const before = count();
  for (const persona of personas) await source.poll(persona, UNSET, never);
  await source.pending?.once(never);
  for (const persona of personas) await source.poll(persona, UNSET, never);
  assert.equal(count() - before, 2, 'a pending list, and the polls after it');
  await Promise.all(personas.map(async (persona) => await source.poll(persona, UNSET, never)));
  assert.equal(count() - before, 3);
});

test('amail 2: the stand-in reports whatever else is asked of it', async () => {
  const server = await fakeAgentMail();
  const agent = { 'user-agent': 'hivebar/0' };
  await fetch(`${server.url}/mcp/`, { method: 'POST', headers: agent });
  await fetch(`${server.url}/mail/api/unified-inbox?limit=10`, { method: 'POST', headers: agent });
  await fetch(`${server.url}/mail/home-user-p/inbox/ada`, { headers: agent });
  assert.equal(server.violations.length, 3);
  await assert.rejects(async () => await server[Symbol.asyncDispose](), /may not ask/);
});

test('amail 3: a message to two readers is new once for each, and the same answer again delivers nothing', async () => {
  await using server = await fakeAgentMail();
  for (const name of ['ada', 'bo']) server.addAgent(name);
  const rig = createRig(server);
  await using source = rig.open();
  const readers = await Promise.all(
    ['ada', 'bo'].map(async (name) => {
      const delivered = createDelivered();
      return { delivered, watched: watchPersona(source, await find(source, at(name)), rig.clock, delivered) };
    }),
  );
  const id = server.deliver({ to: ['ada', 'bo'], from: 'ada', subject: 'Schema', body: 'frozen' });
  for (let round = 0; round < 3; round += 1) for (const { watched } of readers) await watched.poll();
  for (const { delivered } of readers) assert.deepEqual(listTexts(delivered), ['frozen']);
  const [toAda, toBo] = readers.map(({ delivered }) => delivered.events.find(({ event }) => event === 'new'));
  const link = `${server.url}/mail/${PROJECT}/message/${id}`;
  assert.deepEqual(pick(toAda), { id, from: 'ada', subject: 'Schema', link, self: true });
  assert.deepEqual(pick(toBo), { id, from: 'ada', subject: 'Schema', link, self: undefined });
});

function pick(event: object | undefined): unknown {
  const { id, from, subject, link, self } = event as Record<string, unknown>;
  return { id, from, subject, link, self };
}

test('amail 4: what was read is no longer counted, and a log makes no read event', async () => {
  await using server = await fakeAgentMail();
  server.addAgent('ada');
  const rig = createRig(server);
  await using source = rig.open();
  const persona = await find(source, at('ada'));
  const delivered = createDelivered();
  const watched = watchPersona(source, persona, rig.clock, delivered);
  const [first] = [server.deliver({ to: ['ada'], importance: 'high' }), server.deliver({ to: ['ada'] })];
  await watched.poll();
  const count = async () => {
    const { unread, urgent } = await source.poll(persona, UNSET, never);
    return [unread, urgent];
  };
  assert.deepEqual(await count(), [exactly(2), exactly(1)]);
  server.markRead('ada', [first]);
  assert.deepEqual(await count(), [exactly(1), exactly(0)]);
  await watched.poll();
  assert.deepEqual(
    delivered.events.map(({ event }) => event),
    ['persona_added', 'armed', 'new', 'new'],
  );
});

test('amail 4: mail below the usual window is counted, and read within a minute', async () => {
  await using server = await fakeAgentMail();
  server.addAgent('ada');
  const old = server.deliver({ to: ['ada'] });
  for (let n = 0; n < 400; n += 1) server.deliver({ to: ['bo'] });
  server.markRead('bo');
  const rig = createRig(server);
  await using source = rig.open();
  const persona = await find(source, at('ada'));
  const count = async () => (await source.poll(persona, UNSET, never)).unread;
  for (let n = 0; n < 3; n += 1) assert.deepEqual(await count(), exactly(1));
  assert.match(server.requests.at(-1) ?? '', /limit=200$/);
  server.markRead('ada', [old]);
  rig.clock.jump(61_000);
  assert.deepEqual(await count(), exactly(0));
  assert.match(server.requests.at(-1) ?? '', /limit=1000$/);
  await count();
  assert.match(server.requests.at(-1) ?? '', /limit=200$/, 'nothing old is unread any more');
});

test('amail 5: a window whose smallest id is above the cursor is a gap with its floor, reported once', async () => {
  await using server = await fakeAgentMail();
  for (const name of ['ada', 'quiet']) server.addAgent(name);
  const rig = createRig(server);
  const delivered = { ada: createDelivered(), quiet: createDelivered() };
  const run = async (): Promise<void> => {
    await using source = rig.open();
    for (const name of ['ada', 'quiet'] as const) {
      const watched = watchPersona(source, await find(source, at(name)), rig.clock, delivered[name]);
      for (let n = 0; n < 3; n += 1) await watched.poll();
    }
  };
  server.deliver({ to: ['ada', 'quiet'], body: 'one' });
  await run();
  for (let n = 0; n < 900; n += 1) server.deliver({ to: [n % 30 === 0 ? 'ada' : 'bo'], body: `day ${n}` });
  await run();
  const gaps = (name: 'ada' | 'quiet') =>
    delivered[name].events.flatMap((event) =>
      event.event === 'alert' && event.reason === 'gap' ? [[event.cursor_at, event.window_floor]] : [],
    );
  assert.deepEqual([gaps('ada'), gaps('quiet')], [[], []], 'the window holds all of it');
  for (let n = 0; n < 1500; n += 1) server.deliver({ to: [n % 50 === 0 ? 'ada' : 'bo'], body: `night ${n}` });
  await run();
  await run();
  const floor = server.mail.length - 999;
  assert.deepEqual([gaps('ada'), gaps('quiet')], [[[872, floor]], [[1, floor]]]);
  assert.equal(listTexts(delivered.ada).length, 1 + 30 + 20);
  assert.equal(new Set(listTexts(delivered.ada)).size, 51);
  server.deliver({ to: ['quiet'], body: 'later' });
  await run();
  assert.deepEqual(listTexts(delivered.quiet), ['one', 'later']);
  assert.equal(gaps('quiet').length, 1);
});

test('amail 5: a larger window is read before mail counts as missing', async () => {
  await using server = await fakeAgentMail();
  server.addAgent('ada');
  const rig = createRig(server);
  await using source = rig.open();
  const delivered = createDelivered();
  const watched = watchPersona(source, await find(source, at('ada')), rig.clock, delivered);
  await watched.poll();
  for (let n = 0; n < 600; n += 1) server.deliver({ to: ['ada'], body: `${n}` });
  await watched.poll();
  assert.equal(listTexts(delivered).length, 600);
  assert.ok(!delivered.events.some(({ event }) => event === 'alert'));
});

/** A stand-in of `am`: it pages through the deliveries in a file, and writes down how it was called. */
function createAm(home: Scratch): { readonly run: RunInboxEvents; write(deliveries: object, mode?: string): void } {
  const script = `#!${process.execPath}
    const { appendFileSync, readFileSync } = require('node:fs');
    const [command, ...flags] = process.argv.slice(2);
    appendFileSync(__dirname + '/calls', process.argv.slice(2).join(' ') + '\\n');
    const { name, after } = Object.fromEntries(flags.map((flag) => flag.replace('--agent', '--name').slice(2).split('=')));
    const { mode, deliveries } = JSON.parse(readFileSync(__dirname + '/deliveries', 'utf8'));
    const oldest = mode === 'expired' ? 40 : 1;
    if (mode === 'broken') process.exit(2);
    if (Number(after) + 1 < oldest) {
      const details = { after: Number(after), oldest_available_cursor: oldest };
      console.log(JSON.stringify({ status: 'error', code: 'cursor_expired', details }));
      process.exit(1);
    }
    const own = (deliveries[name] ?? []).filter(({ cursor }) => cursor > after);
    const events = own.slice(0, 20);
    const next_cursor = events.at(-1)?.cursor ?? Number(after);
    console.log(JSON.stringify({ events, next_cursor, has_more: own.length > 20, oldest_available_cursor: oldest }));
  `;
  mkdirSync(home.at('bin'));
  writeFileSync(home.at('bin', 'am'), script, { mode: 0o700 });
  return {
    run: createInboxEventsRunner('http://127.0.0.1:8765', { env: { PATH: home.at('bin') } }),
    write: (deliveries, mode = 'whole') => void home.write('bin/deliveries', JSON.stringify({ mode, deliveries })),
  };
}

for (const mode of ['whole', 'expired', 'broken'] as const) {
  const result = mode === 'whole' ? 'there is no gap' : 'the gap stays';
  test(`amail 5: with deliveries that are ${mode} ${result}`, async () => {
    using home = scratch();
    const am = createAm(home);
    await using server = await fakeAgentMail();
    for (const name of ['ada', 'quiet']) server.addAgent(name);
    const rig = createRig(server, undefined, am.run);
    const delivered = { ada: createDelivered(), quiet: createDelivered() };
    const run = async (): Promise<void> => {
      await using source = rig.open();
      for (const name of ['ada', 'quiet'] as const) {
        const watched = watchPersona(source, await find(source, at(name)), rig.clock, delivered[name]);
        for (let n = 0; n < 3; n += 1) await watched.poll();
      }
    };
    server.deliver({ to: ['ada', 'quiet'], subject: 's1' });
    await run();
    for (let n = 0; n < 1500; n += 1) server.deliver({ to: [n % 50 === 0 ? 'ada' : 'bo'], subject: `s${n}` });
    const list = (name: string) =>
      server.mail.flatMap(({ id, readBy, subject, sender: from, createdTs: delivered_ts }) =>
        readBy.has(name) ? [{ cursor: id + 30, message_id: id, kind: 'to', delivered_ts, subject, from }] : [],
      );
    am.write({ ada: list('ada'), quiet: list('quiet') }, mode);
    await run();
    await run();
    const gaps = (['ada', 'quiet'] as const).map(
      (name) => delivered[name].events.filter((event) => event.event === 'alert' && event.reason === 'gap').length,
    );
    const mail = delivered.ada.events.filter(({ event }) => event === 'new');
    const calls = home.text('bin/calls').trim().split('\n');
    if (mode === 'whole') {
      assert.deepEqual([gaps, mail.length], [[0, 0], 31]);
      const missed = mail[1] as unknown as Record<string, unknown>;
      assert.deepEqual([missed.id, missed.subject, 'content' in missed], [2, 's0', false]);
      assert.equal(calls.length, 3, 'two pages for one agent, one for the other');
    } else {
      assert.deepEqual([gaps, mail.length], [[1, 1], mode === 'expired' ? 30 : 21]);
    }
    const folder = `/${PROJECT.replaceAll('-', '/')}`;
    const flags = '--limit=1000 --host=127.0.0.1 --port=8765 --format=json';
    assert.equal(calls[0], `inbox-events --project=${folder} --agent=ada --after=0 ${flags}`);
  });
}

for (const when of ['while it is watched', 'between two processes'] as const) {
  test(`amail 6: a store that is built again ${when} is seed_ahead, and nothing is delivered twice`, async () => {
    await using server = await fakeAgentMail();
    for (const name of ['ada', 'bo']) server.addAgent(name);
    const rig = createRig(server);
    const delivered = createDelivered();
    let source = rig.open();
    const open = async () => watchPersona(source, await find(source, at('ada')), rig.clock, delivered);
    let watched = await open();
    for (const body of ['one', 'two', 'three', 'four']) server.deliver({ to: ['ada'], body });
    await watched.poll();
    const newest = server.deliver({ to: ['ada'], body: 'gone' });
    await watched.poll();
    server.remove(1, 3, newest);
    server.markRead('ada');
    await watched.poll();
    assert.ok(!delivered.events.some(({ event }) => event === 'seed_ahead'), 'a removal is no other numbering');
    const all = server.mail.splice(0);
    if (when === 'between two processes') {
      await source[Symbol.asyncDispose]();
      source = rig.open();
    }
    // An archive is read message by message, and the server answers meanwhile.
    for (let n = 0; n <= all.length; n += 1) {
      server.mail.splice(0, server.mail.length, ...all.slice(0, n));
      server.rebuild();
      if (n === 0 && when === 'between two processes') watched = await open();
      await watched.poll();
      await watched.poll();
    }
    assert.deepEqual(listTexts(delivered), ['one', 'two', 'three', 'four', 'gone']);
    assert.ok(delivered.events.some(({ event }) => event === 'seed_ahead'));
    server.deliver({ to: ['ada'], body: 'five' });
    await watched.poll();
    await watched.poll();
    assert.deepEqual(listTexts(delivered), ['one', 'two', 'three', 'four', 'gone', 'five']);
    const ids = delivered.events.flatMap((event) => (event.event === 'new' ? [event.event_id] : []));
    assert.equal(new Set(ids).size, 6);
    await source[Symbol.asyncDispose]();
  });
}

test('amail 7: a server that stops is an outage after alertAfter polls, never 0 unread, and one recovered follows', async () => {
  await using server = await fakeAgentMail();
  server.addAgent('ada');
  server.deliver({ to: ['ada'] });
  const rig = createRig(server);
  await using source = rig.open();
  const persona = await find(source, at('ada'));
  const delivered = createDelivered();
  const watched = watchPersona(source, persona, rig.clock, delivered);
  await watched.poll();
  await server.refuse();
  for (let n = 0; n < 4; n += 1) {
    rig.clock.jump(10_000);
    const outcome = await watched.poll();
    assert.ok(outcome.is === 'failed' && outcome.fault.code === 'refused' && outcome.fault.scope.is === 'source');
    assert.equal(watched.watcher.state.health.is, n < 2 ? 'failing' : 'down');
  }
  await assert.rejects(async () => await source.pending?.once(never), Fault);
  await server.heal();
  rig.clock.jump(10_000);
  assert.deepEqual((await source.poll(persona, UNSET, never)).unread, exactly(1));
  for (let n = 0; n < 3; n += 1) await watched.poll();
  assert.deepEqual(
    delivered.events.map(({ event }) => event),
    ['persona_added', 'armed', 'new', 'alert', 'recovered'],
  );
});

test('amail 7: the token, an old server and a degraded one each say what they are', async () => {
  await using server = await fakeAgentMail();
  server.addAgent('ada');
  server.deliver({ to: ['ada'] });
  const rig = createRig(server);
  await using source = rig.open();
  const persona = await find(source, at('ada'));
  const poll = async () => {
    rig.clock.jump(10_000);
    return await source.poll(persona, UNSET, never);
  };
  const codes: string[] = [];
  for (const status of [401, 403, 404]) {
    server.fail({ is: 'status', status });
    await assert.rejects(poll, (error) => error instanceof Fault && codes.push(error.code) > 0);
  }
  assert.deepEqual(codes, ['amail-token', 'amail-token', 'amail-too-old']);
  await server.heal();
  assert.equal((await poll()).agentState.why, 'not-reported');
  server.fail({ is: 'status', status: 503 });
  const { unread, agentState } = await poll();
  assert.deepEqual([unread, agentState], [exactly(1), { is: 'unknown', why: 'degraded' }]);
  await server.heal();
  server.setExtra({ recovery: { mode: 'degraded_read_only' } });
  assert.equal((await poll()).agentState.why, 'degraded');
});

test('amail 8: a body of 8 MiB gives content of 220 code points, and memory does not grow for good', async () => {
  await using server = await fakeAgentMail();
  server.addAgent('ada');
  const rig = createRig(server);
  await using source = rig.open();
  const persona = await find(source, at('ada'));
  const sizes: number[] = [];
  for (let n = 0; n < 12; n += 1) {
    server.mail.length = 0;
    const id = server.deliver({ to: ['ada'], body: '\u{1F41D}"\n'.repeat(2 ** 20) });
    rig.clock.jump(10_000);
    const { evidence } = await source.poll(persona, { is: 'at', id: id - 1 }, never);
    assert.ok(evidence.is === 'log');
    assert.equal([...(evidence.messages[0]?.content ?? '')].length, 220);
    server.mail.length = 0;
    sizes.push(countUsedBytes());
  }
  // A connection may hold the last body for a while. Were each held, the second half would have six more.
  const [before, after] = [Math.max(...sizes.slice(0, 6)), Math.max(...sizes.slice(-6))];
  assert.ok(after < before + 12 * 2 ** 20, `grew: ${sizes.map((size) => size >> 20).join(' ')} MiB`);
});

test('amail 8: mail over the limit of an answer is read in smaller windows', async () => {
  await using server = await fakeAgentMail();
  server.addAgent('ada');
  for (let n = 0; n < 40; n += 1) server.deliver({ to: ['ada'], body: `${n} ${'x'.repeat(2 ** 20)}` });
  const rig = createRig(server);
  await using source = rig.open();
  const { unread, evidence } = await source.poll(await find(source, at('ada')), UNSET, never);
  assert.ok(evidence.is === 'log' && evidence.messages.length > 0);
  assert.deepEqual(unread, { is: 'atLeast', n: evidence.messages.length });
});

function countUsedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('amail 9: one name in two projects has two ids, and each keeps its own when the other leaves', async () => {
  await using server = await fakeAgentMail();
  server.addProject('p-one', '/srv/one');
  server.addProject('p-two', '/opt/two');
  for (const project of ['p-one', 'p-two']) server.addAgent('ada', project);
  server.addAgent('bo', 'p-one');
  const rig = createRig(server);
  const list = async (source: AmailSource) =>
    Object.fromEntries((await source.personas(never)).map(({ address, id, label }) => [address, `${id} ${label}`]));
  {
    await using source = rig.open();
    assert.deepEqual(await list(source), {
      'p-one/ada': 'amail-ada@one ada · one',
      'p-one/bo': 'amail-bo bo · one',
      'p-two/ada': 'amail-ada@two ada · two',
    });
    server.removeAgent('ada', 'p-one');
    assert.equal((await list(source))['p-two/ada'], 'amail-ada@two ada · two');
    assert.equal(source.isGone?.(source.named('p-one/ada')), true);
    assert.equal(source.isGone?.(source.named('p-two/ada')), false);
    server.addAgent('bo', 'p-two');
    assert.equal((await list(source))['p-two/bo'], 'amail-bo@two bo · two', 'who was first keeps the short id');
  }
  await using source = rig.open();
  assert.equal((await list(source))['p-two/ada'], 'amail-ada@two ada · two', 'also in the next process');
});

test('amail 10: an answer without recipient_read gives unknown counts, never 0, and delivers all the same', async () => {
  await using server = await fakeAgentMail({ server: 'python' });
  for (const name of ['ada', 'bo']) server.addAgent(name);
  const rig = createRig(server);
  await using source = rig.open();
  server.deliver({ to: ['bo'], body: 'zero' });
  const persona = await find(source, at('ada'));
  const delivered = createDelivered();
  const watched = watchPersona(source, persona, rig.clock, delivered);
  await watched.poll();
  assert.deepEqual((await source.poll(persona, UNSET, never)).unread, UNKNOWN, 'also without any mail');
  server.deliver({ to: ['ada', 'bo'], body: 'one' });
  await watched.poll();
  assert.deepEqual(listTexts(delivered), ['one']);
  for (const name of ['ada', 'bo']) {
    const { unread, urgent } = await source.poll(source.named(at(name)), UNSET, never);
    assert.deepEqual([unread, urgent], [UNKNOWN, UNKNOWN]);
  }
  const counts = await source.pending?.once(never);
  assert.deepEqual(
    [...(counts?.byAddress.values() ?? [])],
    [
      { unread: UNKNOWN, urgent: UNKNOWN },
      { unread: UNKNOWN, urgent: UNKNOWN },
    ],
  );
  // It hides an error of its store behind an empty answer.
  server.mail.length = 0;
  rig.clock.jump(10_000);
  await assert.rejects(
    async () => await source.poll(persona, UNSET, never),
    (error) => error instanceof Fault && error.code === 'amail-answer',
  );
});

test('amail 10: one message that does not say who has read it makes the counts of its readers unknown', async () => {
  await using server = await fakeAgentMail();
  for (const name of ['ada', 'bo']) server.addAgent(name);
  server.deliver({ to: ['ada'] });
  server.deliver({ to: ['bo'] });
  server.fail({
    is: 'edit',
    edit(answer) {
      for (const message of (answer.messages ?? []) as Record<string, unknown>[])
        if (message.id === 1) message.recipient_read = null;
      return answer;
    },
  });
  await using source = createRig(server).open();
  assert.deepEqual((await source.poll(await find(source, at('ada')), UNSET, never)).unread, UNKNOWN);
  assert.deepEqual((await source.poll(await find(source, at('bo')), UNSET, never)).unread, exactly(1));
});

test('amail 12: the line of a message with U+2028, ANSI and bidirectional characters is one line that no terminal acts on', async () => {
  await using server = await fakeAgentMail();
  server.addAgent('ada');
  const rig = createRig(server);
  await using source = rig.open();
  const delivered = createDelivered();
  const watched = watchPersona(source, await find(source, at('ada')), rig.clock, delivered);
  await watched.poll();
  const evil = 'a\u2028b\u001b[31mc\u0000d\ud800e\u202ef';
  server.deliver({ to: ['ada'], from: evil, subject: evil, body: evil });
  await watched.poll();
  const event = delivered.events.find((each) => each.event === 'new') ?? assert.fail('no mail');
  const line = formatEventLine(event);
  for (const character of ['\u2028', '\u001b', '\0', '\ud800']) assert.ok(!line.includes(character), line);
  assert.equal(line.split('\n').length, 2);
  assert.equal((event as unknown as { subject: string }).subject, 'a\u2028b\u001b[31mcd\ufffde\u202ef');
});

test('a signal file brings the mail 2 s later, and mail for an agent that was not listed brings the agent', async () => {
  using home = scratch();
  await using server = await fakeAgentMail({ signals: home.at('signals') });
  server.addAgent('ada');
  server.deliver({ to: ['ada'] }); // makes the directory
  const rig = createRig(server, home.at('signals'));
  await using source = rig.open();
  const woken: string[] = [];
  await source.personas(never);
  using _ = source.hints?.((address) => void woken.push(address)) as Disposable;
  await source.poll(source.named(at('ada')), UNSET, never);
  rig.clock.jump(31_000);
  const began = performance.now();
  server.addAgent('new');
  server.deliver({ to: ['new', 'retired'] });
  server.deliver({ to: ['ada'] });
  await until('both are woken', () => woken.includes(at('ada')) && woken.includes(at('new')));
  const took = performance.now() - began;
  assert.ok(took > 1500 && took < 8000, `${took} ms`);
  assert.ok(!woken.includes(at('retired')), 'the server does not list it');
  const asked = server.requests.filter((request) => request.includes('/agents')).length;
  await sleep(50);
  assert.equal(asked, 2);
});

test('a look that nobody waits for any more ends, and the next one begins anew', async () => {
  await using server = await fakeAgentMail();
  server.addAgent('ada');
  const rig = createRig(server);
  await using source = rig.open();
  const persona = await find(source, at('ada'));
  server.fail({ is: 'hang' });
  const abort = new AbortController();
  const polls = [1, 2].map(async () => await source.poll(persona, UNSET, abort.signal));
  await sleep(20);
  abort.abort();
  for (const poll of polls) await assert.rejects(poll);
  await server.heal();
  assert.deepEqual((await source.poll(persona, UNSET, never)).unread, exactly(0));
});
