import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../kit/process.ts';
import { programEntry } from '../kit/program.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const isLinux = process.platform === 'linux';

describe('files that are not what they should be', () => {
  test('B9 given a pipe as config.json, every command refuses it at once and says what it is', async () => {
    using home = trayHome(null);
    mkdirSync(home.at('config'), { recursive: true, mode: 0o700 });
    execFileSync('mkfifo', [home.at('config', 'config.json')]);
    for (const args of [['run', '--port', '0'], ['config', 'show'], ['config', 'validate'], ['doctor']]) {
      const { code, stdout, stderr } = await home.run(args);
      assert.equal(code, 1, args.join(' '));
      assert.match(
        stdout + stderr,
        /config\.json: is not a regular file but a pipe, socket or device: move it away/,
        args.join(' '),
      );
    }
    const sent = await home.run(['send', '--to', 'ada', '--from', 'me', 'hello']);
    assert.equal(sent.code, 0, sent.stderr);
  });

  test('B9 given a config.json that is far too long, it is refused with its length and not read', async () => {
    using home = trayHome();
    truncateSync(home.at('config', 'config.json'), 64 * 1024 ** 2);
    for (const args of [
      ['run', '--port', '0'],
      ['config', 'show'],
    ]) {
      const { code, stderr } = await home.run(args);
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, /config\.json: has 67108864 bytes; the limit is \d+/, args.join(' '));
    }
  });

  test('B9 given a pipe in the place of the report of a damaged store, program and doctor go on without it', async () => {
    using home = trayHome();
    execFileSync('mkfifo', [home.at('hivebar.sqlite.report.json')]);
    await using tray = await home.start();
    assert.notEqual((await home.run(['doctor'])).code, null);
    await tray.post('/api/send', { to: 'ada', from: 'me', content: 'hello' });
    assert.equal((await tray.stop()).code, 0);
  });

  test('B9 given pipes where tokens, stamps and notes of hooks are read, nobody waits for them', async () => {
    using home = trayHome();
    mkdirSync(home.at('run', 'activity'), { recursive: true, mode: 0o700 });
    mkdirSync(home.at('run', 'pending'), { recursive: true, mode: 0o700 });
    mkdirSync(home.at('gates', 'ada'), { recursive: true, mode: 0o700 });
    mkdirSync(home.at('inject-queue'), { recursive: true, mode: 0o700 });
    const pipes = ['run/activity/ada', 'run/pending/ada', 'gates/ada/decision.json', 'inject-queue/s1.jsonl'];
    for (const path of pipes) execFileSync('mkfifo', [home.at(path)]);
    assert.equal((await home.run(['session', 'set', 'ada', '--id', 's1'])).code, 0);
    for (const args of [
      ['inbox', 'drain', 'ada'],
      ['gate', 'list', '--persona', 'ada'],
      ['session', 'list'],
    ])
      assert.notEqual((await home.run(args)).code, null, args.join(' '));
  });

  test('F10 given a configuration in Latin-1, it is refused with its place, and not rewritten', async () => {
    using home = trayHome();
    const path = home.at('config', 'config.json');
    const bytes = Buffer.from('{"primary": {"is": "local"},\n "tokenFile": "/home/jos\u00e9/token"}\n', 'latin1');
    writeFileSync(path, bytes);
    const set = await home.run(['config', 'set', 'sound', 'true']);
    assert.equal(set.code, 1);
    assert.match(set.stderr, /config\.json:2:25: the byte 0xe9 is not UTF-8: save the file as UTF-8/);
    assert.deepEqual(readFileSync(path), bytes);
    const run = await home.run(['run', '--port', '0']);
    assert.equal(run.code, 1);
    assert.match(run.stderr, /is not UTF-8/);
    assert.deepEqual(readFileSync(path), bytes);
  });

  test('F10 given a linked configuration, a change goes through the link', async () => {
    using home = trayHome();
    const path = home.at('config', 'config.json');
    const real = join(home.home, 'dotfiles.json');
    writeFileSync(real, '{"primary": {"is": "local"}}');
    rmSync(path);
    symlinkSync(real, path);
    assert.equal((await home.run(['config', 'set', 'sound', 'true'])).code, 0);
    assert.deepEqual(JSON.parse(readFileSync(real, 'utf8')), { primary: { is: 'local' }, sound: true });
  });
});

