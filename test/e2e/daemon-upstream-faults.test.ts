import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ERROR_CLASSES, type ErrorClass } from '../../core/link/index.ts';
import { wireTo } from '../kit/daemon-link.ts';
import { type DaemonHome, type DaemonOptions, type DaemonProcess, daemonHome } from '../kit/daemon-process.ts';
import { shimNotes, standInShim } from '../kit/shim-record.ts';
import { until } from '../kit/until.ts';
import { type ReferenceUpstream, referenceUpstream, type UpstreamPersona } from '../kit/upstream/index.ts';

interface Scene extends AsyncDisposable {
  readonly up: ReferenceUpstream;
  readonly ada: UpstreamPersona;
  readonly home: DaemonHome;
  readonly daemon: DaemonProcess;
  upgrades(): number;
}

async function scene(options: DaemonOptions = { faster: 10 }, isReady = true): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const up = stack.use(await referenceUpstream({ pingMs: 50 }));
  const home = stack.use(daemonHome());
  const ada = up.persona('acme', 'ada');
  home.install(ada, up);
  const daemon = stack.use(await home.start(ada, options));
  if (isReady) await daemon.connected();
  const saved = stack.move();
  return {
    ...{ up, ada, home, daemon },
    upgrades: () => up.recording.list('upgrade').length,
    [Symbol.asyncDispose]: () => saved[Symbol.asyncDispose](),
  };
}

/** The counters of its export, those that are not 0. */
async function errors(daemon: DaemonProcess): Promise<Partial<Record<ErrorClass, number>>> {
  const { metrics } = await daemon.status();
  const found = [...metrics.matchAll(/^daemon_errors_total\{.*error_class="(\w+)"\} (\d+)$/gm)];
  assert.equal(found.length, ERROR_CLASSES.length);
  return Object.fromEntries(found.flatMap(([, name, count]) => (Number(count) > 0 ? [[name, Number(count)]] : [])));
}

/** After whatever it was: nothing rang, nothing is lost, and the next boundary rings once. */
async function isSound({ ada, daemon }: Scene, waiting: number): Promise<void> {
  const { outstanding } = await daemon.connected();
  assert.equal(outstanding, null);
  await daemon.until('it knows what waits', ({ pending }) => pending.fresh && pending.count === waiting);
  assert.equal((await daemon.turnBoundary()).why, 'rung');
  await until('it is outstanding', async () => {
    const { why } = await daemon.turnBoundary();
    if (why === 'outstanding') return true;
    // A ring is given up after 2 s, which are 0.1 s on a clock that is 20 times as fast.
    assert.equal(why, 'rung');
    assert.ok(((await errors(daemon)).surface_inject_failed ?? 0) > 0, 'it rang twice');
    return false;
  });
  assert.equal(ada.drain().items.length, waiting);
  await daemon.until('it heard of the drain', (now) => now.outstanding === null && now.pending.count === 0);
}

