import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { createExport } from '../../../test/kit/daemon-export.ts';
import { linkIn, notingHandlers, placesIn, STATUS } from '../../../test/kit/daemon-link.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import { until } from '../../../test/kit/until.ts';
import { askDaemon, type DaemonConfig, type DaemonStatus, writeDaemonConfig } from '../../link/index.ts';
import { exactly, Fault, UNKNOWN } from '../../model/index.ts';
import { realClock, realRandom, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { PollResult } from '../source.ts';
import { isAlive } from './own-places.node.ts';
import { createDaemonSource } from './source.ts';

const CONFIG: DaemonConfig = {
  ...{ tenant: 'acme', identity: 'ada', address: 'ada', project: '/fields/river', surface: 'claude-code' },
  ...{ autonomy: null, upstream: 'local', wakeIdle: false, owner: 'tray', shim: null },
  ...{ installDeps: false, activateVenv: false, paused: false },
};
const disk = createRealDisk(silentLog);
const never = new AbortController().signal;

function install(home: Scratch, over: Partial<DaemonConfig> = {}): void {
  const config = { ...CONFIG, ...over };
  writeDaemonConfig(disk, realRandom, placesIn(home.dir, config.tenant, config.identity), config);
}

/** What no notice came of is looked at so often. */
const SWEEP_MS = 10_000;
const OVER: Disposable = { [Symbol.dispose]: () => {} };

/** The source over a home of its own, and all that it says and wakes. */
function rig(laterMs = 0) {
  const home = scratch();
  const output: (string | null)[] = [];
  const warned: string[] = [];
  const local = new Set<(address: string) => void>();
  const source = createDaemonSource({
    daemons: join(home.dir, 'daemons'),
    machineId: 'this/machine',
    findPlaces: ({ tenant, identity }) => placesIn(home.dir, tenant, identity),
    async ask(places, signal) {
      const asked = await askDaemon(places, { verb: 'status' }, { timeoutMs: 5000, signal });
      if (asked.is === 'answered') return asked.answer;
      throw new Fault('daemon-gone', asked.is, { is: 'persona', key: places.name });
    },
    onStatus: ({ id }, status) => void output.push(status === null ? null : `${id} ${status.fsm}`),
    local(changed) {
      local.add(changed);
      return { [Symbol.dispose]: () => void local.delete(changed) };
    },
    isAlive,
    disk,
    clock: {
      ...realClock,
      now: () => realClock.now() + laterMs,
      after: (ms, run) => (ms < SWEEP_MS ? realClock.after(ms, run) : OVER), // what is heard of comes of notices
    },
    log: { ...silentLog, warn: (line) => void warned.push(line) },
  });
  const poll = async (name: string): Promise<PollResult> =>
    await source.poll(source.named(name), { is: 'unset' }, never);
  const deliver = (address: string): void => local.forEach((changed) => void changed(address));
  return { home, source, output, warned, poll, local, deliver, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

const daemon = (home: Scratch, status: Partial<DaemonStatus> = {}, identity = 'ada') =>
  linkIn(home.dir, notingHandlers({ status: () => ({ ...STATUS, identity, ...status }) }).handlers, identity);

describe('persona daemons as a source', () => {
  test('each that is installed is a persona, by identity and folder; what is no daemon is none', async () => {
    using sourceRig = rig();
    assert.deepEqual(await sourceRig.source.personas(never), []);
    install(sourceRig.home);
    install(sourceRig.home, { identity: 'bo', project: 'p1', upstream: 'https://hive.example' });
    mkdirSync(sourceRig.home.at('daemons', 'acme-new'), { recursive: true });
    mkdirSync(sourceRig.home.at('daemons', '.cache'));
    const all = await sourceRig.source.personas(never);
    assert.deepEqual(all.map(({ id, label, isEcho }) => [id, label, isEcho]).sort(), [
      ['daemon-acme-ada', 'ada · river', true],
      ['daemon-acme-bo', 'bo · p1', false],
    ]);
  });

  test('a look is what the daemon says over its socket', async () => {
    using sourceRig = rig();
    install(sourceRig.home);
    await using _ = await daemon(sourceRig.home);
    const { unread, urgent, agentState, evidence } = await sourceRig.poll('acme-ada');
    assert.deepEqual([unread, urgent, agentState, evidence], [exactly(2), UNKNOWN, { is: 'live' }, { is: 'level' }]);
    assert.deepEqual(sourceRig.output, ['daemon-acme-ada CONNECTED']);
  });

  test('a number that is not of now is none', async () => {
    using sourceRig = rig();
    install(sourceRig.home);
    await using _ = await daemon(sourceRig.home, { fsm: 'RECONCILING', pending: { count: 2, rev: 7, fresh: false } });
    const { unread, agentState } = await sourceRig.poll('acme-ada');
    assert.deepEqual([unread, agentState], [UNKNOWN, { is: 'unknown', why: 'reconciling' }]);
  });

  test('one that does not run cannot be read; one that is paused and does not run is gone, and no outage', async () => {
    using sourceRig = rig();
    install(sourceRig.home);
    await assert.rejects(sourceRig.poll('acme-ada'), { code: 'daemon-gone' });
    assert.deepEqual(sourceRig.output, [null]);
    install(sourceRig.home, { paused: true });
    assert.deepEqual((await sourceRig.poll('acme-ada')).agentState, { is: 'gone', why: 'paused' });
    await using _ = await daemon(sourceRig.home);
    assert.deepEqual((await sourceRig.poll('acme-ada')).agentState, { is: 'live' }, 'it runs all the same');
  });

  test('a configuration that is none is the trouble of its persona', async () => {
    using sourceRig = rig();
    install(sourceRig.home);
    writeFileSync(sourceRig.home.at('daemons', 'acme-ada', 'daemon.json'), '{"tenant":"acme"}', { mode: 0o600 });
    const [persona] = await sourceRig.source.personas(never);
    assert.equal(persona?.id, 'daemon-acme-ada');
    await assert.rejects(sourceRig.poll('acme-ada'), { code: 'daemon-config' });
    install(sourceRig.home);
    const moved = sourceRig.home.at('daemons', 'acme-cy');
    mkdirSync(moved, { mode: 0o700 });
    writeFileSync(join(moved, 'daemon.json'), sourceRig.home.text('daemons/acme-ada/daemon.json'), { mode: 0o600 });
    await assert.rejects(sourceRig.poll('acme-cy'), /acme-cy.daemon\.json belongs to the daemon acme-ada/);
  });
});

describe('what wakes', () => {
  const hearing = (sourceRig: ReturnType<typeof rig>) => {
    const woken: string[] = [];
    const hints = sourceRig.source.hints?.((name) => {
      woken.push(name);
      sourceRig.poll(name).catch(() => {}); // which is the board's to show
    });
    return { woken, [Symbol.dispose]: () => hints?.[Symbol.dispose]() };
  };

  test('a daemon that is installed, its process, and its removal; what is as it was does not', async () => {
    using sourceRig = rig();
    install(sourceRig.home, { identity: 'bo' });
    mkdirSync(dirname(placesIn(sourceRig.home.dir).runtime), { recursive: true, mode: 0o700 }); // some daemon ran before
    await sourceRig.source.personas(never);
    using heard = hearing(sourceRig);
    install(sourceRig.home);
    await until('the new one', () => heard.woken.includes('acme-ada'));
    heard.woken.length = 0;
    await using _ = await daemon(sourceRig.home);
    await until('its process', () => heard.woken.includes('acme-ada'));
    heard.woken.length = 0;
    rmSync(sourceRig.home.at('daemons', 'acme-ada'), { recursive: true });
    rmSync(placesIn(sourceRig.home.dir).runtime, { recursive: true });
    await until('its end', () => heard.woken.includes('acme-ada'));
    install(sourceRig.home, { identity: 'cy' });
    await until('a third one', () => heard.woken.includes('acme-cy'));
    assert.deepEqual(heard.woken, ['acme-ada', 'acme-cy'], 'what it left behind does not wake for it again');
  });

  test('D6 a daemon that is connecting, as after a restart of the tray process, is asked again until it is connected', async () => {
    using sourceRig = rig();
    install(sourceRig.home);
    const pending = { count: 1, rev: 1, fresh: false };
    const status = { fsm: 'RECONCILING' as const, pending };
    await using _ = await daemon(sourceRig.home, status);
    await sourceRig.source.personas(never);
    using heard = hearing(sourceRig);
    await sourceRig.poll('acme-ada');
    heard.woken.length = 0;
    await until('it is asked again', () => heard.woken.length >= 1);
  });

  test('mail in the local hive wakes the daemon of that persona, where that hive is its upstream', async () => {
    using sourceRig = rig();
    install(sourceRig.home, { address: 'Ada L.' });
    install(sourceRig.home, { identity: 'bo', address: 'Ada L.', upstream: 'https://hive.example' });
    await sourceRig.source.personas(never);
    {
      using heard = hearing(sourceRig);
      for (const address of ['cy', 'ada', 'Ada L.', 'Ada L.']) sourceRig.deliver(address);
      await until('the daemon', () => heard.woken.length > 0);
      assert.deepEqual(heard.woken, ['acme-ada'], 'once for both');
    }
    assert.equal(sourceRig.local.size, 0, 'nobody is listened to any more');
  });

  test('an export with another number, and not one that is only newer', async () => {
    using sourceRig = rig();
    install(sourceRig.home);
    await using _ = await daemon(sourceRig.home);
    await sourceRig.source.personas(never);
    using heard = hearing(sourceRig);
    const write = (text: string): void => writeFileSync(placesIn(sourceRig.home.dir).metrics, text, { mode: 0o600 });
    write(createExport('acme', 'ada', { depth: 1 }));
    await until('the first', () => heard.woken.length === 1);
    write(createExport('acme', 'ada', { depth: 2 }));
    await until('another number', () => heard.woken.length === 2);
    write(createExport('acme', 'ada', { depth: 2, drainAge: 99 }));
    write(createExport('acme', 'ada', { depth: 3 }));
    await until('a third', () => heard.woken.length === 3);
  });
});

describe('the export of all', () => {
  const ups = (sourceRig: ReturnType<typeof rig>): readonly string[] =>
    sourceRig.source
      .metrics()
      .filter(({ name }) => name === 'daemon_up')
      .flatMap(({ samples }) => samples.map(({ labels, value }) => `${labels.agent_identity} ${value}`));

  test('of one that runs its file; of one whose process is gone, or whose file is old or none, that it is not up', async () => {
    using sourceRig = rig();
    for (const identity of ['ada', 'bo', 'cy', 'di']) install(sourceRig.home, { identity });
    await using _ada = await daemon(sourceRig.home);
    await using _bo = await daemon(sourceRig.home, {}, 'bo');
    const write = (identity: string, text = createExport('acme', identity)): void => {
      mkdirSync(placesIn(sourceRig.home.dir, 'acme', identity).runtime, { recursive: true, mode: 0o700 });
      writeFileSync(placesIn(sourceRig.home.dir, 'acme', identity).metrics, text, { mode: 0o600 });
    };
    write('ada');
    write('bo', createExport('acme', 'bo').replace('tenant_id', 'session_id'));
    write('cy');
    assert.deepEqual(ups(sourceRig), ['ada 1', 'bo 0', 'cy 0', 'di 0']);
    assert.equal(sourceRig.source.metrics().flatMap(({ samples }) => samples).length, 24 + 3);
    assert.match(sourceRig.warned.join('\n'), /the metrics of acme-bo are left out: .*session_id/);
    assert.equal(sourceRig.warned.length, 1, 'said once');
    assert.ok(!JSON.stringify(sourceRig.source.metrics()).includes('session_id'));
    const di = sourceRig.source.metrics()[0]?.samples.find(({ labels }) => labels.agent_identity === 'di');
    assert.deepEqual(di?.labels, {
      ...{ tenant_id: 'acme', agent_identity: 'di', agent_surface: 'claude-code', machine_id: 'this_machine' },
    });
  });

  test('what cannot be looked at is not up, and the others are there all the same', async () => {
    using sourceRig = rig();
    for (const identity of ['ada', 'bo']) install(sourceRig.home, { identity });
    await using _ = await daemon(sourceRig.home);
    writeFileSync(placesIn(sourceRig.home.dir).metrics, createExport('acme', 'ada'), { mode: 0o600 });
    writeFileSync(placesIn(sourceRig.home.dir, 'acme', 'bo').runtime, 'no directory', { mode: 0o600 });
    assert.deepEqual(ups(sourceRig), ['ada 1', 'bo 0']);
    rmSync(sourceRig.home.at('daemons'), { recursive: true });
    writeFileSync(sourceRig.home.at('daemons'), 'no directory', { mode: 0o600 });
    assert.deepEqual(ups(sourceRig), ['ada 1', 'bo 0'], 'as it was known last');
  });

  test('a file that a daemon left behind 31 s ago is none; one of 29 s ago still is', async () => {
    for (const [ms, up] of [
      [31_000, 'ada 0'],
      [29_000, 'ada 1'],
    ] as const) {
      using sourceRig = rig(ms);
      install(sourceRig.home);
      await using _ = await daemon(sourceRig.home);
      writeFileSync(placesIn(sourceRig.home.dir).metrics, createExport('acme', 'ada'), { mode: 0o600 });
      assert.deepEqual(ups(sourceRig), [up]);
    }
  });

  test('one that ended is not up under the labels it had, which its installation need not know', async () => {
    using sourceRig = rig();
    install(sourceRig.home);
    {
      await using _ = await daemon(sourceRig.home);
      writeFileSync(placesIn(sourceRig.home.dir).metrics, createExport('acme', 'ada'), { mode: 0o600 });
      assert.deepEqual(ups(sourceRig), ['ada 1']);
    }
    assert.deepEqual(ups(sourceRig), ['ada 0']);
    const [gone] = sourceRig.source.metrics()[0]?.samples ?? [];
    assert.equal(gone?.labels.machine_id, 'cafe01');
  });
});
