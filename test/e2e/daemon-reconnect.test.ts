import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Fsm, RingWhy } from '../../core/link/index.ts';
import { type DaemonHome, type DaemonOptions, type DaemonProcess, daemonHome } from '../kit/daemon-process.ts';
import { shimNotes, standInShim } from '../kit/shim-record.ts';
import { until } from '../kit/until.ts';
import { type ReferenceUpstream, referenceUpstream, type UpstreamPersona } from '../kit/upstream/index.ts';

/** So fast that minutes pass in seconds, and a busy machine is still no computer that slept. */
const FASTER = 10;
/** Often enough for a daemon whose time runs fast. */
const PINGS = { pingMs: 50 };

interface Scene extends AsyncDisposable {
  readonly up: ReferenceUpstream;
  readonly ada: UpstreamPersona;
  readonly home: DaemonHome;
  readonly daemon: DaemonProcess;
  /** Doorbells that came out of it by any way. */
  rings(): number;
  /** The answer's `why`. */
  turnBoundary(): Promise<RingWhy>;
  /** Waits until so much of the daemon's own time has passed. */
  later(seconds: number): Promise<void>;
}

async function scene(options: DaemonOptions = { faster: FASTER }, wakeIdle = false): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const up = stack.use(await referenceUpstream(PINGS));
  const home = stack.use(daemonHome());
  const ada = up.persona('acme', 'ada');
  const record = join(home.project, 'shim');
  home.install(ada, up, { surface: 'codex', wakeIdle, shim: { command: standInShim(record) } });
  const daemon = stack.use(await home.start(ada, options));
  await daemon.connected();
  let rung = 0;
  const saved = stack.move();
  return {
    up,
    ada,
    home,
    daemon,
    rings: () => rung + shimNotes(record).filter(({ asked }) => asked?.call === 'notify_surface').length,
    async turnBoundary() {
      const { emitted, why } = await daemon.turnBoundary();
      assert.equal(emitted, why === 'rung');
      rung += Number(emitted);
      return why;
    },
    async later(seconds) {
      const { uptime_s: from } = await daemon.status();
      await daemon.until(`${seconds} s passed`, ({ uptime_s: now }) => now >= from + seconds);
    },
    [Symbol.asyncDispose]: () => saved[Symbol.asyncDispose](),
  };
}

const path = async (daemon: DaemonProcess): Promise<string> => {
  const { transitions } = await daemon.status();
  const short = (fsm: Fsm): string => fsm[0] ?? '';
  return transitions.map(({ from, to }, i) => (i === 0 ? short(from) : '') + short(to)).join('');
};

describe('persona daemon check 5: the recorded transitions are exactly the legal ones', () => {
  test('a connection that is cut, and a ring after it', async () => {
    await using s = await scene();
    s.up.cut();
    await s.daemon.until('it is back', ({ transitions }) => transitions.length === 5);
    s.ada.signals(1);
    await s.daemon.until('it knows', ({ pending }) => pending.count === 1);
    assert.equal(await s.turnBoundary(), 'rung');
    await s.daemon.until('it was taken', ({ fsm }) => fsm === 'CONNECTED');
    assert.equal(await path(s.daemon), 'DRCDRCEC');
  });

  test('an upstream that does not say what is pending: nothing rings, the stream is kept, and it is asked again', async () => {
    await using s = await scene();
    s.up.faults.pending = { is: 'status', status: 500 };
    s.up.cut();
    await s.daemon.until('it reconciles', ({ fsm, last_error_class: error }) => {
      return fsm === 'RECONCILING' && error === 'pending_reconcile_failed';
    });
    s.ada.signals(3);
    assert.equal(await s.turnBoundary(), 'reconciling');
    s.up.faults.pending = { is: 'bad-json' };
    const asked = s.up.recording.asked('GET', '/v1/signals/pending').length;
    await until('it asks on', () => s.up.recording.asked('GET', '/v1/signals/pending').length > asked + 2);
    s.up.faults.pending = null;
    const { pending } = await s.daemon.connected();
    assert.equal(pending.count, 3);
    assert.equal(await path(s.daemon), 'DRCDRC');
    assert.equal(s.up.recording.list('upgrade').length, 2);
    assert.equal(s.rings(), 0);
  });

  test('a connection that is half open: silence ends it, and what came meanwhile is known after it', async () => {
    await using s = await scene({ faster: 40 });
    s.up.faults.halfOpen = true;
    s.ada.signals(2);
    await s.daemon.until('it is given up', ({ last_error_class: error }) => error === 'ws_stream_stalled');
    await s.up.heal();
    await s.daemon.until('what came meanwhile is known', ({ pending }) => pending.fresh && pending.count === 2);
    // While the upstream says no welcome it is DISCONNECTED, however often it tries.
    assert.equal(await path(s.daemon), 'DRCDRC');
    assert.equal(s.rings(), 0);
  });
});

test('persona daemon check 6: twelve signals behind a cut connection ring nothing when it is back, and one doorbell at the next boundary', async () => {
  await using s = await scene();
  await s.up.refuse();
  await s.daemon.until('it is cut off', ({ fsm }) => fsm === 'DISCONNECTED');
  s.ada.signals(12);
  assert.equal(await s.turnBoundary(), 'disconnected');
  await s.up.heal();
  await s.daemon.until('it is back', ({ pending }) => pending.fresh && pending.count === 12);
  await s.later(5);
  assert.equal(s.rings(), 0);
  assert.equal(await s.turnBoundary(), 'rung');
  for (let turn = 1; turn <= 11; turn += 1) assert.equal(await s.turnBoundary(), 'outstanding');
  assert.equal(s.rings(), 1);
  assert.equal(s.ada.drain().items.length, 12);
  s.ada.signals(1);
  await s.daemon.until('it was drained, and one came', (now) => now.outstanding === null && now.pending.count === 1);
  assert.equal(await s.turnBoundary(), 'rung');
  assert.equal(s.rings(), 2);
});

