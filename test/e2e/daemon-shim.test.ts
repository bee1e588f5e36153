import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { DaemonConfig } from '../../core/link/index.ts';
import { answering, type DaemonHome, type DaemonOptions, daemonHome } from '../kit/daemon-process.ts';
import { runCli, startCli } from '../kit/process.ts';
import { programEntry } from '../kit/program.ts';
import { needs } from '../kit/require.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { isThere, shimNotes, standInShim } from '../kit/shim-record.ts';
import { until } from '../kit/until.ts';
import { type ReferenceUpstream, referenceUpstream } from '../kit/upstream/index.ts';

/** Pings must come often for one whose time runs faster. */
const FAST = { pingMs: 200 };

/** A surface with a shim, which is woken when it is idle. */
function withShim(record: string, ...words: readonly string[]): Partial<DaemonConfig> {
  return { surface: 'codex', wakeIdle: true, shim: { command: standInShim(record, ...words) } };
}

/** Each start of a shim, and everything that it was asked of a kind. */
const listStarts = (record: string) => shimNotes(record).filter(({ is }) => is === 'started');
const listCalls = (record: string, call: string) => shimNotes(record).filter(({ asked }) => asked?.call === call);

/**
 * Ada comes to rest, and something waits: she is rung through her wake path, if she has one. She is rung there once, so her
 * time runs no faster than leaves a surface on a busy machine time to take it: a quarter of a second for what may take two.
 */
async function atRest(
  home: DaemonHome,
  up: ReferenceUpstream,
  config: Partial<DaemonConfig>,
  more: DaemonOptions = {},
) {
  const ada = up.persona('acme', 'ada');
  home.install(ada, up, config);
  const daemon = await home.start(ada, { faster: 8, ...more });
  await daemon.connected();
  await daemon.turnBoundary('Stop');
  ada.signals(1);
  return { ada, daemon };
}

