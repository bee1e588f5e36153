import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
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
import { brotliCompressSync } from 'node:zlib';
import { HELPER_PROGRAMS, unpackHelperProgram } from '../app/helper-programs.node.ts';
import { silentLog } from '../core/ports/index.ts';
import { createRealDisk } from '../core/state/index.ts';
import { programFiles } from '../test/house/source-file.ts';
import { installPackage } from '../test/kit/installed-package.ts';
import { buildPackage } from './package.ts';

const ROOT = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  bin: Record<string, string>;
};

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const toPackageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** What a program must not load, at once or later: its memory depends on it. */
const FORBIDDEN: readonly (readonly [entry: string, libraries: readonly string[]])[] = [
  [
    'app/cli/watch.ts',
    ['fastify', 'conf', 'ajv', 'pino', 'ws', 'nats-core', 'dbus-next', 'client', 'prom-client', 'zod'],
  ],
  [
    'app/cli/daemon/run.ts',
    ['fastify', 'conf', 'ajv', 'pino', 'undici', 'commander', 'nats-core', 'dbus-next', 'client'],
  ],
];

test('files that programs share bring no library to a program that does not use it', async () => {
  const out = mkdtempSync(join(tmpdir(), 'hivebar-bundles-'));
  try {
    const outputs = Object.fromEntries((await buildPackage(out)).flatMap((bundle) => Object.entries(bundle.outputs)));
    for (const [entry, libraries] of FORBIDDEN) {
      const start = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entry) ?? assert.fail(entry);
      const reached = new Set<string>();
      const visit = (path: string): void => {
        if (reached.has(path)) return;
        reached.add(path);
        for (const { path: next, external } of outputs[path]?.imports ?? []) if (external !== true) visit(next);
      };
      visit(start);
      const held = [...reached].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
      const names = new Set(held.map((path) => /.*node_modules\/(?:@[^/]+\/)?([^/]+)/.exec(path)?.[1]));
      assert.ok(reached.size > 5, `${entry} loads its parts`);
      assert.deepEqual(
        libraries.filter((name) => names.has(name)),
        [],
        entry,
      );
    }
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});

