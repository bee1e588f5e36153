import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { askDaemon, type DaemonConfig, type DaemonPlaces, type DaemonStatus } from '../../core/link/index.ts';
import { type DaemonHome, daemonHome } from '../kit/daemon-process.ts';
import { installHooks } from '../kit/hooks.ts';
import { runCli } from '../kit/process.ts';
import { supervise } from '../kit/supervisor.ts';
import { until } from '../kit/until.ts';
import { referenceUpstream } from '../kit/upstream/index.ts';
import { type UserSystemd, userSystemd } from '../kit/user-systemd.ts';

const getHome = ({ env }: DaemonHome): string => env.HOME ?? '';
const system = (home: DaemonHome, fails?: string): UserSystemd => userSystemd(getHome(home), fails);

function hivebar(home: DaemonHome, systemd: UserSystemd, words: readonly string[], env = {}) {
  if (words[0] === 'install' && !words.includes('--print')) installHooks(getHome(home), home.env.HIVEBAR_HOME ?? '');
  return runCli(['daemon', ...words], { env: { ...home.env, ...systemd.env, ...env } });
}

const ada = (home: DaemonHome, ...more: readonly string[]): readonly string[] => [
  ...['install', '--tenant', 'acme', '--identity', 'ada', '--project', home.project],
  ...more,
];

const configAt = ({ config }: DaemonPlaces): DaemonConfig => JSON.parse(readFileSync(config, 'utf8'));

async function askStatus(places: DaemonPlaces): Promise<DaemonStatus | null> {
  const asked = await askDaemon(places, { verb: 'status' }, { timeoutMs: 5000 });
  return asked.is === 'answered' ? asked.answer : null;
}

