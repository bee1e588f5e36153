import { join, resolve } from 'node:path';
import { type Io, toUsageFault } from '../../../core/command/index.ts';
import { displayJson, displayName } from '../../../core/format/index.ts';
import {
  type DaemonConfig,
  type DaemonPlaces,
  formatDaemonConfig,
  isListening,
  LOCAL,
  LONGEST_SOCKET,
  parseDaemonConfig,
  readDaemonConfig,
  readDaemonToken,
  toJoinedName,
  writeDaemonConfig,
  writeDaemonToken,
} from '../../../core/link/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import {
  clearStamps,
  type Disk,
  findOwnDirs,
  getErrno,
  readPrivate,
  toIoFault,
  toPendingDir,
  writeAtomically,
} from '../../../core/state/index.ts';
import { findDeafness } from '../../hook/index.ts';
import { createDaemonHandle, type DaemonService, endDaemon, isHeld } from '../../service/index.ts';
import { checkTokenFile } from '../token-file.ts';
import { createContext, type DaemonContext, reportRefusal } from './daemon-context.ts';
import { type InstallArgs, parseInstallArgs } from './install-args.ts';
import { findLastLog } from './last-log.node.ts';
import { removeDaemonFiles } from './remove.node.ts';

const DEFAULTS = {
  surface: 'claude-code',
  autonomy: null,
  upstream: LOCAL,
  wakeIdle: false,
  owner: 'launcher',
  shim: null,
  installDeps: false,
  activateVenv: false,
} as const;