describe('the published package', () => {
  let folder = '';
  let files: readonly string[] = [];
  let packages: readonly string[] = [];
  let bytes = 0;
  const installed = (): string => join(folder, 'node_modules', 'hivebar');

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hivebar-package-'));
    ({ packages, bytes } = installPackage(folder));
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
      'dist/THIRD-PARTY-LICENSES.txt',
      'dist/page/index.html',
      'dist/assets/icons/icons.br',
    ]) {
      assert.ok(files.includes(path), path);
    }
    assert.deepEqual(
      files.filter((path) => /\.(ts|map|test\.\w+)$|^(app|core|test|scripts)\b/.test(path)),
      [],
    );
  });

  test('is installed as three packages, which take up at most 20 MB of a disk', () => {
    const compiled = packages.filter((name) => name.startsWith('@koromix/koffi-'));
    assert.equal(compiled.length, 1, packages.join());
    assert.deepEqual(packages, [...compiled, 'hivebar', 'koffi']);
    assert.ok(bytes <= 20e6, `${bytes} bytes`);
  });

  test('holds every library, and the licence of each', () => {
    const licenses = readFileSync(join(installed(), 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    const listed = new Set([...licenses.matchAll(/^((?:@[^@/\s]+\/)?[^@\s]+)@\d[^\s]* \(/gm)].map(([, name]) => name));
    const imported = programFiles()
      .filter(({ path }) => /^(app|core)\//.test(path) && !path.endsWith('.test.ts'))
      .flatMap(({ imports }) => imports.filter(({ target, typeOnly }) => target === null && !typeOnly))
      .flatMap(({ specifier }) => (specifier.startsWith('node:') ? [] : toPackageName(specifier)));
    // CommonJS files keep their path in a bundle, so the bundles name what they hold, also what libraries brought.
    const bundled = readdirSync(join(installed(), 'dist'))
      .filter((name) => /\.c?js$/.test(name))
      .flatMap((name) => [
        ...readFileSync(join(installed(), 'dist', name), 'utf8').matchAll(
          /"(?:node_modules\/[^"\n]*?)?node_modules\/((?:@[^/"]+\/)?[^/"\n]+)\/[^"\n]+\.c?js"/g,
        ),
      ])
      .flatMap(([, name = '']) => name);
    assert.ok(bundled.includes('fastify') && imported.includes('conf'), 'the search finds libraries');
    const needed = new Set([...imported, ...bundled, 'undici', 'uplot', 'systray2', 'node-notifier']);
    assert.deepEqual(
      [...needed].filter((name) => !listed.has(name)),
      [],
    );
    assert.match(licenses, /GNU LESSER GENERAL PUBLIC LICENSE/, 'that of SnoreToast');
  });

  test('holds every file that a helper program needs, each as it came', () => {
    const source = join(ROOT, 'node_modules', 'node-notifier', 'vendor', 'mac.noindex');
    const application = readdirSync(source, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const known: readonly string[] = HELPER_PROGRAMS['terminal-notifier'];
    assert.deepEqual(known.map((file) => join(ROOT, 'node_modules', file)).toSorted(), application.toSorted());
    for (const needed of Object.values(HELPER_PROGRAMS)) {
      const packed = join(installed(), 'dist', 'helpers');
      const program = unpackHelperProgram(createRealDisk(silentLog), packed, join(folder, 'unpacked'), needed);
      const root = program.slice(0, -needed[0].length);
      for (const file of needed)
        assert.ok(readFileSync(join(root, file)).equals(readFileSync(join(ROOT, 'node_modules', file))), file);
    }
  });

  const skip = process.platform === 'linux' && process.arch === 'x64' ? false : 'the helper is for Linux on x64';
  test('unpacks a helper program on first use, believes no file but its own, and says what is missing', {
    skip,
  }, () => {
    const home = join(folder, 'helper-home');
    mkdirSync(join(home, 'config'), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'config', 'config.json'), JSON.stringify({ tray: 'systray2' }), { mode: 0o600 });
    const env = { PATH: process.env.PATH, HOME: folder, HIVEBAR_HOME: home, XDG_CACHE_HOME: join(home, 'cache') };
    const examine = (): { readonly is: string; readonly seen: string; readonly next?: string } => {
      const entry = join(installed(), manifest.bin.hivebar ?? '');
      const { stdout, stderr } = spawnSync(process.execPath, [entry, 'doctor', '--json'], { env, encoding: 'utf8' });
      const { checks } = JSON.parse(stdout || assert.fail(stderr));
      return checks.find(({ name }: { readonly name: string }) => name === 'tray helper');
    };
    examine();
    const helpers = join(home, 'cache', 'hivebar', 'helpers');
    const [version = ''] = readdirSync(helpers);
    const program = join(helpers, version, 'systray2', 'traybin', 'tray_linux_release');
    const original = readFileSync(join(import.meta.dirname, '..', 'node_modules/systray2/traybin/tray_linux_release'));
    assert.ok(readFileSync(program).equals(original));
    for (const path of [program, dirname(program), helpers, dirname(helpers)])
      assert.equal(lstatSync(path).mode & 0o777, 0o700, path);
    const { ino } = lstatSync(program);
    examine();
    assert.equal(lstatSync(program).ino, ino, 'kept');

    writeFileSync(program, 'other');
    examine();
    assert.ok(readFileSync(program).equals(original), 'another content is replaced');
    chmodSync(program, 0o755);
    examine();
    assert.equal(lstatSync(program).mode & 0o777, 0o700);
    const other = join(home, 'other');
    writeFileSync(other, original, { mode: 0o700 });
    rmSync(program);
    symlinkSync(other, program);
    examine();
    assert.ok(lstatSync(program).isFile() && readFileSync(program).equals(original), 'a symlink is replaced');

    const packed = join(installed(), 'dist', 'helpers', 'systray2', 'traybin', 'tray_linux_release.br');
    const bytesBefore = readFileSync(packed);
    rmSync(program);
    writeFileSync(packed, bytesBefore.subarray(0, 1000));
    assert.match(JSON.stringify(examine()), /tray_linux_release\.br: .*install Hivebar again/);
    assert.equal(existsSync(program), false);
    writeFileSync(packed, brotliCompressSync('other'));
    assert.match(JSON.stringify(examine()), /tray_linux_release\.br: its content is not what was built/);
    assert.equal(existsSync(program), false);
    rmSync(packed);
    assert.match(JSON.stringify(examine()), /tray_linux_release\.br is missing.*install again/);
    writeFileSync(packed, bytesBefore);
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
