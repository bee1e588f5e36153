import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { desktopMissing, poll, skipUnless } from '../../test/kit/desktop/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { splitTypes } from './bus-connection.node.ts';
import { BusError, type BusInterface, type BusState, openSessionBus, type SessionBus } from './index.ts';
import { findBusAddress } from './session-bus.ts';

const dir = mkdtempSync(join(tmpdir(), 'hivebar-bus-'));
const socket = join(dir, 'bus');
const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}` };
let daemon: ChildProcess;

async function startDaemon(): Promise<void> {
  daemon = spawn('dbus-daemon', ['--session', '--nofork', '--nopidfile', `--address=unix:path=${socket}`], {
    stdio: 'ignore',
  });
  await poll(
    () => 'bus',
    () => existsSync(socket) || null,
  );
}

async function killDaemon(): Promise<void> {
  const ended = once(daemon, 'exit');
  daemon.kill('SIGKILL');
  await ended;
  rmSync(socket, { force: true });
}

async function joinBus(clock = realClock): Promise<SessionBus> {
  const bus = await openSessionBus({ env, log: silentLog, clock });
  assert.ok(bus.is === 'bus');
  return bus;
}

const findUniqueName = (bus: SessionBus): string => (bus.state.is === 'connected' ? bus.state.uniqueName : '');

const thing = (bus: SessionBus): BusInterface => ({
  name: 'com.example.Thing',
  methods: {
    Hello: {
      in: 's',
      out: 'sv',
      run: ([name]) => [`hello ${name}`, bus.variant('a(iiay)', [[1, 1, Buffer.from('abcd')]])],
    },
    Fail: {
      in: '',
      out: '',
      run: () => {
        throw new Error('no can do');
      },
    },
  },
  signals: { Changed: 's' },
  properties: { Size: { signature: 'i', get: () => 4 } },
});

const on = (bus: SessionBus, member: string, signature = '', body: readonly unknown[] = []) => ({
  dest: findUniqueName(bus),
  path: '/thing',
  iface: 'com.example.Thing',
  member,
  signature,
  body,
});

describe('one connection to the session bus', { skip: skipUnless(desktopMissing()) }, () => {
  before(startDaemon);
  after(async () => {
    await killDaemon();
    rmSync(dir, { recursive: true });
  });

  test('an object given as a table answers calls, properties and introspection', async () => {
    await using server = await joinBus();
    await using client = await joinBus();
    using _ = server.serve('/thing', [thing(server)]);
    const [text, value] = await client.call(on(server, 'Hello', 's', ['you']));
    assert.equal(text, 'hello you');
    assert.deepEqual((value as { value: unknown }).value, [[1, 1, Buffer.from('abcd')]]);
    const standard = { dest: findUniqueName(server), path: '/thing' };
    const [xml] = await client.call({
      ...standard,
      iface: 'org.freedesktop.DBus.Introspectable',
      member: 'Introspect',
    });
    assert.match(String(xml), /<method name="Hello"><arg type="s" direction="in"\/><arg type="s" direction="out"\/>/);
    const properties = { ...standard, iface: 'org.freedesktop.DBus.Properties' };
    const all = await client.call({ ...properties, member: 'GetAll', signature: 's', body: ['com.example.Thing'] });
    assert.equal((all[0] as Record<string, { value: unknown }>).Size?.value, 4);
  });

  test('what is asked wrongly gets an error that names it, and nothing breaks', async () => {
    await using server = await joinBus();
    await using client = await joinBus();
    using _ = server.serve('/thing', [thing(server)]);
    const refusal = async (call: ReturnType<typeof on>): Promise<string> =>
      client.call(call).then(
        () => 'answered',
        (error: unknown) =>
          error instanceof BusError ? `${error.is} ${error.errorName?.split('.').at(-1)}` : 'thrown',
      );
    assert.equal(await refusal(on(server, 'Nope')), 'answered UnknownMethod');
    assert.equal(await refusal(on(server, 'toString')), 'answered UnknownMethod');
    assert.equal(await refusal(on(server, 'Hello', 'i', [1])), 'answered InvalidArgs');
    assert.equal(await refusal(on(server, 'Fail')), 'answered Failed');
    assert.equal(await refusal({ ...on(server, 'Hello'), path: '/other' }), 'answered UnknownObject');
    assert.equal(await refusal({ ...on(server, 'Hello'), dest: 'com.example.Nobody' }), 'answered ServiceUnknown');
    assert.equal((await client.call(on(server, 'Hello', 's', ['you'])))[0], 'hello you');
  });

  test('a signal counts only when it comes from the owner of the name', async () => {
    await using server = await joinBus();
    await using stranger = await joinBus();
    await using client = await joinBus();
    const real = server.serve('/thing', [thing(server)]);
    const forged = stranger.serve('/thing', [thing(stranger)]);
    await own(server, 'com.example.Thing');
    const heard: unknown[] = [];
    using _ = client.signals({ sender: 'com.example.Thing', iface: 'com.example.Thing' }, (s) => heard.push(s.body[0]));
    await ownerIs(client, 'com.example.Thing', findUniqueName(server));
    const reached: unknown[] = []; // the forgery does reach the connection, past the bus's own filter
    const ofStranger = { sender: findUniqueName(stranger), iface: 'com.example.Thing' };
    using _forged = client.signals(ofStranger, (s) => reached.push(s.body[0]));
    await client.call(on(server, 'Hello', 's', ['x']));
    forged.emit('com.example.Thing', 'Changed', ['forged']);
    await poll(
      () => 'forgery',
      () => reached.length > 0 || null,
    );
    real.emit('com.example.Thing', 'Changed', ['real']);
    await poll(
      () => 'signal',
      () => heard.length > 0 || null,
    );
    assert.deepEqual(heard, ['real']);
  });

  test('the owner of a name is told at once and at each change', async () => {
    await using server = await joinBus();
    await using client = await joinBus();
    const seen: (string | null)[] = [];
    using _ = client.owner('com.example.Shop', (owner) => seen.push(owner));
    await poll(
      () => 'first word',
      () => seen.length === 1 || null,
    );
    await own(server, 'com.example.Shop');
    const name = findUniqueName(server);
    await poll(
      () => 'owner',
      () => seen.at(-1) === name || null,
    );
    await server[Symbol.asyncDispose]();
    await poll(
      () => 'end',
      () => seen.at(-1) === null || null,
    );
    assert.deepEqual(seen, [null, name, null]);
  });

  test('when the bus dies, waiting calls fail, and all is as it was once it is back', async () => {
    await using server = await joinBus();
    await using client = await joinBus();
    const states: BusState['is'][] = [];
    using _a = server.states((state) => states.push(state.is));
    using served = server.serve('/thing', [thing(server)]);
    const outcome = await whileStopped(async () => {
      const waiting = client.call({ ...on(server, 'Hello', 's', ['you']), timeoutMs: 60_000 });
      const [how] = await Promise.all([waiting.then(String, (error: unknown) => (error as BusError).is), killDaemon()]);
      return how;
    });
    assert.equal(outcome, 'gone');
    await poll(
      () => 'loss',
      () => server.state.is === 'gone' || null,
    );
    await assert.rejects(server.call(on(server, 'Hello')), { is: 'gone' });
    served.emit('com.example.Thing', 'Changed', ['into the void']);
    await startDaemon();
    await poll(
      () => 'both back',
      () => (server.state.is === 'connected' && client.state.is === 'connected') || null,
    );
    assert.deepEqual(states, ['gone', 'connected']);
    assert.equal((await client.call(on(server, 'Hello', 's', ['again'])))[0], 'hello again');
  });

  test('a call that nobody answers ends in time', async () => {
    await using server = await joinBus();
    await whileStopped(async () => {
      const call = { ...on(server, 'Hello', 's', ['x']), timeoutMs: 50 };
      await assert.rejects(server.call(call), { name: 'BusError', is: 'time', message: /no answer in 50 ms/ });
    });
  });

  test('disposed, it tries no more and leaves no timer', async () => {
    const clock = fakeClock();
    await killDaemon();
    const bus = await joinBus(clock);
    assert.equal(bus.state.is, 'gone');
    assert.equal(clock.waiting, 1);
    await bus[Symbol.asyncDispose]();
    assert.equal(clock.waiting, 0);
    assert.equal(bus.state.is, 'closed');
    await startDaemon();
  });
});

test('a socket that accepts and says nothing is given up after five seconds, and tried again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hivebar-bus-'));
  const path = join(folder, 'bus');
  const server = createServer().listen(path);
  await once(server, 'listening');
  const clock = fakeClock();
  const accepted = once(server, 'connection');
  const opening = openSessionBus({ env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` }, log: silentLog, clock });
  await accepted;
  await clock.advance(5000);
  const bus = await opening;
  assert.ok(bus.is === 'bus' && bus.state.is === 'gone');
  assert.match(bus.state.why, /no answer from the bus/);
  await bus[Symbol.asyncDispose]();
  server.close();
  rmSync(folder, { recursive: true });
});