describe('what comes over the stream of a daemon', () => {
  test('a frame that is no JSON, is too large or is no text ends the connection, as stalled', async () => {
    await using s = await scene();
    s.ada.signals(2);
    for (const [at, frame] of ['hello there', `{"type":"${'x'.repeat(70_000)}"}`, Buffer.from([1, 2, 3])].entries()) {
      await s.daemon.connected();
      await until('it is registered', () => s.ada.streams === 1);
      s.ada.raw(frame);
      await until('it connects anew', () => s.upgrades() === at + 2);
    }
    await s.daemon.connected();
    assert.deepEqual(await errors(s.daemon), { ws_stream_stalled: 3 });
    await isSound(s, 2);
  });

  test('a frame of just under 64 KiB, and one of a kind that is not known, are passed over', async () => {
    await using s = await scene();
    s.ada.raw(JSON.stringify({ type: 'news', text: 'x'.repeat(65_000) }));
    s.ada.send({ type: 'peer_joined', identity: 'ada', surface: 'claude-code' });
    s.ada.send({ type: 'lifecycle', verb: 'explode' });
    s.ada.send({ type: 'pending_changed', rev: 'many' });
    s.ada.signals(1);
    await s.daemon.until('it knows', ({ pending }) => pending.count === 1);
    assert.deepEqual(await errors(s.daemon), {});
    assert.equal(s.upgrades(), 1);
    await isSound(s, 1);
  });

  test('an upstream whose clock is years away is as good as another', async () => {
    await using s = await scene();
    for (const years of [10, -10]) {
      s.up.faults.skewMs = years * 365 * 86_400_000;
      s.ada.signals(1);
      await isSound(s, 1);
    }
    assert.deepEqual(await errors(s.daemon), {});
  });

  test('a storm of pending_changed is one peek or two, and one doorbell', async () => {
    await using s = await scene();
    s.ada.signals(1);
    await s.daemon.until('it knows', ({ pending }) => pending.fresh && pending.count === 1);
    s.up.recording.clear();
    s.up.faults.pending = { is: 'delay', ms: 100 };
    s.ada.signals(1);
    s.ada.burst(500);
    await s.daemon.until('it knows', ({ pending }) => pending.fresh && pending.count === 2);
    assert.ok(s.up.recording.asked('GET', '/v1/signals/pending').length <= 3);
    await isSound(s, 2);
  });

  test('a revision that goes back is not believed, and an upstream that lost its memory is once it registers anew', async () => {
    await using s = await scene();
    s.ada.signals(4);
    await s.daemon.until('it knows', ({ pending }) => pending.count === 4);
    s.ada.queue.setRev(1);
    s.ada.burst(1);
    await s.daemon.until('it says so', ({ last_error_class: error }) => error === 'pending_reconcile_failed');
    const { pending } = await s.daemon.status();
    assert.notEqual(pending.rev, 1);
    s.up.kick(1012);
    await s.daemon.until('it believes the new registration', ({ pending: { rev, fresh } }) => rev === 1 && fresh);
    await isSound(s, 4);
  });

  test('a second welcome on one connection is passed over', async () => {
    await using s = await scene();
    const { transitions: before } = await s.daemon.status();
    s.ada.send({ type: 'welcome', registration_id: 'another', heartbeat_ms: 50, rev: 0 });
    s.ada.signals(1);
    await s.daemon.until('it knows', ({ pending }) => pending.fresh && pending.count === 1);
    const { transitions } = await s.daemon.status();
    assert.deepEqual(transitions, before);
    await isSound(s, 1);
  });

  test('a welcome for another persona ends it: 78', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up);
    up.faults.stream = { is: 'other-identity', identity: 'eve' };
    await using cli = home.spawn(ada);
    assert.equal((await cli.ended()).code, 78);
    assert.match(readFileSync(home.places('ada').log, 'utf8'), /config_invalid/);
  });

  for (const verb of ['wrap', 'archive', 'destroy']) {
    test(`the lifecycle verb ${verb} ends it with 0, and it says why`, async () => {
      await using s = await scene();
      s.ada.send({ type: 'lifecycle', verb });
      assert.equal((await s.daemon.cli.ended()).code, 0);
      await until('its bye', () => s.up.recording.received('bye')[0]?.frame.reason === verb);
    });
  }
});