describe('a daemon and the surface it serves', { skip: process.platform === 'win32', concurrency: 3 }, () => {
  test('an idle agent is rung through its shim: once, and by three fields', async () => {
    await using up = await referenceUpstream(FAST);
    using home = daemonHome();
    using dir = scratch();
    const { ada, daemon } = await atRest(home, up, withShim(dir.at('record')));
    await using _ = daemon;
    await until('the ring', () => listCalls(dir.at('record'), 'notify_surface').length > 0);
    const { outstanding } = await daemon.until('it stands', (status) => status.outstanding !== null);
    assert.ok(outstanding !== null);
    ada.signals(11);
    await daemon.until('it knows of all', ({ pending }) => pending.count === 12);
    const rings = listCalls(dir.at('record'), 'notify_surface').map(({ asked }) => asked?.payload as object);
    assert.equal(rings.length, 1);
    assert.deepEqual(Object.keys(rings[0] ?? {}).sort(), ['kind', 'source', 'timestamp']);
    assert.equal(shimNotes(dir.at('record'))[0]?.cwd, home.project);
  });

  test('bad input: a shim that dies in a ring was not rung: nothing stands, the signal is pending, the daemon goes on', async () => {
    await using up = await referenceUpstream(FAST);
    using home = daemonHome();
    using dir = scratch();
    const { ada, daemon } = await atRest(home, up, withShim(dir.at('record'), 'dies'));
    await using _ = daemon;
    const after = await daemon.until('the failure', (status) => status.last_error_class === 'surface_inject_failed');
    assert.deepEqual([after.fsm, after.outstanding, after.pending.count], ['CONNECTED', null, 1]);
    assert.match(after.metrics, /daemon_errors_total\{[^}]*error_class="surface_inject_failed"[^}]*\} 1\n/);
    await daemon.until('another shim', ({ shim }) => shim.state === 'running' && shim.restarts >= 1);
    assert.deepEqual(ada.queue.drainedIds, []);
    assert.deepEqual(await daemon.turnBoundary('UserPromptSubmit'), { emitted: true, why: 'rung' });
  });

  test('persona daemon check 14: a shim that is killed comes back, one that hangs is replaced, and the daemon stays connected', async () => {
    await using up = await referenceUpstream(FAST);
    using home = daemonHome();
    using dir = scratch();
    const persona = up.persona('acme', 'ada');
    home.install(persona, up, withShim(dir.at('record'), 'child'));
    await using daemon = await home.start(persona, { faster: 10 });
    const waitForPid = async (restarts: number): Promise<number> => {
      const fits = await daemon.until(
        `start ${restarts}`,
        ({ shim }) => shim.pid !== null && shim.restarts === restarts,
      );
      return fits.shim.pid ?? assert.fail();
    };
    await daemon.connected();
    const first = await waitForPid(0);
    await until('its start', () => listStarts(dir.at('record')).length === 1);
    process.kill(first, 'SIGKILL');
    const second = await waitForPid(1);
    await until('its start', () => listStarts(dir.at('record')).length === 2);
    process.kill(second, 'SIGSTOP');
    const third = await waitForPid(2);
    assert.notEqual(second, third);
    await until('its start', () => listStarts(dir.at('record')).length === 3);
    const children = listStarts(dir.at('record')).flatMap(({ child }) => child ?? []);
    assert.equal(up.recording.received('hello').length, 1, 'the stream was never left');
    assert.equal((await daemon.stop()).code, 0);
    assert.deepEqual([first, second, third, ...children].filter(isThere), []);
  });

  test('a shim that never starts well is in backoff; the daemon is degraded and restarting, and hears all the same', async () => {
    await using up = await referenceUpstream(FAST);
    using home = daemonHome();
    using dir = scratch();
    const persona = up.persona('acme', 'ada');
    home.install(persona, up, withShim(dir.at('record'), 'ends'));
    await using daemon = await home.start(persona, { faster: 20 });
    const failed = await daemon.until('eight starts and no more', ({ shim }) => shim.state === 'failed');
    assert.deepEqual([failed.taxonomy, failed.degraded, failed.shim.restarts], ['failed', 'surface_unavailable', 7]);
    persona.signals(3);
    const { fsm } = await daemon.until('it hears', ({ pending }) => pending.count === 3);
    assert.equal(fsm, 'CONNECTED');
  });

  test('whatever a shim does, the end of the daemon is its end', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    using dir = scratch();
    for (const words of [['deaf', 'child'], ['mute'], ['floods']]) {
      const record = dir.at(words.join('-'));
      const persona = up.persona('acme', words.join('-'));
      home.install(persona, up, withShim(record, ...words));
      await using daemon = await home.start(persona);
      await until('its start', () => shimNotes(record).length > 0);
      const { code, ms } = await daemon.stop();
      assert.equal(code, 0);
      assert.ok(ms < 20_000, 'a guard against a hang');
      const all = shimNotes(record).flatMap(({ pid, child }) => [pid, ...(child ? [child] : [])]);
      await until(`the end of ${words.join()}`, () => !all.some(isThere)); // what was killed goes a moment later
    }
  });

  test('kill -9 of the daemon: a shim that hears nothing of it is ended by the next daemon, and so is what it started', async (t) => {
    if (needs(t, process.platform === 'linux' ? null : 'only Linux says which process a number is of')) return;
    await using up = await referenceUpstream();
    using home = daemonHome();
    using dir = scratch();
    const record = dir.at('record');
    const persona = up.persona('acme', 'ada');
    home.install(persona, up, withShim(record, 'deaf', 'child'));
    await using killed = await home.start(persona);
    await until('its start', () => listStarts(record).length === 1);
    await killed.kill();
    const [left] = listStarts(record);
    await until('the end of its stdin', () => shimNotes(record).some(({ is }) => is === 'end of stdin'));
    assert.ok(left?.child && isThere(left.pid) && isThere(left.child), 'it lives on');
    await using next = await home.start(persona);
    await until('the next start', () => listStarts(record).length === 2);
    assert.deepEqual([left.pid, left.child].filter(isThere), []);
    const note = join(next.places.runtime, 'shim.pid');
    assert.match(readFileSync(note, 'utf8'), new RegExp(`^${listStarts(record)[1]?.pid} \\d+\n$`));
    await next.stop();
    assert.equal(existsSync(note), false);
  });

  test('bad input: a note of a shim that names another process ends nobody', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    using dir = scratch();
    const persona = up.persona('acme', 'ada');
    home.install(persona, up, withShim(dir.at('record')));
    const stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const { runtime } = home.places('ada');
    mkdirSync(runtime, { recursive: true, mode: 0o700 });
    for (const note of [`${stranger.pid} 1\n`, `${stranger.pid} \n`, `-1 1\n`, 'x']) {
      writeFileSync(join(runtime, 'shim.pid'), note);
      await using daemon = await home.start(persona);
      await daemon.until('its shim', ({ shim }) => shim.state === 'running');
      await daemon.stop();
      assert.ok(isThere(stranger.pid ?? 0), note);
    }
    stranger.kill('SIGKILL');
    await once(stranger, 'exit');
  });

  test('persona daemon check 14: the daemon opens no connection but to its upstream and on this machine, and listens on its socket alone', async (t) => {
    if (needs(t, process.platform === 'linux' ? null : 'calls are recorded on Linux only')) return;
    const missing = await runCli(['--version'], { wrap: ['strace', '-D', '-o', '/dev/null'] });
    if (needs(t, missing.code === 0 ? null : 'strace is missing: apt-get install strace')) return;
    await using up = await referenceUpstream();
    using home = daemonHome();
    using dir = scratch();
    const persona = up.persona('acme', 'ada');
    home.install(persona, up, withShim(dir.at('record')));
    const log = dir.at('calls');
    const wrap = [
      'strace',
      '-D',
      '-f',
      '-yy',
      '-s',
      '1000',
      '-e',
      'trace=connect,bind,listen,socket,execve',
      '-o',
      log,
    ];
    const words = ['daemon', 'run', '--tenant', 'acme', '--identity', 'ada', '--project', home.project];
    await using daemon = await answering(startCli(words, { env: home.env, wrap }), home.places('ada'));
    await daemon.connected();
    persona.signals(1);
    await daemon.until('it knows of the signal', ({ pending }) => pending.count === 1);
    assert.equal((await daemon.turnBoundary()).emitted, true);
    const first = await daemon.until('its shim', ({ shim }) => shim.state === 'running');
    process.kill(first.shim.pid ?? assert.fail(), 'SIGKILL');
    await daemon.until('its next shim', ({ shim }) => shim.state === 'running' && shim.restarts === 1);
    up.cut();
    await daemon.until('it came back', ({ fsm }) => fsm === 'CONNECTED');
    assert.equal((await daemon.stop()).code, 0);

    const calls = readFileSync(log, 'utf8').split('\n');
    const argument = (call: string): readonly string[] => calls.filter((line) => line.includes(` ${call}(`));
    const port = new URL(up.url).port;
    const reached = argument('connect').filter((line) => !line.includes('AF_UNIX'));
    assert.ok(reached.length >= 3, 'the stream twice, and a peek');
    const upstream = new RegExp(`sin_port=htons\\(${port}\\), sin_addr=inet_addr\\("127\\.0\\.0\\.1"\\)`);
    assert.deepEqual(
      reached.filter((line) => !upstream.test(line)),
      [],
    );
    assert.deepEqual(
      argument('bind').filter((line) => !line.includes('AF_UNIX') && !line.includes('AF_NETLINK')),
      [],
    );
    const listened = argument('listen');
    assert.ok(listened.length === 1 && /listen\(\d+<UNIX/.test(String(listened)), listened.join('\n'));
    assert.ok(argument('bind').some((line) => line.includes('ctl.sock')));
    const started = argument('execve').filter((line) => line.includes('stand-in-shim.mjs'));
    assert.equal(started.length, 2, 'as itself: no shell between');
  });
});