test('where the bus is: the address, else the socket of the runtime folder, else nowhere', async () => {
  assert.deepEqual(findBusAddress({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/a', XDG_RUNTIME_DIR: '/run' }), {
    is: 'address',
    address: 'unix:path=/a',
  });
  assert.deepEqual(findBusAddress({ XDG_RUNTIME_DIR: '/run/user/1/' }), {
    is: 'if-exists',
    path: '/run/user/1/bus',
    address: 'unix:path=/run/user/1/bus',
  });
  assert.equal(findBusAddress({ XDG_RUNTIME_DIR: 'relative' }).is, 'none');
  const none = await openSessionBus({ env: { XDG_RUNTIME_DIR: '/nowhere' }, log: silentLog, clock: realClock });
  assert.deepEqual(none, {
    is: 'none',
    why: 'DBUS_SESSION_BUS_ADDRESS is not set and /nowhere/bus does not exist',
  });
});

test('a signature splits into complete types', () => {
  assert.deepEqual(splitTypes('ia{sv}av(sa(iiay)ss)'), ['i', 'a{sv}', 'av', '(sa(iiay)ss)']);
  assert.deepEqual(splitTypes(''), []);
});

/** The bus holds still meanwhile: it takes calls and answers none. */
async function whileStopped<T>(run: () => Promise<T>): Promise<T> {
  daemon.kill('SIGSTOP');
  try {
    return await run();
  } finally {
    daemon.kill('SIGCONT');
  }
}

async function own(bus: SessionBus, name: string): Promise<void> {
  const busPeer = 'org.freedesktop.DBus';
  const call = { dest: busPeer, path: '/org/freedesktop/DBus', iface: busPeer, member: 'RequestName' };
  await bus.call({ ...call, signature: 'su', body: [name, 0] });
}

function ownerIs(bus: SessionBus, name: string, owner: string): Promise<void> {
  return new Promise((resolve) => {
    const observer = bus.owner(name, (now) => {
      if (now !== owner) return;
      observer[Symbol.dispose]();
      resolve();
    });
  });
}