/**
 * `daemon install`: writes the configuration, creates the tokens, and has the launcher start the daemon now and at every login.
 * On a repeated install, values that are left out stay, and a daemon that runs correctly is left alone.
 * @throws Fault `usage`, or the reason why it cannot be written or started
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const options = parseInstallArgs(args);
  const context = createContext(io);
  const code = await install(options, context, io);
  if (code !== 0 || options.print) return code;
  const config = readDaemonConfig(context.disk, context.places(options));
  const trouble = config === null ? null : await findHarnessTrouble(config, io);
  if (trouble === null) return 0;
  io.err(`hivebar daemon: ${displayName(trouble)}\n`);
  return 1;
}

/** A daemon without working hooks gets no turn boundaries and never rings. Null: the hooks work, or the daemon needs none. */
async function findHarnessTrouble(config: DaemonConfig, io: Io): Promise<string | null> {
  try {
    const deafness = await findDeafness(config, io.env);
    if (deafness === null) return null;
    return `the daemon is installed, but it cannot ring between turns: ${deafness}`;
  } catch (error) {
    return `the daemon is installed; its hooks could not be checked: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function install(asked: InstallArgs, ground: DaemonContext, io: Io): Promise<number> {
  const places = ground.places(asked);
  const before = readPreviousConfig(places, ground);
  const trouble = findInstallTrouble(asked, before, places, ground);
  if (trouble !== null) return reportRefusal(ground, trouble);
  const config = createConfig(asked, before, places, ground);
  const service = ground.service(config);
  if (asked.print) {
    const { path, text } = await service.print();
    io.err(`${displayName(`install would write ${path}`)}\n`);
    io.out(text);
    return 0;
  }
  const status = await service.check();
  if (status.is === 'foreign')
    return reportRefusal(ground, `${status.path} ${status.why}: it is left as it is; move it away first`);
  const isSame = before !== null && JSON.stringify(before) === JSON.stringify(config);
  if (before !== null && before.owner !== config.owner) await handOver(before, places, ground);
  writeTokens(config, asked, before, places, ground);
  // A daemon of the tray program gets even an equal configuration again: the program rests until the file is written.
  if (!isSame || config.owner === 'tray') writeDaemonConfig(ground.disk, ground.random, places, config);
  forgetQuiet(config, io);
  if (config.owner === 'tray')
    return reportInstalled(config, { path: null, lingers: null }, { ...asked, isUp: false }, io);
  const runs = isSame && status.is === 'ours' && !status.isOld && (await service.isRunning()) === true;
  try {
    if (!runs) await service.install();
  } catch (error) {
    if (before === null) removeDaemonFiles(ground.disk, places); // a partial installation would look complete
    throw addTrayHint(error);
  }
  const isUp = await waitForAnswer(places);
  if (!isUp) reportNoAnswer(places, ground);
  const code = await enableLingering(config, service, { ...asked, isUp }, io);
  return isUp ? code : 1;
}

const UP_MS = 3000;
const CHECK_EVERY_MS = 50;

/** Whether the control socket answers. A launcher only reports that it started a process. */
async function waitForAnswer(places: DaemonPlaces): Promise<boolean> {
  const never = new AbortController().signal;
  for (const until = realClock.monotonic() + UP_MS; ; await realClock.sleep(CHECK_EVERY_MS, never)) {
    if (await isListening(places, UP_MS)) return true;
    if (realClock.monotonic() >= until) return false;
  }
}

function reportNoAnswer(places: DaemonPlaces, { io }: DaemonContext): void {
  const last = findLastLog(places, io.env);
  const why = last === null ? 'its log is empty' : `its log says: ${last}`;
  const text = `${places.name} is installed and started, but did not answer within ${UP_MS / 1000} s; ${why}`;
  io.err(`hivebar daemon: ${displayName(`${text} (hivebar daemon list shows its state)`)}\n`);
}

/** Adds a hint: without a session of the launcher the tray program can start the daemon. */
function addTrayHint(error: unknown): unknown {
  if (!(error instanceof Fault) || error.code !== 'exec-failed') return error;
  const message = `${error.message}; use --by tray to let the tray program start it instead`;
  return new Fault(error.code, message, error.scope, { cause: error });
}

/** Returns the earlier configuration; null when there is none. A configuration that cannot be read is written anew. */
function readPreviousConfig(places: DaemonPlaces, { disk }: DaemonContext): DaemonConfig | null {
  try {
    return readDaemonConfig(disk, places);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'daemon-config') throw error;
    disk.log.warn(`${error.message}; replacing it`);
    return null;
  }
}

/** Returns why the daemon cannot be installed; null when it can. */
function findInstallTrouble(
  { tenant, identity, settings, observeFile }: InstallArgs,
  before: DaemonConfig | null,
  places: DaemonPlaces,
  { disk, os }: DaemonContext,
): string | null {
  if (before !== null && (before.tenant !== tenant || before.identity !== identity))
    return `the name ${places.name} is already used by the tenant ${before.tenant} with the identity ${before.identity}: use another --tenant or --identity than ${tenant} and ${identity}`;
  if (before === null && settings.project === undefined)
    throw toUsageFault(new Error('daemon install: --project is missing'));
  const bytes = Buffer.byteLength(places.socket);
  if (os !== 'win32' && bytes > LONGEST_SOCKET)
    return `ipc_bind_failed: ${places.socket} has ${bytes} bytes, but a socket path can have at most ${LONGEST_SOCKET}: set a shorter HIVEBAR_HOME or XDG_RUNTIME_DIR`;
  if (
    before !== null &&
    settings.project !== undefined &&
    settings.project !== resolve(before.project) &&
    isHeld(disk, places)
  )
    return `${places.name} is bound to the project ${before.project} while it runs: end it with \`hivebar daemon wrap ${places.name}\`, then install it for ${settings.project}`;
  const upstream = settings.upstream ?? before?.upstream ?? LOCAL;
  const isOther = before === null || before.upstream !== upstream;
  if (upstream !== LOCAL && isOther && observeFile === null)
    throw toUsageFault(new Error(`--upstream ${upstream}: its token is missing: use --token-file FILE`));
  if (upstream === LOCAL && observeFile !== null)
    throw toUsageFault(
      new Error('--token-file is used only with --upstream URL: Hivebar creates the tokens of the local hive itself'),
    );
  return null;
}

/**
 * Builds the configuration and parses its own text. Equal settings then give equal configurations, and nothing unreadable is
 * written.
 */
function createConfig(
  { tenant, identity, requestedName, settings }: InstallArgs,
  before: DaemonConfig | null,
  places: DaemonPlaces,
  ground: DaemonContext,
): DaemonConfig {
  const known = before ?? { ...DEFAULTS, address: requestedName.identity, project: settings.project ?? '' };
  const config: DaemonConfig = { ...known, ...settings, tenant, identity, paused: false };
  const kind = findKind(config.project, ground);
  if (kind !== 'directory')
    throw toUsageFault(
      new Error(`--project ${config.project}: ${kind === null ? 'does not exist' : `is a ${kind}, not a folder`}`),
    );
  return parseDaemonConfig(formatDaemonConfig(config), places.config);
}

function findKind(path: string, { disk }: DaemonContext) {
  try {
    return disk.files.lstat(`${path}/.`)?.kind ?? null;
  } catch (error) {
    if (getErrno(error) === 'ENOTDIR') return 'file';
    throw error;
  }
}

/**
 * Moves a daemon from the launcher to the tray program or back, never leaving it with both. The previous owner sees that the
 * daemon is paused.
 */
async function handOver(before: DaemonConfig, places: DaemonPlaces, ground: DaemonContext): Promise<void> {
  const { disk, random } = ground;
  writeDaemonConfig(disk, random, places, { ...before, paused: true });
  await endDaemon(places, 'another launcher', createDaemonHandle(disk, places), realClock);
  if (before.owner === 'launcher') await ground.service(before).uninstall();
}

/**
 * Enables lingering. The daemon that was started keeps running. Without lingering it would end at logout, which is reported as
 * a failure.
 */
async function enableLingering(
  config: DaemonConfig,
  service: DaemonService,
  asked: InstallResult,
  io: Io,
): Promise<number> {
  const { path } = await service.print();
  try {
    await service.enableLinger();
  } catch (error) {
    reportInstalled(config, { path, lingers: false }, asked, io);
    const why = error instanceof Error ? error.message : String(error);
    const now = asked.isUp ? 'it runs, and ends' : 'it ends';
    const then = `${now} when you log out: run \`loginctl enable-linger\` yourself, or as root for this user`;
    io.err(`hivebar daemon: ${displayName(`${why}: ${then}`)}\n`);
    return 1;
  }
  return reportInstalled(config, { path, lingers: true }, asked, io);
}

type InstallResult = InstallArgs & { readonly isUp: boolean };

interface UnitResult {
  readonly path: string | null;
  readonly lingers: boolean | null;
}

function reportInstalled(
  config: DaemonConfig,
  { path, lingers }: UnitResult,
  { json, isUp }: InstallResult,
  io: Io,
): number {
  const name = toJoinedName(config);
  const { project, owner, address, upstream } = config;
  if (json) {
    io.out(
      `${displayJson(JSON.stringify({ name, address, project, upstream, owner, unit: path, linger: lingers }))}\n`,
    );
    return 0;
  }
  const by =
    path === null
      ? 'the tray process starts it while it runs'
      : isUp
        ? `it runs, now and at every login, by ${path}`
        : `${path} starts it at every login`;
  io.out(`${displayName(`${name}: installed for ${address}, bound to ${project}; ${by}`)}\n`);
  return 0;
}

const MOST_BYTES = 64 * 1024;

/**
 * Writes the tokens of a daemon and of its surface. For the local hive they are created once; for another upstream they are
 * copied from files.
 * @throws Fault `unreadable` for a token file that others may read, `daemon-config` for a file without a token
 */
function writeTokens(
  { upstream }: DaemonConfig,
  { observeFile, actFile }: Pick<InstallArgs, 'observeFile' | 'actFile'>,
  before: DaemonConfig | null,
  { observeToken, actToken }: DaemonPlaces,
  context: DaemonContext,
): void {
  const { disk, random } = context;
  for (const [path, from] of [
    [observeToken, observeFile],
    [actToken, actFile],
  ] as const) {
    if (from !== null) writeAtomically(disk, random, path, `${readToken(from, context)}\n`);
    else if (before?.upstream !== upstream) remove(disk, path); // a token is useless for another upstream
    if (from === null && upstream === LOCAL && readDaemonToken(disk, path) === null)
      writeDaemonToken(disk, random, path);
  }
}

function remove({ files }: Disk, path: string): void {
  try {
    files.unlink(path);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw toIoFault(error, path, 'unwritable');
  }
}

function readToken(path: string, { disk }: DaemonContext): string {
  checkTokenFile(disk, path);
  const bytes = readPrivate(disk, path, MOST_BYTES);
  const token = bytes === null ? '' : Buffer.from(bytes).toString('utf8').trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new Fault('unreadable', `${path} must contain exactly one word, the token`, { is: 'machine', key: 'token' });
}

/** Clears the stamps that let hooks skip questions: what the local hive said does not apply to another upstream. */
function forgetQuiet({ address, upstream }: DaemonConfig, { env }: Io): void {
  if (upstream === LOCAL) return;
  clearStamps(toPendingDir(join(findOwnDirs({ ...env }).state, 'hivebar.sqlite')), [address]);
}
