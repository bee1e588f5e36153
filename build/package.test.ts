import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  bin: Record<string, string>;
  dependencies: Record<string, string>;
};

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

describe('the published package', () => {
  let folder = '';
  let files: readonly string[] = [];
  const modules = (): string => join(folder, 'node_modules');
  const installed = (): string => join(modules(), 'hivebar');

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hivebar-package-'));
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, stdio: 'pipe' });
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
    assert.ok(tarball);
    mkdirSync(installed(), { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, tarball), '-C', installed(), '--strip-components=1']);
    // What an install would fetch: the dependencies that the package names, and nothing else of this checkout.
    for (const name of Object.keys(manifest.dependencies)) {
      mkdirSync(dirname(join(modules(), name)), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), join(modules(), name));
    }
    files = readdirSync(installed(), { recursive: true, encoding: 'utf8' });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs one of the package's programs the way its link on PATH does. */
  function run(program: string, ...args: string[]): Promise<Run> {
    const env = {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: folder,
      HIVEBAR_HOME: join(folder, 'home'),
    };
    return new Promise((resolve) => {
      execFile(join(installed(), manifest.bin[program] ?? ''), args, { env }, (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err });
      });
    });
  }

  test('holds compiled JavaScript, the page, the icons and the legal texts, and no source or test', () => {
    for (const path of [
      'LICENSE',
      'NOTICE',
      'README.md',
      'dist/hivebar.cjs',
      'dist/hook.cjs',
      'dist/page/index.html',
      'dist/assets/icons',
    ]) {
      assert.ok(files.includes(path), path);
    }
    assert.deepEqual(
      files.filter((path) => /\.(ts|map|test\.\w+)$|^(app|core|test|scripts)\b/.test(path)),
      [],
    );
  });

  test('starts, knows its version and its commands', async () => {
    assert.deepEqual(await run('hivebar', '--version'), { code: 0, out: `${manifest.version}\n`, err: '' });
    assert.match((await run('hivebar', '--help')).out, /^ {2}status {2}/m);
  });

  test('says that nothing runs, and how to start it', async () => {
    assert.deepEqual(await run('hivebar', 'status', '--json'), {
      code: 1,
      out: '',
      err: 'hivebar is not running: start it with `hivebar`\n',
    });
  });

  test('loads every command it offers', async () => {
    const { out } = await run('hivebar', '--help');
    const names = [...out.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name]) => name ?? '');
    assert.ok(names.length >= 2);
    for (const name of names) {
      const help = await run('hivebar', name, '--help');
      assert.equal(help.code, 0, `${name}: ${help.err}`);
      assert.match(help.out, new RegExp(`^Usage: hivebar \\[?${name}\\b`));
    }
  });

  test('holds the hook as a program of its own, which loads little of Node when it tells of mail', async () => {
    const pushed = await run('hivebar', 'inbox', 'push', '--to', 'ada', '--type', 'event', '--priority', '0', 'hello');
    assert.equal(pushed.code, 0, pushed.err);
    const probe = join(folder, 'probe.cjs');
    const tell = "process.on('exit', () => require('node:fs').writeSync(2, process.moduleLoadList.join('\\n')))";
    writeFileSync(probe, tell);
    const entry = join(installed(), 'dist', 'hook.cjs');
    const args = ['--require', probe, entry, 'hook', '--harness', 'claude', '--event', 'PostToolUse'];
    const env = { HOME: folder, HIVEBAR_HOME: join(folder, 'home'), HIVEBAR_PERSONA: 'ada' };
    const input = JSON.stringify({ session_id: 's', hook_event_name: 'PostToolUse', cwd: folder, tool_name: 'Read' });
    const ran = spawnSync(process.execPath, args, { encoding: 'utf8', env, input });
    assert.equal(ran.status, 0);
    assert.match(ran.stdout, /additionalContext.*hello/);
    const loaded = ran.stderr.split('\n');
    assert.ok(loaded.includes('NativeModule sqlite'), ran.stderr);
    const dear = /^NativeModule (crypto|net|stream|child_process|tty|http|perf_hooks)$/;
    assert.deepEqual(
      loaded.filter((name) => dear.test(name)),
      [],
    );
  });

  test('has a hook that keeps what it compiled, once an event, and believes no file that is torn', () => {
    const cache = join(folder, 'cache');
    const env = { HOME: folder, XDG_CACHE_HOME: cache, HIVEBAR_HOME: join(folder, 'home'), HIVEBAR_PERSONA: 'nobody' };
    const entry = join(installed(), 'dist', 'hook.cjs');
    const hook = (event: string): void => {
      const input = JSON.stringify({ session_id: 's', hook_event_name: event, cwd: folder });
      const args = [entry, 'hook', '--harness', 'claude', '--event', event];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, input });
      assert.deepEqual([status, stdout, stderr], [0, '', ''], event);
    };
    const saved = (): string[] => readdirSync(join(cache, 'hivebar', 'compile')).sort();
    const ofNow = (event: string): string =>
      join(
        cache,
        'hivebar',
        'compile',
        saved().find((name) => new RegExp(`^hook-now-.*-${event}\\.bin$`).test(name)) ?? '',
      );
    hook('Stop');
    hook('PreCompact');
    const path = ofNow('Stop');
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const { ino } = statSync(path);
    hook('Stop');
    assert.equal(statSync(path).ino, ino, 'used, and not made again');
    const whole = readFileSync(path);
    for (const torn of [
      whole.subarray(0, 5000),
      Buffer.alloc(whole.length),
      Buffer.from(whole).fill(0, 4096),
      Buffer.of(),
    ]) {
      writeFileSync(path, torn);
      hook('Stop');
      const again = readFileSync(path);
      assert.ok(again.subarray(0, again.length / 2).equals(again.subarray(again.length / 2)), 'made anew');
      assert.notDeepEqual(again, torn);
    }
    const old = new Date(Date.now() - 7_200_000);
    utimesSync(path, old, old);
    hook('Stop');
    assert.ok(statSync(path).mtimeMs > old.getTime() + 3_600_000, 'renewed');
    assert.deepEqual(
      saved().filter((name) => !/\.bin$/.test(name)),
      [],
      'nothing half made is left',
    );
  });

  test('holds nobody up with a hook whose code is gone: 0, and one line', () => {
    const alone = join(folder, 'alone.cjs');
    copyFileSync(join(installed(), 'dist', 'hook.cjs'), alone);
    const { status, stdout, stderr } = spawnSync(process.execPath, [alone, 'hook'], { encoding: 'utf8', input: '{}' });
    assert.deepEqual([status, stdout], [0, '']);
    assert.match(stderr, /^hivebar hook: .*hook-now\.cjs.*\n$/);
  });

  test('is also installed under the name of the Kijito specification, as the headless watcher', async () => {
    const [alias, command] = await Promise.all([
      run('kijito-inbox-monitor', '--help'),
      run('hivebar', 'watch', '--help'),
    ]);
    assert.deepEqual(alias, command);
  });
});
