import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readStartKey } from '../../app/open/index.ts';
import type { DaemonConfig, DaemonPlaces } from '../../core/link/index.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../kit/daemon-process.ts';
import { installHooks } from '../kit/hooks.ts';
import { runCli, startCli } from '../kit/process.ts';
import { until } from '../kit/until.ts';
import { type ReferenceUpstream, referenceUpstream } from '../kit/upstream/index.ts';
import { type UserSystemd, userSystemd } from '../kit/user-systemd.ts';

const DEAF = join(import.meta.dirname, '..', 'kit', 'deaf-daemon.ts');

const configAt = ({ config }: DaemonPlaces): DaemonConfig => JSON.parse(readFileSync(config, 'utf8'));
const toUnitName = (identity: string): string => `prism-daemon-acme-${identity}`;

interface Scene extends AsyncDisposable {
  readonly home: DaemonHome;
  readonly up: ReferenceUpstream;
  readonly systemd: UserSystemd;
  /** Installed for the launcher, and running. */
  daemon(identity: string, config?: Partial<DaemonConfig>): Promise<DaemonProcess>;
  /** The same, by a process that ends only when it must. */
  deaf(identity: string, term?: 'term'): Promise<ChildProcess>;
  /** `hivebar daemon WORDS` to its end. It may take 9 s and more. */
  hivebar(...words: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string; ms: number }>;
}