describe('the ways to an agent that no hook of it asks for', {
  skip: process.platform === 'win32',
  concurrency: 3,
}, () => {
  test('wake_idle: one POST to the wake that its session announced, with the line of the doorbell and nothing else', async () => {
    await using up = await referenceUpstream(FAST);
    using home = daemonHome();
    const posted: string[] = [];
    const runner = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        posted.push(body);
        response.end('{"delivered":true}');
      });
    }).listen(0, '127.0.0.1');
    await once(runner, 'listening');
    const url = `http://127.0.0.1:${(runner.address() as AddressInfo).port}/wake`;
    const set = await runCli(['session', 'set', 'ada', '--wake', url], { env: home.env });
    assert.deepEqual([set.code, set.stderr], [0, '']);
    const { ada, daemon } = await atRest(home, up, { wakeIdle: true });
    await using _ = daemon;
    await until('the wake', () => posted.length > 0);
    ada.signals(5);
    await daemon.until('it knows of all', ({ pending }) => pending.count === 6);
    assert.deepEqual(
      posted.map((body) => JSON.parse(body) as object),
      [
        {
          message: 'hivebar: work waits for acme/ada; fetch it now: hivebar daemon drain --tenant acme --identity ada',
        },
      ],
    );
    const unset = await runCli(['session', 'set', 'ada', '--wake', ''], { env: home.env });
    assert.equal(unset.code, 0);
    ada.drain();
    await daemon.turnBoundary('UserPromptSubmit');
    await daemon.turnBoundary('Stop');
    ada.signals(1);
    await daemon.until('no way is left', (status) => status.last_error_class === 'surface_inject_failed');
    assert.equal(posted.length, 1);
    runner.close();
    runner.closeAllConnections();
  });

  test('without the setting nobody is woken: the agent is rung at its next boundary', async () => {
    await using up = await referenceUpstream(FAST);
    using home = daemonHome();
    using dir = scratch();
    const { daemon } = await atRest(home, up, { ...withShim(dir.at('record')), wakeIdle: false }, { faster: 20 });
    await using _ = daemon;
    // Twice as long as a wake would take, by the daemon's own clock.
    await daemon.until('a minute has passed', ({ uptime_s }) => uptime_s > 60);
    assert.equal(listCalls(dir.at('record'), 'notify_surface').length, 0);
    assert.deepEqual(await daemon.turnBoundary('UserPromptSubmit'), { emitted: true, why: 'rung' });
  });

  test('a surface that nothing can be handed to: a person is told by a banner, which names nobody else', async (t) => {
    if (needs(t, process.platform === 'linux' ? null : 'notify-send is of Linux')) return;
    await using up = await referenceUpstream(FAST);
    using home = daemonHome();
    using dir = scratch();
    fakeNotifySend(dir);
    const env = { PATH: `${dir.dir}:${process.env.PATH}` };
    const { daemon } = await atRest(home, up, { surface: 'claude-desktop', wakeIdle: true }, { env });
    await using _ = daemon;
    await until('the banner', () => dir.text('shown') !== '');
    assert.equal(dir.text('shown'), '--app-name=Hivebar\n--\nHivebar\nWork waits for acme/ada\n');
    await daemon.until('it stands', (status) => status.outstanding !== null);
  });

  test('the shim for agents that a command wakes: one turn after the other, each with the doorbell on its stdin', async () => {
    await using up = await referenceUpstream(FAST);
    using home = daemonHome();
    using dir = scratch();
    const turn = join(dir.dir, 'turn');
    dir.write(
      'turn',
      `#!/bin/sh\nread -r line\nprintf '%s\\n' "$line" >> ${dir.at('turns')}\npwd >> ${dir.at('turns')}\n`,
    );
    chmodSync(turn, 0o700);
    const command = [process.execPath, programEntry('hivebar'), 'daemon', 'shim', 'acme-ada', '--', turn];
    const { daemon } = await atRest(home, up, { surface: 'codex', wakeIdle: true, shim: { command } });
    await using _ = daemon;
    await until('the turn', () => dir.text('turns').split('\n').length === 3);
    const line = 'hivebar: work waits for acme/ada; fetch it now: hivebar daemon drain --tenant acme --identity ada';
    assert.equal(dir.text('turns'), `${line}\n${home.project}\n`);
    const { shim } = await daemon.status();
    await daemon.stop();
    assert.ok(shim.pid !== null && !isThere(shim.pid));
  });
});

function fakeNotifySend(dir: Scratch): void {
  chmodSync(dir.write('notify-send', `#!/bin/sh\nprintf '%s\\n' "$@" >> ${dir.at('shown')}\n`), 0o700);
}
