/**
 * `npm test [-- WORDS] [-- --check | --style | --list]`: set-up, then the lanes. A lane that fails stops the rest.
 *   1. check: types, style, and the tests beside the code and of the architecture; two minutes.
 *   2. processes: whole programs, desktop, browser, servers.
 *   3. fault: kills, damage, a full disk.
 *   4. alone: what has bounds of a second: one file at a time.
 * WORDS: only test files whose path holds one of them, without types and style. `--check`: only the first lane.
 * `--style`: only types and style.
 */
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { become, environment } from './child.mjs';
import { root } from './paths.mjs';
import { fail, setUp, setUpForTests } from './setup.mjs';

const flags = process.argv.slice(2).filter((arg) => arg.startsWith('-'));
const words = process.argv.slice(2).filter((arg) => !arg.startsWith('-'));
const unknown = flags.find((flag) => !['--check', '--style', '--list'].includes(flag));
if (unknown !== undefined)
  fail(`unknown flag ${unknown}: there are --check, --style and --list, and words that test paths hold`);

const files = ['app', 'build', 'core', 'scripts', 'test', 'ui-static']
  .map((room) => join(root, room))
  .filter((folder) => existsSync(folder))
  .flatMap(testsUnder)
  .map((path) => relative(root, path).split(sep).join('/'))
  .filter((path) => words.length === 0 || words.some((word) => path.includes(word)));

/** What runs longest, longest first: begun last, it would run while the other cores have nothing to do. */
const LONGEST = [
  'test/e2e/external-many.test.ts',
  'test/e2e/external.test.ts',
  'test/e2e/page-brainclaw.test.ts',
  'test/e2e/page-decisions.test.ts',
  'test/e2e/follow.test.ts',
  'test/e2e/page.test.ts',
  'test/fault/nudge.test.ts',
  'test/e2e/daemon-upstream-faults.test.ts',
  'app/status/page.test.ts',
  'test/e2e/hook.test.ts',
  'test/e2e/remote-hives.test.ts',
  'test/e2e/tray-kill.test.ts',
  'test/e2e/tray-relay.test.ts',
  'test/newcomer/spool-source.test.ts',
  'test/e2e/sleep.test.ts',
  'test/e2e/field-reports.test.ts',
  'test/e2e/decisions.test.ts',
  'test/e2e/tray-menu.test.ts',
  'core/inbox/relay/trouble.test.ts',
  'test/e2e/equal-surfaces.test.ts',
  'test/e2e/watch-input.test.ts',
  'test/e2e/tray-outage.test.ts',
  'test/e2e/garden-mail.test.ts',
  'test/e2e/watch-delivery.test.ts',
  'test/e2e/real-codex-hooks.test.ts',
  'test/e2e/real-claude-hooks.test.ts',
  'test/e2e/real-claude.test.ts',
  'test/e2e/doctor.test.ts',
];
const gone = LONGEST.find((path) => !existsSync(join(root, path)));
if (gone !== undefined) fail(`LONGEST of scripts/test.mjs names ${gone}, which does not exist`);
/** Their bounds are those of a user, a second or two: they would be red beside others. */
const ALONE = ['test/fault/server.test.ts', 'test/e2e/daemon-hook.test.ts'];
// Half of a test's time is spent waiting for a process or for a moment to come.
const cores = availableParallelism();
const LANES = [
  { name: 'check', jobs: cores * 2 },
  { name: 'processes', jobs: cores + 1 },
  { name: 'fault', jobs: cores },
  { name: 'alone', jobs: 1 },
].map((lane) => ({ ...lane, files: longestFirst(files.filter((path) => laneFor(path) === lane.name)) }));

if (flags.includes('--list')) {
  process.stdout.write(files.map((path) => `${path}\n`).join(''));
} else {
  const onlyStyle = flags.includes('--style');
  const onlyCheck = flags.includes('--check');
  const node = await (onlyStyle || onlyCheck ? setUp() : setUpForTests()).catch(fail);
  const failed = await failedLane(node, onlyStyle ? [] : LANES.slice(0, onlyCheck ? 1 : LANES.length));
  if (failed !== null) process.stderr.write(`failed: ${failed}\n`);
  process.exitCode = failed === null ? 0 : 1;
}