describe('how the upstream ends a stream', () => {
  test('4401 and 401: a token that is refused is tried seldom, and read anew each time', async () => {
    await using up = await referenceUpstream({ pingMs: 50 });
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install({ ...ada, observe: randomBytes(32).toString('hex') }, up);
    await using daemon = await home.start(ada, { faster: 50 });
    /** Refused, and left alone for two minutes. */
    const waits = async (): Promise<number> => {
      await daemon.until('it is refused', ({ taxonomy }) => taxonomy === 'failed');
      const tried = up.recording.list('upgrade').length;
      const { uptime_s: from } = await daemon.status();
      await daemon.until('two minutes passed', ({ uptime_s: now }) => now > from + 120);
      assert.equal(up.recording.list('upgrade').length, tried);
      return tried;
    };
    const tried = await waits();
    // HTTP says it as well.
    up.faults.stream = { is: 'status', status: 401 };
    await until('it tried again', () => up.recording.list('upgrade').length > tried);
    await waits();
    // Installed again: the token of now is used.
    up.faults.stream = null;
    home.install(ada, up);
    await daemon.connected();
    assert.deepEqual(Object.keys(await errors(daemon)), ['ws_connect_failed']);
  });

  test('4403 ends it with 78, 4410 with 0: neither is to be started again', async () => {
    for (const [code, exit] of [
      [4403, 78],
      [4410, 0],
    ] as const) {
      await using s = await scene();
      s.up.kick(code);
      assert.equal((await s.daemon.cli.ended()).code, exit, String(code));
    }
  });

  test('4409: it does not fight with a daemon that was there first', async () => {
    await using s = await scene({ faster: 20 });
    s.up.kick(4409);
    await s.daemon.until('it is away', ({ fsm }) => fsm === 'DISCONNECTED');
    const { uptime_s: from } = await s.daemon.status();
    await s.daemon.until('half a minute passed', ({ uptime_s: now }) => now > from + 35);
    assert.equal(s.upgrades(), 1);
    await isSoundAfter(s);
  });

  test('4429: it waits as long as it is asked to', async () => {
    await using s = await scene({ faster: 20 });
    s.up.kick(4429, 60_000); // far beyond the half minute that is looked at, on a slow machine too
    await s.daemon.until('it is away', ({ fsm }) => fsm === 'DISCONNECTED');
    const { uptime_s: from } = await s.daemon.status();
    await s.daemon.until('half a minute passed', ({ uptime_s: now }) => now > from + 35);
    assert.equal(s.upgrades(), 1);
    await isSoundAfter(s);
  });

  test('two daemons of one identity on two machines: the second is sent away, and the first goes on', async () => {
    await using s = await scene();
    using elsewhere = daemonHome();
    elsewhere.install(s.ada, s.up);
    await using second = await elsewhere.start(s.ada);
    await second.until('it is sent away', ({ last_error_class: error }) => error === 'ws_connect_failed');
    assert.equal((await s.daemon.status()).fsm, 'CONNECTED');
    assert.deepEqual(s.up.registrations().counts, { daemon: 1, agent: 0 });
    s.ada.signals(1);
    assert.equal((await second.turnBoundary()).why, 'disconnected');
    await isSound(s, 1);
  });

  test('a redirect, a page that is no upstream and a server that says nothing are no connection', async () => {
    await using s = await scene({ faster: 20 });
    for (const status of [302, 404, 500]) {
      s.up.faults.stream = { is: 'status', status };
      const before = s.upgrades();
      s.up.cut();
      await until('it was tried twice', () => s.upgrades() >= before + 2);
      assert.equal((await s.daemon.status()).last_error_class, 'ws_connect_failed');
    }
    s.up.faults.stream = { is: 'mute' };
    const before = s.upgrades();
    await until('it is given up and tried again', () => s.upgrades() >= before + 2);
    s.up.faults.stream = null;
    s.ada.signals(1);
    await isSound(s, 1);
  });

  async function isSoundAfter(s: Scene): Promise<void> {
    s.ada.signals(1);
    await isSound(s, 1);
  }
});

describe('a peek that goes wrong', () => {
  for (const [name, fault] of [
    ['a status', { is: 'status', status: 503 }],
    ['another shape', { is: 'bad-shape' }],
    ['a shape that says more than it may', { is: 'bad-shape', body: 'x'.repeat(10_000) }],
    ['no JSON', { is: 'bad-json' }],
    ['no answer', { is: 'hang' }],
  ] as const) {
    test(`${name}: nothing rings on it, and it is asked again`, async () => {
      await using s = await scene({ faster: 20 });
      s.up.faults.pending = fault;
      s.up.cut();
      s.ada.signals(2);
      // A peek of the old connection may have failed before the new one: only in RECONCILING is it the peek that is meant. Its time
      // runs 20 times as fast, so on a busy machine it may be elsewhere by the time of the boundary.
      await until('a boundary while it reconciles', async () => {
        await s.daemon.until(
          'it reconciles and says so',
          ({ fsm, last_error_class: error }) => fsm === 'RECONCILING' && error === 'pending_reconcile_failed',
        );
        const { why } = await s.daemon.turnBoundary();
        assert.notEqual(why, 'rung');
        return why === 'reconciling';
      });
      s.up.faults.pending = null;
      await isSound(s, 2);
    });
  }
});