describe('hivebar daemon install', () => {
  test('persona daemon check 17: the unit is started and the user lingers', async () => {
    using home = daemonHome();
    const systemd = system(home);
    const done = await hivebar(home, systemd, ada(home));
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /^acme-ada: installed for ada, bound to .*project; it runs, now and at every login/);
    assert.deepEqual(systemd.requests, [
      'systemctl --user daemon-reload',
      'systemctl --user reenable prism-daemon-acme-ada.service',
      'systemctl --user restart prism-daemon-acme-ada.service',
      'loginctl enable-linger',
    ]);
  });

  test('C6 without hooks that run it is installed, said to be mute, and no success; doctor and hook status say so too', async () => {
    using home = daemonHome();
    const systemd = system(home);
    const env = { ...home.env, ...systemd.env };
    const none = await runCli(['daemon', ...ada(home)], { env });
    assert.equal(none.code, 1);
    assert.match(none.stdout, /^acme-ada: installed/);
    assert.match(none.stderr, /cannot ring between turns: Claude Code has no hooks: run hivebar hook install/);
    const runDoctor = async () => {
      const { code, stdout } = await runCli(['doctor', '--json'], { env });
      const { checks } = JSON.parse(stdout) as { readonly checks: readonly Record<'name' | 'is' | 'seen', string>[] };
      const { is, seen } = checks.find(({ name }) => name === 'hooks') ?? assert.fail('no check of hooks');
      return { code, is, seen };
    };
    assert.deepEqual(await runDoctor(), {
      code: 1,
      is: 'fail',
      seen: 'the daemon acme-ada cannot ring between turns: Claude Code has no hooks: run hivebar hook install --harness claude',
    });
    const ofProject = ['hook', 'install', '--harness', 'claude', '--project'];
    assert.equal((await runCli(ofProject, { env, cwd: home.project })).code, 0);
    assert.equal((await runCli(['daemon', ...ada(home)], { env })).code, 0, 'those of its project are hooks too');
    assert.equal((await runDoctor()).is, 'skipped');
    rmSync(join(home.project, '.claude'), { recursive: true });
    installHooks(getHome(home), home.env.HIVEBAR_HOME ?? '');
    const path = join(getHome(home), '.claude/settings.json');
    const good = readFileSync(path, 'utf8');
    writeFileSync(path, JSON.stringify({ ...JSON.parse(good), disableAllHooks: true }));
    const off = await runCli(['daemon', ...ada(home)], { env });
    assert.equal(off.code, 1);
    assert.match(
      off.stderr,
      /the hooks of Claude Code do not work: they do not run: .*settings\.json says "disableAllHooks": true/,
    );
    const switchedOff = await runDoctor();
    assert.deepEqual([switchedOff.code, switchedOff.is], [1, 'fail']);
    assert.match(
      switchedOff.seen,
      /^Claude Code: they do not run: .*disableAllHooks.*; the daemon acme-ada cannot ring between turns/,
    );
    writeFileSync(path, good);
    assert.deepEqual((await runCli(['daemon', ...ada(home)], { env })).code, 0);
    assert.equal((await runCli(['hook', 'status'], { env })).code, 0);
    const fallback = await runCli(['daemon', ...ada(home, '--surface', 'fallback')], {
      env: { ...env, CLAUDE_CONFIG_DIR: '/no' },
    });
    assert.equal(fallback.code, 0, 'another surface needs no hooks');
  });

  test('hooks of Codex that nobody trusted are installed and mute: daemon install, doctor and hook status say what to do', async () => {
    using home = daemonHome();
    const systemd = system(home);
    const env = { ...home.env, ...systemd.env };
    const install = () => runCli(['daemon', ...ada(home, '--surface', 'codex')], { env });
    installHooks(getHome(home), home.env.HIVEBAR_HOME ?? '');
    const config = join(getHome(home), '.codex', 'config.toml');
    const trusted = readFileSync(config, 'utf8');
    assert.equal((await install()).code, 0);
    const doctor = async () => {
      const { stdout } = await runCli(['doctor', '--json'], { env });
      const { checks } = JSON.parse(stdout) as { readonly checks: readonly Record<'name' | 'is' | 'seen', string>[] };
      return checks.find(({ name }) => name === 'hooks') ?? assert.fail('no check of hooks');
    };
    assert.equal((await doctor()).is, 'ok');
    const states = [
      ['', 'installed, not trusted: run /hooks in Codex'],
      [
        trusted.replaceAll(/sha256:[0-9a-f]{2}/g, 'sha256:00'),
        'installed, not trusted in this form: run /hooks in Codex',
      ],
      [trusted.replaceAll(/(trusted_hash.*)/g, '$1\nenabled = false'), 'installed, switched off: run /hooks in Codex'],
    ] as const;
    for (const [text, words] of states) {
      writeFileSync(config, text);
      const done = await install();
      assert.equal(done.code, 1, words);
      assert.match(done.stdout, /^acme-ada: installed/);
      assert.ok(
        done.stderr.includes(`cannot ring between turns: the hooks of Codex do not work: ${words} (${config}: `),
        done.stderr,
      );
      const { is, seen } = await doctor();
      assert.equal(is, 'fail');
      assert.ok(seen.includes(`Codex: ${words}`) && seen.includes('; the daemon acme-ada cannot ring'), seen);
      const status = await runCli(['hook', 'status', '--harness', 'codex'], { env });
      assert.equal(status.code, 1);
      assert.ok(status.stdout.includes(`(${words} (${config}: `), status.stdout);
    }
  });

  test('persona daemon check 17: a user who may not linger is told the command, and it is no success', async () => {
    using home = daemonHome();
    const done = await hivebar(home, system(home, 'linger'), ada(home));
    assert.equal(done.code, 1);
    assert.match(
      done.stderr,
      /loginctl enable-linger: ended with 1: Access denied: it runs, and ends when you log out/,
    );
    const none = await runCli(['daemon', ...ada(home, '--json')], {
      env: { ...home.env, ...system(home, 'linger').env },
    });
    assert.deepEqual([none.code, JSON.parse(none.stdout).linger], [1, false]);
  });

  test('what it writes down: names made once, the truth and two tokens, private', async () => {
    using home = daemonHome();
    const systemd = system(home);
    const words = ['install', '--tenant', 'Acme Corp.', '--identity', 'Zoë', '--project', home.project];
    const done = await hivebar(home, systemd, [...words, '--surface', 'codex', '--wake-idle', '--autonomy', 'high']);
    assert.equal(done.code, 0, done.stderr);
    const places = home.places('zoe', 'acme-corp');
    assert.deepEqual(configAt(places), {
      surface: 'codex',
      autonomy: 'high',
      upstream: 'local',
      wakeIdle: true,
      owner: 'launcher',
      shim: null,
      installDeps: false,
      activateVenv: false,
      address: 'Zoë',
      project: home.project,
      tenant: 'acme-corp',
      identity: 'zoe',
      paused: false,
    });
    const tokens = [places.observeToken, places.actToken].map((path) => readFileSync(path, 'utf8'));
    for (const token of tokens) assert.match(token, /^[0-9a-f]{64}\n$/);
    assert.notEqual(tokens[0], tokens[1]);
    const modes = [places.dir, places.config, places.observeToken, places.actToken].map(
      (path) => statSync(path).mode & 0o777,
    );
    assert.deepEqual(modes, [0o700, 0o600, 0o600, 0o600]);
    const unit = systemd.unit('prism-daemon-acme-corp-zoe') ?? '';
    assert.ok(unit.includes(`"--tenant" "acme-corp" "--identity" "zoe" "--project" "${home.project}"`), unit);
    assert.ok(!tokens.some((token) => unit.includes(token.trim())));
  });

  test('again: what is not said stays, tokens too, and one that runs as it should is left alone', async () => {
    using home = daemonHome();
    const systemd = system(home);
    await hivebar(home, systemd, ada(home, '--persona', 'ada@hive', '--wake-idle'));
    const places = home.places('ada');
    const before = [places.config, places.observeToken, places.actToken].map((path) => readFileSync(path, 'utf8'));
    const again = await hivebar(home, systemd, ['install', '--tenant', 'acme', '--identity', 'ada']);
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(
      [places.config, places.observeToken, places.actToken].map((path) => readFileSync(path, 'utf8')),
      before,
    );
    const restarts = (): number => systemd.requests.filter((call) => call.includes(' restart ')).length;
    assert.equal(restarts(), 1);
    await hivebar(home, systemd, [...ada(home), '--no-wake-idle']);
    assert.deepEqual([configAt(places).wakeIdle, configAt(places).address, restarts()], [false, 'ada@hive', 2]);
  });

  test('a second pair with the same joined name is refused, and nothing of the first is touched', async () => {
    using home = daemonHome();
    const systemd = system(home);
    const install = ['install', '--project', home.project];
    await hivebar(home, systemd, [...install, '--tenant', 'a-b', '--identity', 'c']);
    const places = home.places('c', 'a-b');
    const before = readFileSync(places.config, 'utf8');
    const second = await hivebar(home, systemd, [...install, '--tenant', 'a', '--identity', 'b-c']);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /the name a-b-c is already used by the tenant a-b with the identity c/);
    assert.equal(readFileSync(places.config, 'utf8'), before);
  });

  test('a launcher that does not start it leaves nothing behind', async () => {
    using home = daemonHome();
    const systemd = system(home, 'restart');
    const done = await hivebar(home, systemd, ada(home));
    assert.equal(done.code, 1);
    assert.match(done.stderr, /restart prism-daemon-acme-ada.service: ended with 1: Access denied/);
    assert.deepEqual([systemd.unit('prism-daemon-acme-ada'), existsSync(home.places('ada').dir)], [null, false]);
  });

  test('bad input is said, and nothing is written', async () => {
    using home = daemonHome();
    const systemd = system(home);
    const file = join(getHome(home), 'file');
    writeFileSync(file, 'x'.repeat(20), { mode: 0o644 });
    const pair = ['install', '--tenant', 'acme', '--identity', 'ada'];
    for (const [words, code, message] of [
      [pair, 2, /--project is missing/],
      [[...pair, '--project', file], 2, /is a file, not a folder/],
      [[...pair, '--project', '/no/such/folder'], 2, /does not exist/],
      [
        ['install', '--tenant', '—', '--identity', 'ada', '--project', home.project],
        2,
        /must contain a letter a-z or a digit/,
      ],
      [ada(home, '--surface', 'vscode'), 2, /must be claude-code, codex, fallback/],
      [ada(home, '--by', 'cron'), 2, /must be launcher or tray/],
      [ada(home, '--system'), 2, /a persona daemon belongs to a user/],
      [ada(home, '--upstream', 'http://example.org'), 2, /must be local, an https or wss URL/],
      [ada(home, '--upstream', 'https://example.org'), 2, /its token is missing/],
      [ada(home, '--upstream', 'https://example.org', '--token-file', file), 1, /has mode 0644, .*chmod 600/],
      [ada(home, '--token-file', file), 2, /--token-file is used only with --upstream URL/],
      [ada(home, '--', 'shim'), 2, /by its absolute path/],
    ] as const) {
      const ran = await hivebar(home, systemd, words);
      assert.equal(ran.code, code, `${words.join(' ')}\n${ran.stderr}`);
      assert.match(ran.stderr, message);
    }
    assert.deepEqual([systemd.requests, existsSync(join(home.dir, 'daemons', 'acme-ada', 'daemon.json'))], [[], false]);
  });

  test('D5 a daemon that does not answer is not said to run: what its log says is, and the exit is 1', async () => {
    using home = daemonHome();
    const record = JSON.stringify({ level: 'error', msg: 'daemon.json cannot be read: mode 0644' });
    const done = await hivebar(home, userSystemd(getHome(home), 'never', record), ada(home));
    assert.equal(done.code, 1, done.stdout);
    assert.doesNotMatch(done.stdout, /it runs/);
    assert.match(
      done.stderr,
      /acme-ada is installed and started, but did not answer within 3 s; its log says: daemon.json cannot be read/,
    );
  });

  test('D5 without a bus of the user the other way is named, and it works', async () => {
    using home = daemonHome();
    const systemd = system(home, 'daemon-reload');
    const done = await hivebar(home, systemd, ada(home));
    assert.equal(done.code, 1);
    assert.match(
      done.stderr,
      /daemon-reload: ended with 1: .*; use --by tray to let the tray program start it instead/,
    );
    const byTray = await hivebar(home, systemd, ada(home, '--by', 'tray'));
    assert.equal(byTray.code, 0, byTray.stderr);
    assert.match(byTray.stdout, /the tray process starts it while it runs/);
  });

  test('D4 a UUID in the name of a unit is refused, the way out is named, and it works', async () => {
    using home = daemonHome();
    const systemd = system(home);
    const uuid = '0B9F8C3E-4d5a-4b6c-9d7e-8f9a0b1c2d3e';
    const install = (tenant: string, identity: string, ...more: readonly string[]) =>
      hivebar(home, systemd, [
        'install',
        '--tenant',
        tenant,
        '--identity',
        identity,
        '--project',
        home.project,
        ...more,
      ]);
    for (const [tenant, identity] of [
      ['acme', uuid],
      ['acme', uuid.replaceAll('-', '')],
      ['acme', `ada-${uuid}`],
      [uuid.toLowerCase(), 'ada'],
    ] as const) {
      const refused = await install(tenant, identity);
      assert.equal(refused.code, 2, refused.stdout);
      assert.match(refused.stderr, tenant === 'acme' ? /--identity ada --persona '.*'/ : /for example --tenant acme/);
    }
    assert.deepEqual([systemd.requests, existsSync(join(home.dir, 'daemons'))], [[], false]);
    await install('acme', 'ada', '--persona', uuid);
    assert.deepEqual([configAt(home.places('ada')).identity, configAt(home.places('ada')).address], ['ada', uuid]);
  });

  test('a socket path that is too long is said before anything is written', async () => {
    using home = daemonHome();
    const systemd = system(home);
    const deep = join(home.dir, 'd'.repeat(60));
    const ran = await hivebar(home, systemd, ada(home), { HIVEBAR_HOME: deep });
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /ipc_bind_failed: .* bytes, but a socket path can have at most 103/);
    assert.deepEqual([existsSync(deep), systemd.requests], [false, []]);
  });

  test('for another upstream its tokens are taken over, and are not in the unit', async () => {
    using home = daemonHome();
    await using up = await referenceUpstream();
    const persona = up.persona('acme', 'ada');
    const systemd = system(home);
    const file = (name: string, token: string): string => {
      const path = join(getHome(home), name);
      writeFileSync(path, `${token}\n`, { mode: 0o600 });
      chmodSync(path, 0o600);
      return path;
    };
    const tokens = ['--token-file', file('o', persona.observe), '--act-token-file', file('a', persona.act)];
    const done = await hivebar(home, systemd, ada(home, '--upstream', up.url, ...tokens));
    assert.equal(done.code, 0, done.stderr);
    await using supervisor = supervise(systemd.unit('prism-daemon-acme-ada') ?? '', home.env);
    await until('it is registered', () => up.recording.received('hello').length === 1);
    assert.doesNotMatch(systemd.unit('prism-daemon-acme-ada') ?? '', new RegExp(persona.observe));
    assert.equal(supervisor.starts, 1);
    // Back to the local hive, which has never seen them.
    await hivebar(home, systemd, ada(home, '--upstream', 'local'));
    assert.match(readFileSync(home.places('ada').observeToken, 'utf8'), /^[0-9a-f]{64}\n$/);
    assert.notEqual(readFileSync(home.places('ada').actToken, 'utf8').trim(), persona.act);
  });

  test('print says the unit, and writes nothing', async () => {
    using home = daemonHome();
    const systemd = system(home);
    const printed = await hivebar(home, systemd, ada(home, '--print'));
    assert.equal(printed.stderr, `install would write ${systemd.unitPath('prism-daemon-acme-ada')}\n`);
    assert.match(printed.stdout, /\nSyslogIdentifier=prism-daemon-acme-ada\n/);
    assert.deepEqual([existsSync(home.dir), systemd.requests], [false, []]);
  });

  test('uninstall takes it all back, except that the user lingers; --keep leaves the truth', async () => {
    using home = daemonHome();
    const systemd = system(home);
    await hivebar(home, systemd, ada(home));
    const places = home.places('ada');
    const saved = await hivebar(home, systemd, ['uninstall', 'acme-ada', '--keep']);
    assert.equal(saved.code, 0, saved.stderr);
    assert.deepEqual([systemd.unit('prism-daemon-acme-ada'), configAt(places).paused], [null, true]);
    assert.ok(existsSync(places.actToken));
    await hivebar(home, systemd, ['install', '--tenant', 'acme', '--identity', 'ada']);
    assert.equal(configAt(places).paused, false);
    const gone = await hivebar(home, systemd, ['uninstall', 'acme-ada']);
    assert.equal(gone.code, 0, gone.stderr);
    assert.deepEqual([systemd.unit('prism-daemon-acme-ada'), existsSync(places.dir)], [null, false]);
    assert.ok(!systemd.requests.some((call) => call.includes('disable-linger')));
    assert.match(
      (await hivebar(home, systemd, ['uninstall', 'acme-ada'])).stderr,
      /no daemon of that name is installed/,
    );
  });
});

