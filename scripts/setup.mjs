/**
 * Everything a fresh clone needs before it can run, with any Node >= 18 and nothing installed. Cheap when all is there.
 * `npm start`, `npm test` and `scripts/hivebar` call it by themselves; by hand: `node scripts/setup.mjs`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { installDebianPackages } from './debian.mjs';
import { once } from './once.mjs';
import { projectNode, root, stamp } from './paths.mjs';

const lockfile = join(root, 'package-lock.json');
const icons = join(root, 'assets', 'icons');
const iconStamp = join(root, '.cache', 'icons.sha256');
const say = (line) => process.stderr.write(`set-up: ${line}\n`);

/**
 * @returns {Promise<string>} the Node to run the project on
 * @throws with what to do next in the message
 */
export async function setUp() {
  if (Number(process.versions.node.split('.')[0]) < 18) {
    throw new Error(`Node ${process.versions.node} is too old even for the set-up: use Node 18 or newer`);
  }
  if (!isInstalled()) {
    const waiting = (pid) => say(`process ${pid} is installing; waiting for it`);
    await once(join(root, '.cache', 'setup.lock'), install, waiting);
  }
  if (!areIconsRendered()) {
    const waiting = (pid) => say(`process ${pid} is rendering the icons; waiting for it`);
    await once(join(root, '.cache', 'icons.lock'), renderIcons, waiting);
  }
  return projectNode();
}

/** What tests need beside the packages; only CI insists on it. */
export async function setUpForTests() {
  const node = await setUp();
  if (process.env.CI)
    await once(
      join(root, '.cache', 'debian.lock'),
      () => installDebianPackages(say),
      () => {},
    );
  return node;
}

function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp).equals(readFileSync(lockfile));
}

/**
 * Whether an `npm install` has left just what the lock file says: then there is nothing to take away from under the
 * processes that run on it.
 */
function isInstalledByHand() {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = JSON.parse(readFileSync(lockfile, 'utf8')).packages;
  const present = JSON.parse(readFileSync(record, 'utf8')).packages;
  return (
    Object.entries(present).every(([path, { version }]) => wanted[path]?.version === version) &&
    Object.entries(wanted).every(([path, { optional }]) => path === '' || optional || path in present)
  );
}

function install() {
  if (isInstalled()) return; // by the process waited for
  if (isInstalledByHand()) return copyFileSync(lockfile, stamp);
  say('installing packages (npm ci)');
  const [file, ...args] = npm();
  // A Node older than the runtime only installs here, so npm's warning about it would mislead: errors only.
  const run = spawnSync(file, [...args, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && file === 'npm.cmd',
  });
  if (run.error?.code === 'ENOENT') throw new Error(`${file} was not found: install npm, it comes with Node`);
  if (run.error) throw run.error;
  if (run.status !== 0) {
    throw new Error(
      `npm ci failed (${run.signal ?? `exit ${run.status}`}), its message is above: check the network and the disk, then run the same command again`,
    );
  }
  projectNode(); // an install without a usable runtime is no install
  copyFileSync(lockfile, stamp);
}

/** What the icons are rendered from: the drawings and the code that renders them. */
function hashIconSources() {
  const hash = createHash('sha256');
  const drawings = readdirSync(join(root, 'assets', 'svg')).toSorted();
  for (const path of [
    ...drawings.map((name) => join('assets', 'svg', name)),
    ...['icons.ts', 'icon-svg.ts', 'digits.ts'].map((name) => join('build', name)),
    join('app', 'tray', 'icons.node.ts'),
  ]) {
    hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  }
  return hash.digest('hex');
}

function areIconsRendered() {
  return existsSync(icons) && existsSync(iconStamp) && readFileSync(iconStamp, 'utf8') === hashIconSources();
}

function renderIcons() {
  if (areIconsRendered()) return; // by the process waited for
  const sources = hashIconSources();
  say('rendering the icons');
  const run = spawnSync(projectNode(), [join(root, 'build', 'icons.ts')], { cwd: root, stdio: ['ignore', 2, 2] });
  if (run.error) throw run.error;
  if (run.status !== 0)
    throw new Error(`build/icons.ts failed (${run.signal ?? `exit ${run.status}`}), its message is above`);
  writeFileSync(iconStamp, sources);
}

/** The npm that started this process, else the one on PATH. */
function npm() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  if (script?.endsWith('.js') && existsSync(script))
    return [node && existsSync(node) ? node : process.execPath, script];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}

/** Ends the process with the message alone: a stack trace tells a user nothing here. */
export function fail(error) {
  process.stderr.write(`set-up: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await (process.argv.includes('--tests') ? setUpForTests() : setUp()).catch(fail);
}