test('a surface that hangs in a ring: it was not emitted after 2 s, the signal stays, and the next boundary rings', async () => {
  await using s = await scene();
  s.ada.signals(1);
  await s.daemon.until('it knows', ({ pending }) => pending.count === 1);
  using wire = wireTo(s.daemon.places.socket);
  const token = readFileSync(s.daemon.places.token, 'utf8').trim();
  const turnBoundary = { kind: 'Stop', session: 'a session', turn: 'one that hangs' };
  wire.say(`${JSON.stringify({ v: 1, token, verb: 'notify_surface', boundary: turnBoundary })}\n`);
  await s.daemon.until('it emits', ({ fsm }) => fsm === 'EMITTING');
  assert.equal((await s.daemon.turnBoundary()).why, 'emitting');
  await s.daemon.until('it gave up', ({ fsm, outstanding }) => fsm === 'CONNECTED' && outstanding === null);
  assert.deepEqual(await errors(s.daemon), { surface_inject_failed: 1 });
  await isSound(s, 1);
});

describe('what a daemon does when it is attached to its project', () => {
  /** A package manager that notes where it ran, and ends when it may. */
  function fakeNpm(home: DaemonHome): { readonly env: Record<string, string>; ran(): string; let(exit: number): void } {
    const bin = join(home.project, 'bin');
    const [notes, gate] = [join(home.project, 'ran'), join(home.project, 'gate')];
    mkdirSync(bin, { recursive: true });
    writeFileSync(
      join(bin, 'npm'),
      `#!/bin/sh\necho "$PWD $* $HIVEBAR_AUTONOMY" >>'${notes}'\nuntil [ -s '${gate}' ]; do sleep 0.05; done\nexit "$(cat '${gate}')"\n`,
      { mode: 0o755 },
    );
    writeFileSync(join(home.project, 'package-lock.json'), '{}');
    return {
      env: { PATH: `${bin}:/usr/bin:/bin` },
      ran: () => (existsSync(notes) ? readFileSync(notes, 'utf8') : ''),
      let: (exit) => writeFileSync(gate, String(exit)),
    };
  }

  test('--install-deps runs the package manager of the project before the stream opens, and once', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up);
    const npm = fakeNpm(home);
    const args = ['--install-deps', '--autonomy', 'low'];
    await using daemon = await home.start(ada, { args, env: npm.env });
    await until('it runs', () => npm.ran() !== '');
    assert.equal(npm.ran(), `${home.project} ci low\n`);
    assert.equal((await daemon.status()).fsm, 'DISCONNECTED');
    assert.equal((await daemon.turnBoundary()).why, 'disconnected');
    assert.equal(up.recording.all.length, 0);
    npm.let(0);
    await daemon.connected();
    await daemon.stop();
    await using again = await home.start(ada, { args, env: npm.env });
    await again.connected();
    assert.equal(npm.ran().split('\n').length, 2);
  });

  test('a preparation that fails is told, does not keep it from listening, and is tried at the next start', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up, { installDeps: true });
    const npm = fakeNpm(home);
    npm.let(3);
    await using daemon = await home.start(ada, { env: npm.env });
    await daemon.connected();
    assert.deepEqual(await errors(daemon), { unclassified: 1 });
    await daemon.stop();
    await using again = await home.start(ada, { env: npm.env });
    await again.connected();
    assert.equal(npm.ran().split('\n').length, 3);
  });

  test('a stop while it prepares ends it at once', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up, { installDeps: true });
    const npm = fakeNpm(home);
    await using daemon = await home.start(ada, { env: npm.env });
    await until('it runs', () => npm.ran() !== '');
    assert.equal((await daemon.stop()).code, 0);
    assert.equal(up.recording.all.length, 0);
  });

  test('--activate-venv and --autonomy: the shim is started in the environment of the project', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    const record = join(home.project, 'shim');
    const seen = join(home.project, 'env');
    const inner = standInShim(record)
      .map((word) => `'${word}'`)
      .join(' ');
    home.install(ada, up, {
      surface: 'codex',
      activateVenv: true,
      autonomy: 'high',
      shim: { command: ['/bin/sh', '-c', `echo "$VIRTUAL_ENV|$PATH|$HIVEBAR_AUTONOMY" >'${seen}'; exec ${inner}`] },
    });
    const venv = join(home.project, '.venv');
    mkdirSync(join(venv, 'bin'), { recursive: true });
    await using daemon = await home.start(ada);
    await daemon.connected();
    await until('the shim runs', () => shimNotes(record).length > 0);
    const [virtual, path, autonomy] = readFileSync(seen, 'utf8').trim().split('|');
    assert.deepEqual([virtual, path?.split(':')[0], autonomy], [venv, join(venv, 'bin'), 'high']);
  });
});