test('persona daemon check 2: three personas are three units, three processes, three sockets; a kill concerns one', async () => {
  using home = daemonHome();
  const systemd = system(home);
  const names = ['ada', 'bo', 'cy'];
  for (const identity of names) {
    const words = ['install', '--tenant', 'acme', '--identity', identity, '--project', home.project];
    assert.equal((await hivebar(home, systemd, words)).code, 0);
  }
  assert.deepEqual(
    readdirSync(join(getHome(home), '.config/systemd/user')).toSorted(),
    names.map((identity) => `prism-daemon-acme-${identity}.service`),
  );
  await using stack = new AsyncDisposableStack();
  for (const identity of names) stack.use(supervise(systemd.unit(`prism-daemon-acme-${identity}`) ?? '', home.env));
  const pids = async (): Promise<readonly number[]> => {
    const all = await Promise.all(names.map((identity) => askStatus(home.places(identity))));
    return all.flatMap((status) => (status === null ? [] : [status.pid]));
  };
  const waitUntilQuiet = async (fits: (all: readonly number[]) => boolean): Promise<readonly number[]> => {
    for (let all = await pids(); ; all = await pids()) if (all.length === 3 && fits(all)) return all;
  };
  const before = await waitUntilQuiet(() => true);
  assert.equal(new Set(before).size, 3);
  assert.equal(new Set(names.map((identity) => statSync(home.places(identity).socket).ino)).size, 3);
  process.kill(before[0] ?? 0, 'SIGKILL');
  const after = await waitUntilQuiet(([first]) => first !== before[0]);
  assert.deepEqual(after.slice(1), before.slice(1));
});