async function scene(): Promise<Scene> {
  const stack = new AsyncDisposableStack();
  const home = stack.use(daemonHome());
  const up = stack.use(await referenceUpstream());
  const systemd = userSystemd(home.env.HOME ?? '');
  installHooks(home.env.HOME ?? '', home.env.HIVEBAR_HOME ?? '');
  const env = { ...home.env, ...systemd.env };
  const installed = async (identity: string, config: Partial<DaemonConfig> = {}): Promise<void> => {
    mkdirSync(config.project ?? home.project, { recursive: true });
    home.install(up.persona('acme', identity), up, config);
    const words = ['daemon', 'install', '--tenant', 'acme', '--identity', identity];
    const { code, stderr } = await runCli(words, { env });
    assert.equal(code, 0, stderr);
  };
  return {
    ...{ home, up, systemd },
    async daemon(identity, config = {}) {
      await installed(identity, config);
      const { project = home.project } = config;
      const daemon = stack.use(await home.start({ tenant: 'acme', identity }, { project }));
      await daemon.connected();
      return daemon;
    },
    async deaf(identity, term) {
      await installed(identity);
      const args = [DEAF, 'acme', identity, ...(term === undefined ? [] : [term])];
      const child = spawn(process.execPath, args, {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      stack.defer(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      });
      if (child.stdout !== null) await once(child.stdout, 'data');
      return child;
    },
    async hivebar(...words) {
      const from = performance.now();
      await using cli = startCli(['daemon', ...words], { env });
      const { code } = await cli.ended();
      return { code, stdout: cli.lines.join('\n'), stderr: cli.stderr, ms: performance.now() - from };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Not one of these is touched. */
async function goOn(others: readonly DaemonProcess[]): Promise<void> {
  for (const other of others) assert.equal((await other.status()).pid, other.pid);
}

describe('persona daemon check 13: lifecycle verbs', { concurrency: 4 }, () => {
  test('wrap ends one, which says so upstream, and leaves unit, truth and tokens; install starts it again', async () => {
    await using the = await scene();
    const [ada, bo] = [await the.daemon('ada'), await the.daemon('bo')];
    const { code, stdout } = await the.hivebar('wrap', 'acme-ada');
    assert.deepEqual([code, stdout], [0, 'acme-ada: ended; it is paused until hivebar daemon install starts it again']);
    assert.deepEqual(await ada.cli.ended(), { code: 0, signal: null });
    assert.deepEqual(
      the.up.recording.received('bye').map(({ frame }) => frame.reason),
      ['wrap'],
    );
    assert.equal(configAt(ada.places).paused, true);
    assert.ok(the.systemd.unit(toUnitName('ada')) !== null && existsSync(ada.places.observeToken));
    assert.deepEqual(the.systemd.requests.slice(-2), [
      `systemctl --user disable ${toUnitName('ada')}.service`,
      `systemctl --user stop ${toUnitName('ada')}.service`,
    ]);
    await goOn([bo]);
    assert.equal((await the.hivebar('install', '--tenant', 'acme', '--identity', 'ada')).code, 0);
    assert.equal(configAt(ada.places).paused, false);
    assert.ok(the.systemd.requests.includes(`systemctl --user restart ${toUnitName('ada')}.service`));
  });

  test('archive ends all of a persona, takes the unit away and keeps the truth', async () => {
    await using the = await scene();
    const [ada, bo] = [await the.daemon('ada'), await the.daemon('bo')];
    const { code, stdout } = await the.hivebar('archive', '--persona', 'ada', '--json');
    assert.deepEqual(
      [code, JSON.parse(stdout)],
      [0, [{ name: 'acme-ada', end: 'asked', unit: 'removed', config: 'kept' }]],
    );
    assert.equal((await ada.cli.ended()).code, 0);
    assert.equal(the.systemd.unit(toUnitName('ada')), null);
    assert.deepEqual([configAt(ada.places).paused, existsSync(ada.places.actToken)], [true, true]);
    await goOn([bo]);
  });

  test('destroy ends exactly what is bound to a project, one that is deaf to all included, and leaves nothing of it', {
    timeout: 120_000,
  }, async () => {
    await using the = await scene();
    const [ada, bo] = [await the.daemon('ada'), await the.daemon('bo')];
    const cy = await the.daemon('cy', { project: join(the.home.env.HOME ?? '', 'another') });
    const deaf = await the.deaf('di', 'term');
    const { code, stdout, ms } = await the.hivebar('destroy', '--project', the.home.project);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^acme-ada: ended; .* are removed\nacme-bo: ended; .*\nacme-di: .* and was killed; .*removed$/,
    );
    assert.ok(ms >= 7000, `${ms}: 5 s to be asked and 2 s to be terminated come before the kill`);
    assert.equal((await ada.cli.ended()).code, 0);
    assert.equal((await bo.cli.ended()).code, 0);
    assert.equal(deaf.signalCode ?? (await once(deaf, 'exit'))[1], 'SIGKILL');
    for (const identity of ['ada', 'bo', 'di']) {
      const { dir, runtime } = the.home.places(identity);
      assert.deepEqual(
        [existsSync(dir), existsSync(runtime), the.systemd.unit(toUnitName(identity))],
        [false, false, null],
      );
    }
    await goOn([cy]);
    assert.ok(existsSync(cy.places.config) && the.systemd.unit(toUnitName('cy')) !== null);
  });

  test('G8 D6 given its directory is removed while it runs, nobody else starts and destroy ends it; a reused number is nobody', {
    timeout: 60_000,
  }, async () => {
    await using the = await scene();
    const ada = await the.daemon('ada');
    const { places } = ada;
    rmSync(places.runtime, { recursive: true, maxRetries: 10 }); // the daemon may write into it meanwhile
    await using second = the.home.spawn({ tenant: 'acme', identity: 'ada' });
    const end = { code: null as number | null };
    void second.ended(30_000).then(
      ({ code }) => (end.code = code),
      () => {},
    );
    await until('the second has ended, or serves', () => end.code !== null || existsSync(places.socket));
    assert.deepEqual([end.code, existsSync(places.socket)], [0, false], 'it runs already');
    const life = async (): Promise<unknown> => {
      const { stdout } = await the.hivebar('list', '--json');
      return (JSON.parse(stdout) as readonly { readonly life: string }[])[0]?.life;
    };
    assert.equal(await life(), 'silent');
    assert.equal((await the.hivebar('wrap', 'acme-ada')).code, 0);
    assert.equal(await life(), 'paused');
    const wrapped = the.home.spawn({ tenant: 'acme', identity: 'ada' });
    assert.equal((await wrapped.ended()).code, 0);
    assert.match(
      wrapped.stderr,
      /acme-ada was ended by hivebar daemon wrap and does not start; start it again with hivebar daemon install --tenant acme/,
    );
    // Killed, and its number is that of a stranger by now.
    mkdirSync(places.runtime, { recursive: true, mode: 0o700 });
    const stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
    try {
      writeFileSync(places.pid, `${stranger.pid}\n`, { mode: 0o600 });
      assert.equal(await life(), 'paused');
      const destroyed = await the.hivebar('destroy', 'acme-ada');
      assert.equal(destroyed.code, 0, destroyed.stderr);
      assert.deepEqual([places.dir, places.runtime, places.pid, `${places.locked}.lock`].filter(existsSync), []);
      assert.deepEqual([stranger.exitCode, stranger.signalCode], [null, null]);
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  test('one that does not end when it is asked is terminated, and not killed', { timeout: 60_000 }, async () => {
    await using the = await scene();
    const deaf = await the.deaf('ada');
    const { code, stdout, ms } = await the.hivebar('wrap', 'acme-ada');
    assert.deepEqual([code, deaf.signalCode ?? (await once(deaf, 'exit'))[1]], [0, 'SIGTERM']);
    assert.match(stdout, /did not end when asked, and was terminated/);
    assert.ok(ms >= 5000, `${ms}: it has 5 s`);
  });

  test('a real daemon that hangs is gone with its shim, others go on', { timeout: 60_000 }, async () => {
    await using the = await scene();
    const deafShim = [process.execPath, '-e', 'setInterval(() => {}, 1000)'];
    const [ada, bo] = [
      await the.daemon('ada', { surface: 'codex', shim: { command: deafShim } }),
      await the.daemon('bo'),
    ];
    const { shim } = await ada.until('its shim', ({ shim }) => shim.pid !== null);
    process.kill(ada.pid, 'SIGSTOP');
    const { code, stdout } = await the.hivebar('wrap', '--tenant', 'acme', '--identity', 'ada');
    assert.deepEqual([code, await ada.cli.ended()], [0, { code: null, signal: 'SIGKILL' }]);
    assert.match(stdout, /and was killed; it is paused/);
    await until('the shim is gone', () => readStartKey(shim.pid ?? 0, process.platform) === null);
    await goOn([bo]);
  });

  test('G8 a number that is written down wrong hits no stranger: it is said that the daemon is still there', {
    timeout: 60_000,
  }, async () => {
    await using the = await scene();
    const deaf = await the.deaf('ada', 'term');
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      writeFileSync(the.home.places('ada').pid, `${stranger.pid}\n`);
      const { code, stderr } = await the.hivebar('destroy', 'acme-ada');
      assert.equal(code, 1);
      assert.match(stderr, /still runs after it was asked to end, terminated and killed/);
      assert.deepEqual(
        [stranger.exitCode, stranger.signalCode, deaf.exitCode, deaf.signalCode],
        [null, null, null, null],
      );
      assert.ok(existsSync(the.home.places('ada').config));
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  test('one that does not run is wrapped all the same; what is chosen twice, or not at all, is refused', async () => {
    await using the = await scene();
    const ada = await the.daemon('ada');
    await ada.kill();
    assert.match((await the.hivebar('wrap', 'acme-ada')).stdout, /^acme-ada: did not run; it is paused/);
    assert.equal((await the.hivebar('destroy')).code, 2);
    assert.equal((await the.hivebar('destroy', 'acme-ada', '--project', the.home.project)).code, 2);
    assert.match(
      (await the.hivebar('archive', '--project', '/nowhere')).stderr,
      /no daemon is installed for \/nowhere/,
    );
    assert.equal((await the.hivebar('archive', '--keep', 'acme-ada')).code, 2);
    assert.ok(existsSync(ada.places.config));
  });
});
