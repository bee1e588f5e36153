import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { userSystemd } from '../kit/user-systemd.ts';

const BARE = ['--no-tray', '--no-notifications'];
const CLAUDE = '{"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n';
const CODEX = '{\n  "hooks": {}\n}';

/** Every file and link below a folder with its bytes. */
function readTree(folder: string): ReadonlyMap<string, string> {
  const tree = new Map<string, string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isFile()) tree.set(relative(folder, path), readFileSync(path, 'base64'));
    if (stat.isSymbolicLink()) tree.set(relative(folder, path), readlinkSync(path));
  }
  return tree;
}

/** The default places below HOME, as without HIVEBAR_HOME; agent programs are used, and no systemd answers. */
function prepareHome(home: TrayHome): Readonly<Record<string, string>> {
  for (const [folder, file, text] of [
    ['.claude', 'settings.json', CLAUDE],
    ['.codex', 'hooks.json', CODEX],
  ] as const) {
    mkdirSync(join(home.home, folder));
    writeFileSync(join(home.home, folder, file), text);
  }
  return { HIVEBAR_HOME: '', XDG_CACHE_HOME: '', HIVEBAR_PORT: '0', DISPLAY: ':99', XDG_CURRENT_DESKTOP: 'XFCE' };
}

/** Ends the program in the background, when the test failed before it did. */
const endAfter = (pid: number): Disposable => ({
  [Symbol.dispose]() {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended, as it should
    }
  },
});

describe('hivebar uninstall', { skip: process.platform !== 'linux' }, () => {
  test('given hooks, an autostart entry and a run, with --purge HOME holds what it held before, byte for byte', async () => {
    using home = trayHome(null);
    const env = { ...prepareHome(home), PATH: `${join(home.home, 'none')}:/bin:/usr/bin` };
    const before = readTree(home.home);
    const run = (...args: string[]) => home.run(args, { env });
    assert.equal((await run('hook', 'install', '--harness', 'claude', '--persona', 'ada')).code, 0);
    await run('hook', 'install', '--harness', 'codex', '--persona', 'bo'); // 1: Codex asks for trust
    assert.equal((await run('service', 'install')).code, 0);
    assert.ok(existsSync(join(home.home, '.config/autostart/hivebar.desktop')));
    const fish = join(home.home, '.config/fish/completions/hivebar.fish');
    mkdirSync(join(fish, '..'), { recursive: true });
    writeFileSync(fish, (await run('completions', 'fish')).stdout);
    assert.equal((await run('demo')).code, 0);
    assert.equal((await run('restart')).code, 0);
    using _left = endAfter(Number(/pid (\d+)/.exec((await run('logs')).stdout)?.[1]));
    assert.equal((await run('status')).code, 0);
    assert.equal((await run('config', 'set', 'maxReplay', '7')).code, 0);
    const { code, stdout, stderr } = await run('uninstall', '--purge', '--yes');
    assert.deepEqual([code, stderr], [0, '']);
    for (const words of [
      /^hivebar has stopped$/m,
      /^removed the hooks of Claude Code from .*\.claude\/settings\.json$/m,
      /^removed the hooks of Codex from .*\.codex\/hooks\.json$/m,
      /^removed start at login: .*\.config\/autostart\/hivebar\.desktop$/m,
      /^removed .*\/completions\/hivebar\.fish$/m,
      /^removed .*\.local\/state\/hivebar$/m,
      /^remove the program itself with: npm uninstall --global hivebar$/m,
    ])
      assert.match(stdout, words);
    assert.deepEqual([...readTree(home.home)], [...before]);
  });

  test('without --purge mail and settings stay, and nobody is asked; with it, nobody there to answer is a refusal', async () => {
    using home = trayHome();
    await using tray = await home.start(BARE);
    await home.run(['send', '--to', 'ada', '--from', 'me', 'hello']);
    const refused = await home.run(['uninstall', '--purge']);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /nobody is there to answer: --yes answers for you/);
    assert.equal((await tray.status()).totals.personas, 1, 'it still runs');
    const { code, stdout } = await home.run(['uninstall']);
    assert.equal(code, 0);
    assert.equal(stdout, 'hivebar has stopped\nremove the program itself with: npm uninstall --global hivebar\n');
    assert.match((await home.run(['inbox', 'show', 'ada'])).stdout, /hello/);
  });

  test('of a HIVEBAR_HOME it removes its own files only, and with them a persona daemon', async () => {
    using home = trayHome();
    const systemd = userSystemd(home.home);
    const project = join(home.home, 'project');
    mkdirSync(project);
    const run = (...args: string[]) => home.run(args, { env: systemd.env });
    await run('send', '--to', 'ada', '--from', 'me', 'hello');
    await run('daemon', 'install', '--tenant', 'acme', '--identity', 'ada', '--project', project);
    assert.notEqual(systemd.unit('prism-daemon-acme-ada'), null);
    writeFileSync(home.at('thesis.txt'), 'mine');
    const { code, stdout } = await run('uninstall', '--purge', '--yes');
    assert.equal(code, 0);
    assert.match(stdout, /^acme-ada: .*its unit, configuration and tokens are removed$/m);
    assert.match(stdout, /^kept, because it is not of Hivebar: .*thesis\.txt$/m);
    assert.equal(systemd.unit('prism-daemon-acme-ada'), null);
    assert.deepEqual([...readTree(home.dir).keys()], ['thesis.txt']);
  });
});
