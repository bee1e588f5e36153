import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { wireTo } from '../kit/daemon-link.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../kit/daemon-process.ts';
import { until } from '../kit/until.ts';
import {
  type ReferenceUpstream,
  referenceUpstream,
  type UpstreamPersona,
  type WireEvent,
} from '../kit/upstream/index.ts';

interface Scene extends AsyncDisposable {
  readonly up: ReferenceUpstream;
  readonly ada: UpstreamPersona;
  readonly home: DaemonHome;
  /** Every signal that was ever accepted. */
  readonly accepted: string[];
  signals(count: number): void;
}

async function scene(): Promise<Scene> {
  const up = await referenceUpstream({ pingMs: 100 });
  const home = daemonHome();
  const ada = up.persona('acme', 'ada');
  const accepted: string[] = [];
  home.install(ada, up);
  return {
    up,
    ada,
    home,
    accepted,
    signals: (count) => void accepted.push(...ada.signals(count)),
    async [Symbol.asyncDispose]() {
      home[Symbol.dispose]();
      await up[Symbol.asyncDispose]();
    },
  };
}

/** The drain of a surface, over the wire. @returns how many it took */
async function drain(up: ReferenceUpstream, token: string, max = 5): Promise<number> {
  const answer = await fetch(`${up.url}/v1/signals/pending/drain`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ max }),
  });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { readonly items: readonly unknown[] }).items.length;
}

/** An agent that drains five at a time when a doorbell rings, and at no other moment, until nothing waits. */
async function worked({ up, ada }: Scene, daemon: DaemonProcess): Promise<void> {
  while (ada.queue.pending().count > 0) {
    await daemon.connected();
    const { emitted, why } = await daemon.turnBoundary();
    if (emitted) await drain(up, ada.act);
    else assert.notEqual(why, 'nothing_pending');
    await daemon.until('it heard of the drain', ({ outstanding, fsm }) => outstanding === null || fsm !== 'CONNECTED');
  }
}

/** Whatever was killed: a daemon that starts now has every signal drained, once, and drains none itself. */
async function allIsDrained(s: Scene): Promise<void> {
  await s.up.heal();
  s.signals(1);
  await using daemon = await s.home.start(s.ada);
  await worked(s, daemon);
  assert.deepEqual(s.ada.queue.drainedIds, s.accepted);
  const drains = s.up.recording.asked('POST', '/v1/signals/pending/drain');
  assert.ok(drains.every(({ caller }) => caller === 'surface'));
}

/** Kills it when this was recorded; what it says in the same moment is not heard any more. */
function killAt(up: ReferenceUpstream, pid: () => number, is: (entry: WireEvent) => boolean): Disposable {
  return up.recording.hear((entry) => {
    if (pid() > 0 && is(entry)) process.kill(pid(), 'SIGKILL');
  });
}

describe('persona daemon check 7: the index is a cache: kill -9 anywhere, and every signal is drained exactly once at last', () => {
  test('while it has no connection, and while it waits for a welcome', async () => {
    for (const fault of ['refused', 'mute'] as const) {
      await using s = await scene();
      s.signals(3);
      if (fault === 'refused') await s.up.refuse();
      else s.up.faults.stream = { is: 'mute' };
      await using daemon = await s.home.start(s.ada);
      if (fault === 'mute') await until('its hello', () => s.up.recording.received('hello').length > 0);
      assert.equal((await daemon.status()).fsm, 'DISCONNECTED');
      await daemon.kill();
      await allIsDrained(s);
    }
  });

  test('while it reconciles', async () => {
    await using s = await scene();
    s.signals(3);
    s.up.faults.pending = { is: 'hang' };
    await using daemon = await s.home.start(s.ada);
    await daemon.until('it reconciles', ({ fsm }) => fsm === 'RECONCILING');
    await daemon.kill();
    await allIsDrained(s);
  });

  test('before a ring, in it, after it, and after the drain', async () => {
    for (const moment of ['before', 'in', 'after', 'drained'] as const) {
      await using s = await scene();
      await using daemon = await s.home.start(s.ada);
      await daemon.connected();
      s.signals(7);
      await daemon.until('it knows', ({ pending }) => pending.count === 7);
      if (moment === 'in') {
        // A hook that has its answer and does not go: nobody knows yet whether it was read.
        using wire = wireTo(daemon.places.socket);
        const token = readFileSync(daemon.places.token, 'utf8').trim();
        const turnBoundary = { kind: 'Stop', session: 'a session', turn: 'one' };
        wire.say(`${JSON.stringify({ v: 1, token, verb: 'notify_surface', boundary: turnBoundary })}\n`);
        await daemon.until('it emits', ({ fsm }) => fsm === 'EMITTING');
        await daemon.kill();
      } else {
        if (moment !== 'before') assert.equal((await daemon.turnBoundary()).why, 'rung');
        if (moment === 'drained') await drain(s.up, s.ada.act);
        await daemon.kill();
      }
      await allIsDrained(s);
    }
  });

  test('at each thing that comes or goes over its wire', async () => {
    // An upgrade, hello, welcome, peek, heartbeat, then three signals with what they bring about.
    for (let last = 1; last <= 9; last += 1) {
      await using s = await scene();
      s.signals(2);
      await using cli = s.home.spawn(s.ada);
      let count = 0;
      using _ = killAt(
        s.up,
        () => cli.pid,
        ({ is }) => is !== 'ponged' && ++count === last,
      );
      await until('it is killed, or has its heartbeat out', () => count >= Math.min(last, 5));
      if (count < last) s.signals(3);
      assert.equal((await cli.ended()).signal, 'SIGKILL');
      await allIsDrained(s);
    }
  });
});

test('persona daemon check 8: a doorbell that is taken and thrown away acknowledges nothing', async () => {
  await using s = await scene();
  await using daemon = await s.home.start(s.ada);
  await daemon.connected();
  s.signals(3);
  await daemon.until('it knows', ({ pending }) => pending.count === 3);
  const before = s.ada.queue.pending();
  const { drain_age_s: age } = await daemon.status();
  assert.deepEqual(await daemon.turnBoundary(), { emitted: true, why: 'rung' });
  const now = await daemon.until('time passes', ({ drain_age_s }) => drain_age_s >= age + 0.5);
  assert.deepEqual([now.pending.count, now.outstanding], [3, before.rev]);
  assert.deepEqual(s.ada.queue.pending(), before);
  const metric = /^daemon_drain_age_seconds\{.*\} (\S+)$/m.exec(now.metrics);
  assert.ok(Number(metric?.[1]) >= age + 0.5, now.metrics);

  const refused = await fetch(`${s.up.url}/v1/signals/pending/drain`, {
    method: 'POST',
    headers: { authorization: `Bearer ${s.ada.observe}` },
    body: '{"max":1}',
  });
  assert.equal(refused.status, 403);
  assert.deepEqual(s.ada.queue.pending(), before);
  await drain(s.up, s.ada.act);
  await daemon.until(
    'the drain alone counts',
    ({ drain_age_s, outstanding }) => outstanding === null && drain_age_s < age + 0.5,
  );
});