describe('the owner socket', { concurrency: 3 }, () => {
  for (const [label, put] of [
    ['an empty file', (path: string) => writeFileSync(path, '')],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a dangling link', (path: string) => symlinkSync('/nowhere/at/all', path)],
    ['a link to itself', (path: string) => symlinkSync('hivebar.sock', path)],
    ['a folder', (path: string) => mkdirSync(path)],
  ] as const) {
    test(`F10 given ${label} in its place, the program starts, moves it aside and says so`, async () => {
      using home = trayHome();
      mkdirSync(home.at('run'), { recursive: true, mode: 0o700 });
      put(home.at('run', 'hivebar.sock'));
      const before = await home.run(['send', '--to', 'ada', '--from', 'me', 'hello']);
      assert.deepEqual([before.code, before.stderr], [0, '']);
      await using tray = await home.start();
      const line = /hivebar\.sock was not a socket; it was renamed to .*\.set-aside-\d+/;
      await until('its line', () => line.test(tray.log.join('\n')));
      const status = await home.run(['status', '--json']);
      assert.equal(status.code, 0, status.stderr);
      assert.equal(readdirSync(home.at('run')).filter((name) => name.includes('set-aside')).length, 1);
    });
  }

  test('F10 given a HIVEBAR_HOME too long for a socket, program and command line meet all the same', async (t) => {
    if (needs(t, process.getuid === undefined ? 'there are no sockets with paths here' : null)) return;
    using home = trayHome();
    const env = { HIVEBAR_HOME: join(home.home, 'a-long-name-'.repeat(10)) };
    mkdirSync(join(env.HIVEBAR_HOME, 'config'), { recursive: true, mode: 0o700 });
    writeFileSync(join(env.HIVEBAR_HOME, 'config', 'config.json'), '{"primary": {"is": "local"}}', { mode: 0o600 });
    chmodSync(env.HIVEBAR_HOME, 0o700);
    const nobody = await home.run(['status'], { env });
    assert.match(nobody.stderr, /hivebar is not running/);
    await using cli = home.spawn([], env);
    await cli.says(/is running: http/);
    const status = await home.run(['status', '--json'], { env });
    assert.equal(status.code, 0, status.stderr);
    assert.doesNotMatch(status.stderr, /undefined/);
  });

  test('F10 given a stopped program, send waits for it a moment and not ten seconds', async () => {
    using home = trayHome();
    await using tray = await home.start();
    await sleep(1000); // stopped in the middle of what a start writes, it would hold the lock of the store
    tray.cli.kill('SIGSTOP');
    try {
      const { code, stderr } = await home.run(['send', '--to', 'ada', '--from', 'me', 'hello']);
      assert.equal(code, 0);
      assert.match(stderr, /timed out after 1 s/);
    } finally {
      tray.cli.kill('SIGCONT');
    }
    await tray.persona('ada', ({ unread }) => unread === 1);
  });
});

describe('words of the command line', () => {
  test('F10 given a value that begins with a dash, the refusal is one line without escapes', async () => {
    using home = trayHome();
    const { code, stderr } = await home.run(['mute', 'ada', '--for', '-5m']);
    assert.equal(code, 2);
    assert.doesNotMatch(stderr, /\\u/);
    assert.match(stderr, /^hivebar mute: .*--for.*\n$/);
  });

  test('F10 B7 given an opener that every click refuses, config set refuses it and writes nothing', async () => {
    using home = trayHome();
    const before = readFileSync(home.at('config', 'config.json'), 'utf8');
    for (const [opener, says] of [
      [{ is: 'command', argv: ['sh', '-c', 'show {persona}'] }, /more than a placeholder.*\$HIVEBAR_PERSONA/],
      [{ is: 'command', argv: ['env', '-S', '{persona}'] }, /program text for env/],
      [{ is: 'command', argv: ['{persona}'] }, /cannot be a placeholder|cannot be a placeholder/],
      [{ is: 'terminal', argv: ['bash', '-c', '{cwd}'] }, /program text for bash/],
      [{ is: 'url', template: 'javascript:{persona}' }, /are never opened/],
      [{ is: 'url', template: 'gopher://{persona}' }, /is not among urlSchemes/],
    ] as const) {
      const { code, stderr } = await home.run(['config', 'set', 'opener', JSON.stringify(opener)]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, says);
    }
    assert.equal(readFileSync(home.at('config', 'config.json'), 'utf8'), before);
    const good = { is: 'command', argv: ['code', '--', '{cwd}'] };
    assert.equal((await home.run(['config', 'set', 'opener', JSON.stringify(good)])).code, 0);
  });
});