describe('a daemon whose upstream goes and comes', () => {
  test('it tries again ever more slowly, and is back within a step once the upstream is', async () => {
    await using s = await scene();
    await s.up.refuse();
    await s.daemon.until('some attempts failed', ({ ws }) => ws.attempts >= 4);
    const { last_error_class: error, taxonomy } = await s.daemon.status();
    assert.deepEqual([error, taxonomy], ['ws_connect_failed', 'restarting']);
    const { ws: before } = await s.daemon.status();
    await s.up.heal();
    const { ws } = await s.daemon.connected();
    assert.ok(ws.attempts <= before.attempts + 1, `${before.attempts} attempts before, ${ws.attempts} after`);
    assert.equal(s.rings(), 0);
  });

  test('what was rung is not rung again after a new connection; what was drained meanwhile is', async () => {
    await using s = await scene();
    s.ada.signals(1);
    await s.daemon.until('it knows', ({ pending }) => pending.count === 1);
    assert.equal(await s.turnBoundary(), 'rung');
    s.up.cut();
    await s.daemon.until('it is back', ({ ws, pending, fsm }) => ws.connected && fsm === 'CONNECTED' && pending.fresh);
    assert.equal(await s.turnBoundary(), 'outstanding');
    await s.up.refuse();
    await s.daemon.until('it is cut off', ({ fsm }) => fsm === 'DISCONNECTED');
    s.ada.drain();
    await s.up.heal();
    await s.daemon.until('it is back', ({ fsm, outstanding }) => fsm === 'CONNECTED' && outstanding === null);
    s.ada.signals(1);
    await s.daemon.until('it knows', ({ pending }) => pending.count === 1);
    assert.equal(await s.turnBoundary(), 'rung');
  });

  test('a `drained` that is lost: it rings again at a later boundary, once ten minutes have passed', async () => {
    await using s = await scene({ faster: 100 });
    s.ada.signals(2);
    await s.daemon.until('it knows', ({ pending }) => pending.count === 2);
    assert.equal(await s.turnBoundary(), 'rung');
    s.up.faults.dropDrained = true;
    s.ada.drain(1);
    assert.equal(await s.turnBoundary(), 'outstanding');
    await s.later(600);
    // On a machine that is busy its time may have leapt, and it connects anew.
    let why = await s.turnBoundary();
    for (; why === 'disconnected' || why === 'reconciling'; why = await s.turnBoundary()) await s.daemon.connected();
    assert.equal(why, 'rung');
    assert.equal(s.rings(), 2);
  });

  test('a computer that slept: the connection is not trusted, and nothing rings for it', async () => {
    await using s = await scene({ faster: 40 });
    s.ada.signals(1);
    await s.daemon.until('it knows', ({ pending }) => pending.count === 1);
    process.kill(s.daemon.pid, 'SIGSTOP');
    const asleep = performance.now();
    await until('half a minute of its time passed', () => performance.now() - asleep > 30_000 / 40);
    process.kill(s.daemon.pid, 'SIGCONT');
    await s.daemon.until('it was disconnected', ({ transitions }) =>
      transitions.some(({ to }) => to === 'DISCONNECTED'),
    );
    await s.daemon.connected();
    assert.match(await path(s.daemon), /^DRC(DRC)+$/);
    assert.equal(s.rings(), 0);
    assert.equal(await s.turnBoundary(), 'rung');
  });

  for (const [name, ms] of [
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ] as const) {
    test(`a clock that jumps an hour ${name} rings nothing and loses nothing`, async () => {
      await using s = await scene({ faster: FASTER, env: { JUMP_MS: String(ms) } });
      s.ada.signals(2);
      await s.daemon.until('it knows', ({ pending }) => pending.count === 2);
      process.kill(s.daemon.pid, 'SIGUSR2');
      await s.later(12);
      const { pending } = await s.daemon.connected();
      assert.deepEqual([pending.count, s.rings()], [2, 0]);
      assert.equal(await s.turnBoundary(), 'rung');
      assert.equal(await s.turnBoundary(), 'outstanding');
    });
  }

  test('its heartbeats count up, and say how it is', async () => {
    await using up = await referenceUpstream({ heartbeatMs: 60 });
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up);
    await using daemon = await home.start(ada);
    await daemon.connected();
    ada.signals(3);
    const beats = () => up.recording.received('heartbeat').map(({ frame }) => frame);
    await until('one says what waits', () => beats().some(({ pending_depth: depth }) => depth === 3));
    const [first] = beats();
    const last = beats().at(-1);
    assert.deepEqual(
      beats().map(({ seq }) => seq),
      beats().map((_, i) => Number(first?.seq) + i),
    );
    assert.deepEqual(Object.keys(last ?? {}).sort(), [
      'drain_age_s',
      'fsm',
      'pending_depth',
      'seq',
      'taxonomy',
      'type',
    ]);
    assert.equal(last?.fsm, 'CONNECTED');
  });
});
