import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { programEntry } from '../kit/program.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';

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

describe('the cache of compiled code', () => {
  const cacheOf = (home: string): string => join(home, '.cache', 'hivebar', 'compile');

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
    for (const path of [join(home.home, '.cache', 'hivebar'), cacheOf(home.home)])
      assert.equal(statSync(path).mode & 0o777, 0o700, path);
  });

  test('B8 given a cache that others could write into, it is put aside and begun anew', async () => {
    using home = trayHome();
    const cache = cacheOf(home.home);
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
    const cache = cacheOf(home.home);
    mkdirSync(cache, { recursive: true });
    execFileSync('chown', ['12345', cache]);
    const env = { XDG_CACHE_HOME: join(home.home, '.cache') };
    assert.equal((await home.run(['config', 'path'], { env })).code, 0);
    assert.deepEqual(readdirSync(cache), []);
  });
});
