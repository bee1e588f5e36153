import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type DaemonProcess, daemonHome } from '../kit/daemon-process.ts';
import { needs } from '../kit/require.ts';
import { isThere, shimNotes, standInShim } from '../kit/shim-record.ts';
import { surfaceShim } from '../kit/surface-shim.ts';
import { until } from '../kit/until.ts';
import { type ReferenceUpstream, referenceUpstream } from '../kit/upstream/index.ts';

const WINDOWS = process.platform === 'win32' ? 'sockets and modes are those of POSIX' : null;

/** Nothing on it shows a banner. */
const NO_DESKTOP = { env: { PATH: '/nonexistent' } };

const post = async (up: ReferenceUpstream, path: string, token: string, body: object = {}): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await fetch(up.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return status;
};
const hellos = (up: ReferenceUpstream): number => up.recording.received('hello').length;

describe('the process of a persona daemon', () => {
  test('persona daemon check 1: one entry starts with each of the three plugins', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const record = join(home.project, 'shim');
    const [ada, bo, cy] = ['ada', 'bo', 'cy'].map((name) => up.persona('acme', name));
    assert.ok(ada && bo && cy);
    home.install(ada, up, { surface: 'claude-code' });
    home.install(bo, up, { surface: 'codex', shim: { command: standInShim(record) } });
    home.install(cy, up, { surface: 'claude-desktop' });
    const daemons: DaemonProcess[] = [];
    await using stack = new AsyncDisposableStack();
    for (const persona of [ada, bo, cy]) daemons.push(stack.use(await home.start(persona, NO_DESKTOP)));
    const reported = await Promise.all(daemons.map((daemon) => daemon.connected()));
    assert.deepEqual(
      reported.map(({ surface, shim }) => [surface, shim.state]),
      [
        ['claude-code', 'none'],
        ['codex', 'running'],
        ['claude-desktop', 'none'],
      ],
    );
    assert.equal(
      new Set(daemons.map(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')[1])).size,
      1,
    );
    // What has no way to its agent is healthy all the same, and says that nothing can be delivered.
    await daemons[2]?.until('it is degraded', ({ degraded }) => degraded === 'surface_unavailable');
    assert.equal((await daemons[2]?.status())?.fsm, 'CONNECTED');
  });

  test('persona daemon check 2: three personas are three processes and sockets; one that starts twice ends, one that dies takes nobody along', async (t) => {
    if (needs(t, WINDOWS)) return;
    await using up = await referenceUpstream();
    using home = daemonHome();
    await using stack = new AsyncDisposableStack();
    const daemons: DaemonProcess[] = [];
    const names = ['ada', 'bo', 'cy'];
    for (const name of names) {
      const persona = up.persona('acme', name);
      home.install(persona, up);
      daemons.push(stack.use(await home.start(persona)));
    }
    for (const daemon of daemons) await daemon.connected();
    assert.equal(new Set(daemons.map(({ pid }) => pid)).size, 3);
    assert.equal(new Set(daemons.map(({ places }) => statSync(places.socket).ino)).size, 3);
    for (const { places } of daemons) assert.equal(statSync(places.socket).mode & 0o777, 0o600);
    assert.deepEqual(up.registrations().counts, { daemon: 3, agent: 0 });

    const before = hellos(up);
    const again = await home.spawn({ tenant: 'acme', identity: 'ada' }).ended();
    assert.deepEqual(again, { code: 0, signal: null });
    assert.equal(hellos(up), before);
    assert.equal((await daemons[0]?.status())?.pid, daemons[0]?.pid);

    await daemons[1]?.kill();
    await until('the registration of the dead is gone', () => up.registrations().counts.daemon === 2);
    for (const at of [0, 2]) assert.equal((await daemons[at]?.status())?.fsm, 'CONNECTED');

    // What it left behind is no obstacle.
    await using risen = await home.start({ tenant: 'acme', identity: 'bo' });
    await risen.connected();
    assert.equal(up.registrations().counts.daemon, 3);
  });

  test('persona daemon check 3: it is registered as a daemon, counted apart, never as a master, and its token speaks for nobody', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up, { autonomy: 'high' });
    await using daemon = await home.start(ada);
    await daemon.connected();
    const { registrations, counts } = up.registrations();
    assert.deepEqual(counts, { daemon: 1, agent: 0 });
    const [row] = registrations;
    assert.deepEqual(
      [row?.kind, row?.master_eligible, row?.tenant_id, row?.identity, row?.surface, row?.project],
      ['daemon', false, 'acme', 'ada', 'claude-code', home.project],
    );
    const [hello] = up.recording.received('hello');
    assert.equal(hello?.frame.autonomy, 'high');
    for (const path of [
      '/v1/signals',
      '/v1/signals/pending/drain',
      '/v1/registrations',
      `/v1/registrations/${row?.registration_id}/preempt`,
    ])
      assert.equal(await post(up, path, ada.observe, { to: 'ada', from: 'ada', body: 'x', max: 1 }), 403, path);
    assert.equal(ada.queue.pending().count, 0);
    // It never tried: all that came with its token but those four is what a daemon says.
    const asked = up.recording.list('request').filter(({ caller, status }) => caller === 'daemon' && status !== 403);
    assert.deepEqual([...new Set(asked.map(({ method, path }) => `${method} ${path}`))], ['GET /v1/signals/pending']);
    const output = up.recording.list('received').map(({ frame }) => frame.type);
    assert.deepEqual([...new Set(output)].sort(), ['heartbeat', 'hello']);
  });

  test('persona daemon check 4: its heartbeat is its own: it goes on while the shim is frozen, and the shim goes on without it', async (t) => {
    if (needs(t, WINDOWS)) return;
    await using up = await referenceUpstream({ heartbeatMs: 60 });
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up, { surface: 'codex', shim: { command: surfaceShim(up, ada) } });
    await using daemon = await home.start(ada);
    await daemon.connected();
    const beats = (caller: 'daemon' | 'surface'): number =>
      up.recording.received('heartbeat').filter((entry) => entry.caller === caller).length;
    await until('both beat', () => beats('daemon') > 2 && beats('surface') > 2);
    const shim = (await daemon.status()).shim.pid ?? 0;

    const frozen = async (pid: number, stopped: 'daemon' | 'surface', other: 'daemon' | 'surface'): Promise<void> => {
      process.kill(pid, 'SIGSTOP');
      try {
        await until('it is stopped', () => /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')));
        const quiet = await waitUntilQuiet(() => beats(stopped));
        const before = beats(other);
        await until('the other beats on', () => beats(other) >= before + 5);
        assert.equal(beats(stopped), quiet);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      const now = beats(stopped);
      await until('it beats again', () => beats(stopped) > now);
    };
    await frozen(shim, 'surface', 'daemon');
    await frozen(daemon.pid, 'daemon', 'surface');
    assert.deepEqual(up.registrations().counts, { daemon: 1, agent: 1 });
  });

  test('persona daemon check 18: a second project is refused for a daemon that lives, and for one that was bound before', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up);
    await using daemon = await home.start(ada);
    await daemon.connected();
    const before = hellos(up);

    await using other = home.spawn(ada, { project: '/elsewhere' });
    assert.equal((await other.ended()).code, 78);
    assert.match(other.stderr, /bound to the project .*project, not to \/elsewhere/);

    // Also when it was installed for another one meanwhile: this process is bound until it ends.
    home.install(ada, up, { project: '/elsewhere' });
    await using later = home.spawn(ada, { project: '/elsewhere' });
    assert.equal((await later.ended()).code, 78);
    assert.match(later.stderr, /bound to it until it ends/);
    assert.equal(hellos(up), before);
    assert.equal((await daemon.status()).project, home.project);
  });

  test('what the hook notes of its agent is heard without a call, also when the file comes later', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const [ada, bo] = [up.persona('acme', 'ada'), up.persona('acme', 'bo')];
    home.install(ada, up);
    home.install(bo, up);
    await using daemon = await home.start(ada);
    await using other = await home.start(bo);
    for (const daemonProcess of [daemon, other]) assert.equal((await daemonProcess.connected()).taxonomy, 'sleeping');
    writeFileSync(join(home.dir, 'run', 'activity', 'ada'), 'PostToolUse\n');
    await daemon.until('it heard', ({ taxonomy }) => taxonomy === 'running');
    assert.equal((await other.status()).taxonomy, 'sleeping');
    writeFileSync(other.places.activity, '');
    await other.until('it heard', ({ taxonomy }) => taxonomy === 'running');
  });

  test('SIGTERM: it says bye, its socket and shim are gone, and it ends with 0', async (t) => {
    if (needs(t, WINDOWS)) return;
    await using up = await referenceUpstream();
    using home = daemonHome();
    const record = join(home.project, 'shim');
    const ada = up.persona('acme', 'ada');
    home.install(ada, up, { surface: 'codex', shim: { command: standInShim(record) } });
    await using daemon = await home.start(ada);
    await daemon.connected();
    await until('the shim runs', () => shimNotes(record).length > 0);
    const { code, signal } = await daemon.stop();
    assert.deepEqual([code, signal], [0, null]);
    await until('the bye came', () => up.recording.received('bye').length === 1);
    assert.deepEqual([existsSync(daemon.places.socket), existsSync(daemon.places.token)], [false, false]);
    for (const { pid } of shimNotes(record)) assert.equal(isThere(pid), false);
  });

  test('SIGTERM while the upstream says nothing more: it does not wait for a goodbye', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up);
    await using daemon = await home.start(ada);
    await daemon.connected();
    up.freeze();
    assert.deepEqual((await daemon.stop()).code, 0);
  });
});