test('persona daemon check 18: a second project is refused while the daemon lives, and taken once it is wrapped', async () => {
  using home = daemonHome();
  const systemd = system(home);
  const other = join(getHome(home), 'other');
  mkdirSync(other);
  await hivebar(home, systemd, ada(home));
  const places = home.places('ada');
  const unit = systemd.unit('prism-daemon-acme-ada') ?? '';
  {
    await using _supervisor = supervise(unit, home.env);
    for (let status = null; status === null; status = await askStatus(places));
    const refused = await hivebar(home, systemd, ada(home, '--project', other));
    assert.equal(refused.code, 1);
    assert.ok(refused.stderr.includes(`is bound to the project ${home.project} while it runs`), refused.stderr);
    assert.deepEqual([configAt(places).project, systemd.unit('prism-daemon-acme-ada')], [home.project, unit]);
    assert.equal((await askStatus(places))?.project, home.project);
    assert.equal((await hivebar(home, systemd, ['wrap', 'acme-ada'])).code, 0);
    assert.equal(await askStatus(places), null);
  }
  const accepted = await hivebar(home, systemd, ada(home, '--project', other));
  assert.equal(accepted.code, 0, accepted.stderr);
  await using _supervisor = supervise(systemd.unit('prism-daemon-acme-ada') ?? '', home.env);
  let status: DaemonStatus | null = null;
  while (status === null) status = await askStatus(places);
  assert.equal(status.project, other);
});