/** Which lane a test file belongs to. What drives a browser, a desktop or a server waits for the second one. */
function laneFor(path) {
  if (ALONE.includes(path)) return 'alone';
  if (path.startsWith('test/fault/')) return 'fault';
  if (path.startsWith('test/') && !path.startsWith('test/house/') && !path.startsWith('test/kit/')) return 'processes';
  const drives = /from '[^']*\/kit\/(browser|desktop\/[a-z-]+|nats-server|relay-rig|user-systemd)\.ts'/;
  return drives.test(readFileSync(join(root, path), 'utf8')) ? 'processes' : 'check';
}

function longestFirst(paths) {
  const rank = (path) => (LONGEST.includes(path) ? LONGEST.indexOf(path) : LONGEST.length);
  return paths.toSorted((a, b) => rank(a) - rank(b));
}

/** Runs one lane after the other. @returns the first that failed; null: all went well */
async function failedLane(node, lanes) {
  if (lanes.length > 0 && files.length === 0) {
    process.stderr.write(`no test file has ${words.join(' or ')} in its path\n`);
    return 'tests';
  }
  const { env, home } = isolated();
  try {
    if (words.length === 0) {
      // The lanes after the first run what users run, which also starts sooner; a few tests by themselves run the sources.
      const packing = lanes.length > 1 ? packed(node, join(home, 'package')) : null;
      const [isClean, dist] = await Promise.all([checks(node), packing]);
      if (!isClean) return 'types or style';
      if (dist !== null) env.HIVEBAR_TEST_PACKAGE = dist;
    }
    const red = [];
    for (const lane of lanes) {
      if (lane.files.length === 0 || (await tests(node, lane, env)) === 0) continue;
      red.push(`${lane.name} tests`);
      if (words.length === 0) break;
    }
    return red.length === 0 ? null : red.join(', ');
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** All at once; what they print is shown one after the other. */
async function checks(node) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const tools = [
    ['types', [tsc, '-p', root]],
    ['types of the page', [tsc, '-p', join(root, 'ui-static'), '--noEmit']],
    ['style', [join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings', root]],
  ];
  const results = await Promise.all(tools.map(([name, args]) => captured(name, node, args)));
  for (const { name, code, output } of results) {
    process.stdout.write(code === 0 ? `${name}: clean\n` : `${output}${name}: not clean\n`);
  }
  return results.every(({ code }) => code === 0);
}

/** A test never sees the caller's settings, nor writes to the caller's home. */
function isolated() {
  const home = mkdtempSync(join(tmpdir(), 'hivebar-test-home-'));
  const env = environment({ HOME: home, USERPROFILE: home, ...(process.env.CI ? { HIVEBAR_REQUIRE_ALL: '1' } : {}) });
  for (const name of Object.keys(env)) {
    if (/^(HIVEBAR|KIJITOMON|XDG)_/.test(name) && name !== 'HIVEBAR_REQUIRE_ALL') delete env[name];
  }
  // 300 test processes load the same sources: each of them is compiled once.
  env.NODE_COMPILE_CACHE = join(home, '.cache', 'tests');
  return { env, home };
}

function tests(node, { name, jobs, files: paths }, env) {
  if (words.length === 0) process.stdout.write(`lane ${name}: ${paths.length} files\n`);
  return become(node, [join(root, 'scripts', 'run-tests.mjs'), String(jobs), ...paths], { cwd: root, env });
}

/** The program as it is published, beside koffi, the one package that it is published without. */
async function packed(node, folder) {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(join(root, 'node_modules', 'koffi'), join(folder, 'node_modules', 'koffi'), 'junction');
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  const out = join(folder, 'dist');
  const { code, output } = await captured('package', node, [join(root, 'build', 'package.ts'), out]);
  if (code !== 0) fail(`the program cannot be packed:\n${output}`);
  return out;
}

function captured(name, file, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: root, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ name, code, output }));
  });
}

function testsUnder(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith('.test.ts'))
    .sort()
    .map((path) => join(folder, path));
}