describe('a persona daemon that cannot be', () => {
  const ends = async (home: ReturnType<typeof daemonHome>, args: readonly string[] = []) => {
    await using cli = home.spawn({ tenant: 'acme', identity: 'ada' }, { args });
    const { code } = await cli.ended();
    const log = existsSync(home.places('ada').log) ? readFileSync(home.places('ada').log, 'utf8') : '';
    return { code, stderr: cli.stderr, log };
  };

  test('what was not installed, or has no token, is of the class config_invalid: 78, or 0 where a launcher cannot tell', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const none = await ends(home);
    assert.equal(none.code, 78);
    assert.match(none.stderr, /daemon\.json: does not exist; create it with hivebar daemon install/);
    assert.equal((await ends(home, ['--stays-down'])).code, 0);

    home.install(up.persona('acme', 'ada'), up);
    rmSync(home.places('ada').observeToken);
    const bare = await ends(home);
    assert.equal(bare.code, 78);
    assert.match(bare.stderr, /observe\.token: does not exist/);
    writeFileSync(home.places('ada').config, '{"tenant":"acme"');
    assert.equal((await ends(home)).code, 78);
    assert.equal(hellos(up), 0);
  });

  test('a token is sent to no other machine without encryption', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    for (const upstream of ['http://192.0.2.1', 'ws://192.0.2.1:80/x']) {
      home.install(up.persona('acme', 'ada'), up, { upstream });
      const { code, stderr } = await ends(home);
      assert.equal(code, 78);
      assert.match(stderr, /a token is only sent to an https or wss URL/);
    }
  });

  test('a path that is too long for a socket is of the class ipc_bind_failed, and not to be tried again', async (t) => {
    if (needs(t, WINDOWS)) return;
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    const deep = join(home.dir, 'd'.repeat(100));
    home.install(ada, up);
    mkdirSync(deep, { recursive: true, mode: 0o700 });
    cpSync(join(home.dir, 'daemons'), join(deep, 'daemons'), { recursive: true });
    await using cli = home.spawn(ada, { env: { HIVEBAR_HOME: deep } });
    assert.equal((await cli.ended()).code, 78);
    assert.match(cli.stderr, /ctl\.sock: the path has \d+ bytes/);
    assert.match(readFileSync(join(deep, 'run/prism-daemon/acme-ada/log'), 'utf8'), /"error_class":"ipc_bind_failed"/);
    assert.equal(hellos(up), 0);
  });

  test('what nobody caught is in its log before it ends, to be started again', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up);
    const breaks = "data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('it broke')})";
    await using daemon = await home.start(ada, { env: { NODE_OPTIONS: `--import=${breaks.replaceAll(' ', '%20')}` } });
    await daemon.connected();
    daemon.cli.kill('SIGUSR2');
    assert.equal((await daemon.cli.ended()).code, 75);
    const log = readFileSync(daemon.places.log, 'utf8').trim().split('\n').at(-1) ?? '';
    const { error_class: error, msg } = JSON.parse(log) as Record<string, unknown>;
    assert.deepEqual([error, msg], ['unclassified', 'Error: it broke']);
    await using again = await home.start(ada);
    await again.connected();
  });

  test('a command line that cannot be is 78 too: no launcher is to try it again', async () => {
    using home = daemonHome();
    await using cli = home.spawn({ tenant: 'ACME!', identity: 'ada' });
    assert.equal((await cli.ended()).code, 78);
    assert.match(cli.stderr, /ACME! is not valid/);
    assert.equal((await ends(home, ['--nonsense'])).code, 78);
  });
});

/** Waits until a number stays as it is for as long as it would have moved twice. */
async function waitUntilQuiet(count: () => number): Promise<number> {
  let last = count();
  let since = performance.now();
  await until('it is quiet', () => {
    const now = count();
    if (now !== last) since = performance.now();
    last = now;
    return performance.now() - since > 200;
  });
  return last;
}