test('list says what is installed, what it does, and what cannot be read', async () => {
  using home = daemonHome();
  const systemd = system(home);
  assert.match((await hivebar(home, systemd, ['list'])).stdout, /no daemon is installed/);
  await hivebar(home, systemd, ada(home));
  await hivebar(home, systemd, [
    'install',
    '--tenant',
    'acme',
    '--identity',
    'bo',
    '--project',
    home.project,
    '--by',
    'tray',
  ]);
  await hivebar(home, systemd, ['install', '--tenant', 'acme', '--identity', 'cy', '--project', home.project]);
  await hivebar(home, systemd, ['wrap', 'acme-cy']);
  mkdirSync(join(home.dir, 'daemons', 'acme-di'), { mode: 0o700 });
  writeFileSync(join(home.dir, 'daemons', 'acme-di', 'daemon.json'), '{', { mode: 0o600 });
  await using _running = await home.start({ tenant: 'acme', identity: 'ada' });
  const { stdout } = await hivebar(home, systemd, ['list', '--json']);
  const rows = JSON.parse(stdout) as Record<string, unknown>[];
  assert.deepEqual(
    rows.map(({ name, owner, life, unit, fsm }) => [name, owner, life, unit, fsm]),
    [
      ['acme-ada', 'launcher', 'runs', 'active', 'DISCONNECTED'],
      ['acme-bo', 'tray', 'gone', 'tray', null],
      ['acme-cy', 'launcher', 'paused', 'active', null],
      ['acme-di', undefined, undefined, undefined, undefined],
    ],
  );
  assert.match(String(rows[3]?.error), /does not contain a JSON object/);
  const table = (await hivebar(home, systemd, ['list'])).stdout;
  assert.match(table, /^NAME {6}OWNER .*\nacme-ada {2}launcher +(restarting|failed) +DISCONNECTED .*active/);
  const removed = await hivebar(home, systemd, ['destroy', 'acme-di']);
  assert.equal(removed.code, 0, removed.stderr);
  assert.equal(existsSync(join(home.dir, 'daemons', 'acme-di')), false);
});

test('persona daemon check 16: the way to a Windows Service is documented, and the task is the default', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'contract', 'daemons.md'), 'utf8');
  const [, section = ''] = text.split('### Windows Service');
  for (const words of [
    /installs scheduled tasks only/,
    /daemon run --tenant T --identity I --project P/,
    /user's own account/,
  ])
    assert.match(section, words);
});