describe('homes that cannot be written', () => {
  test('F9 given a home below /proc, every command ends with an error', async (t) => {
    if (needs(t, isLinux ? null : 'there is no /proc')) return;
    using home = trayHome();
    const env = { HIVEBAR_HOME: '/proc/hivebar', XDG_CACHE_HOME: '/proc/hivebar/cache' };
    for (const args of [
      ['send', '--to', 'ada', '--from', 'me', 'x'],
      ['run', '--port', '0'],
      ['inbox', 'list', 'ada'],
    ]) {
      const { code, stderr } = await home.run(args, { env });
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, /\/proc\/hivebar/, args.join(' '));
    }
    // What runs in an agent's turn says it and lets the agent go on.
    const drained = await home.run(['inbox', 'drain', 'ada'], { env });
    assert.equal(drained.code, 0);
    assert.match(drained.stderr, /\/proc\/hivebar/);
    const hook = await home.run(['hook', '--harness', 'claude', '--event', 'UserPromptSubmit'], {
      env: { ...env, HIVEBAR_PERSONA: 'ada' },
      stdin: JSON.stringify({ session_id: 's1', hook_event_name: 'UserPromptSubmit', cwd: '/' }),
    });
    assert.equal(hook.code, 0);
    assert.match(hook.stderr, /\/proc\/hivebar/);
  });

  test('F10 given an empty HOME, state goes to the home that the system knows, or nowhere', async () => {
    using home = trayHome();
    const folder = join(home.home, 'here');
    mkdirSync(folder);
    const { code, stdout } = await home.run(['config', 'path'], { env: { HOME: '', HIVEBAR_HOME: '' } });
    assert.equal(code, 0);
    assert.match(stdout, /^\//, 'absolute');
    assert.doesNotMatch(stdout, new RegExp(`^${process.cwd()}/`));
  });
});

describe('a user whom the system does not know', () => {
  test('F10 given no home at all, state goes nowhere and it is said what to set', async (t) => {
    // In a user namespace this user has a number that no list of users knows; where there are none, root becomes one.
    const wraps = [
      ['unshare', '--user', '--map-user=54321', '--'],
      ['setpriv', '--reuid=54321', '--clear-groups', '--'],
    ];
    const isUsable = ([become = '', ...as]: readonly string[]): boolean =>
      spawnSync(become, [...as, process.execPath, '--check', programEntry('hivebar')]).status === 0;
    const wrap = wraps.find(isUsable) ?? [];
    if (needs(t, wrap.length > 0 ? null : 'nobody can become a user without a home here, who reads this checkout'))
      return;
    using home = trayHome();
    const folder = join(home.home, 'here');
    mkdirSync(folder);
    for (const path of [join(home.home, '..'), home.home, folder]) chmodSync(path, 0o777);
    const env = { ...home.env, HOME: '', HIVEBAR_HOME: '', XDG_CACHE_HOME: '' };
    for (const args of [
      ['config', 'path'],
      ['send', '--to', 'ada', '--from', 'me', 'hello'],
    ]) {
      const { code, stderr } = await runCli(args, { env, wrap, cwd: folder });
      assert.notEqual(code, 0, args.join(' '));
      assert.match(stderr, /^hivebar \w+: there is no home directory .*: set HOME or HIVEBAR_HOME to an absolute path/);
    }
    assert.deepEqual(readdirSync(folder), []);
  });
});

describe('the cache of compiled code', () => {
  const findCache = (home: string): string => join(home, '.cache', 'hivebar', 'compile');

  test('B8 given the umask 000, the cache is for its user alone', async () => {
    using home = trayHome();
    const env = { XDG_CACHE_HOME: join(home.home, '.cache') };
    const { env: base } = home;
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(HIVEBAR|XDG|NODE)_/.test(name)),
    );
    execFileSync(
      '/bin/sh',
      ['-c', 'umask 000; exec "$@"', 'sh', process.execPath, programEntry('hivebar'), 'config', 'path'],
      {
        env: { ...inherited, ...base, ...env },
      },
    );
    for (const path of [join(home.home, '.cache', 'hivebar'), findCache(home.home)])
      assert.equal(statSync(path).mode & 0o777, 0o700, path);
  });

  test('B8 given a cache that others could write into, it is put aside and begun anew', async () => {
    using home = trayHome();
    const cache = findCache(home.home);
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, 'planted'), 'x');
    chmodSync(cache, 0o777);
    const env = { XDG_CACHE_HOME: join(home.home, '.cache') };
    assert.equal((await home.run(['config', 'path'], { env })).code, 0);
    assert.equal(statSync(cache).mode & 0o777, 0o700);
    assert.ok(!readdirSync(cache).includes('planted'));
  });

  test('B8 given a cache of somebody else, it is not used', async (t) => {
    if (needs(t, process.getuid?.() === 0 ? null : 'only root can give a folder away')) return;
    using home = trayHome();
    const cache = findCache(home.home);
    mkdirSync(cache, { recursive: true });
    execFileSync('chown', ['12345', cache]);
    const env = { XDG_CACHE_HOME: join(home.home, '.cache') };
    assert.equal((await home.run(['config', 'path'], { env })).code, 0);
    assert.deepEqual(readdirSync(cache), []);
  });
});
