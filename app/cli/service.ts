import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { defineCommand, type Io, toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { realRandom, realSpawn } from '../../core/ports/index.ts';
import { parseHiveUrl, toInboxIdentity } from '../../core/sources/index.ts';
import { createRealDisk, type Disk, getErrno, isLocked, toIoFault } from '../../core/state/index.ts';
import type { WatchPlan } from '../config/watch/index.ts';
import {
  createOwnHeadlessService,
  createOwnLoginStart,
  HEADLESS_LOG,
  type HeadlessService,
  type HeadlessStatus,
  type LoginStartStatus,
} from '../service/index.ts';
import { type Deployment, findPersona, listDeployedDirectories, readDeployment } from './deployed/index.ts';
import { createStderrLog, getHostOs } from './process.node.ts';
import { parseServiceFlags } from './service-flags.ts';
import { checkTokenFile } from './token-file.ts';

export const command = defineCommand(
  {
    name: 'service',
    about: [
      "Linux: a unit of the user's systemd, or an XDG autostart file where the desktop does not start with systemd.",
      'macOS: a LaunchAgent. Windows: a task of the Task Scheduler. A running tray program is not affected.',
    ],
    flags: {
      headless: {
        type: 'boolean',
        help: 'do this for `hivebar watch` without a desktop, which writes an event file per persona. It starts now and at every login, and is restarted 10 to 15 s after a crash. Install only one of the two services, because two would deliver everything twice',
      },
    },
    rest: { value: 'WATCH-FLAGS', help: 'flags of `hivebar watch`, for install --headless and print --headless' },
    verbs: {
      install: {
        help: 'start Hivebar at every login, from the next one on, with the paths of this Node and this program',
      },
      uninstall: {
        help: 'stop starting it at login',
        flags: {
          purge: {
            type: 'boolean',
            help: 'also remove the files that only the service uses, and list them first; events and mail are never removed',
          },
        },
      },
      status: { help: 'show what is installed; exit 1 if it starts a program that no longer exists' },
      print: { help: 'print what install would write on stdout, and its path on stderr; nothing is written' },
      run: {
        help: 'the command in the unit of --headless; do not run it yourself',
        internal: true,
        flags: {
          'stays-down': {
            type: 'boolean',
            help: 'exit with 0 where a restart would not help, for launchers that know only success and failure',
          },
          log: { type: 'string', value: 'FILE', completes: 'file', help: 'write messages into this file' },
        },
      },
    },
    notes: ['Exit code 0: done; 1: refused or failed, with the next step; 2: a bad command line.'],
    examples: [
      { run: 'hivebar service install', does: 'start at login; run it again after Node or Hivebar moved' },
      { run: 'hivebar service status', does: 'show whether it starts at login, and by which file' },
      {
        run: 'hivebar service install --headless -- --token-file ~/.kijito-token',
        does: 'write event files without a desktop',
      },
      { run: 'hivebar service print --headless', does: 'print its unit, for another supervisor' },
    ],
  },
  async (values, io) => {
    const { verb: word, headless, rest } = values;
    if (word === 'run' && !headless)
      throw toUsageFault(new Error('service run is started only by the unit of --headless'));
    if (rest !== null && (!headless || word === 'uninstall' || word === 'status'))
      throw toUsageFault(new Error('flags after -- are used only with install --headless and print --headless'));
    const flags = rest ?? [];
    if (word === 'run') {
      const { runService } = await import('./service-run.ts');
      const { createLoggingIo: loggingTo } = await import('./service-log.node.ts');
      const logIo = values.log === undefined ? io : loggingTo(values.log, io);
      return await runService(flags, values['stays-down'], logIo);
    }
    const disk = createRealDisk(createStderrLog(io, 'service'));
    const options = { word, purge: word === 'uninstall' && values.purge, flags };
    return headless ? await manageHeadless(options, disk, io) : await manageTray(options, disk, io);
  },
);

interface ServiceArgs {
  readonly word: 'install' | 'uninstall' | 'status' | 'print';
  readonly purge: boolean;
  /** Flags of `hivebar watch`. */
  readonly flags: readonly string[];
}

async function manageTray({ word, purge: purges }: ServiceArgs, disk: Disk, io: Io): Promise<number> {
  const machine = { os: getHostOs(), env: io.env, disk, random: realRandom, spawn: realSpawn };
  const login = createOwnLoginStart(machine);
  if (word === 'print') return printUnit(await login.print(), io);
  const before = await login.check();
  if (before.is === 'foreign' && word !== 'status') return reportRefusal(io, before.path, before.why);
  if (word === 'install') {
    const other = createOwnHeadlessService(machine).check();
    if (other.is === 'ours')
      return reportFailure(
        io,
        `${other.path} is the headless service, and two would deliver everything twice: ${REMOVE_HEADLESS}`,
      );
  }
  const missing = word === 'uninstall' ? null : await login.missing();
  if (word === 'install' && missing !== null)
    return reportFailure(io, `nothing would start Hivebar at login: ${missing}: ${INSTEAD}`);
  if (word !== 'status') await login.set(word === 'install');
  const status = word === 'status' ? before : await login.check();
  if (status.is === 'on' && status.gone === null && missing !== null)
    io.out(`${displayName(`does not start at login: ${status.path} exists, but ${missing}`)}\n`);
  else io.out(`${displayName(formatLoginState(status))}\n`);
  if (word === 'status') {
    const headless = await readStatus(createOwnHeadlessService(machine));
    io.out(`${displayName(formatHeadlessState(headless))}\n`);
    return isGone(before) || isGone(headless) || (before.is === 'on' && missing !== null) ? 1 : 0;
  }
  if (purges) io.out('there is nothing else to remove; mail, events and settings are kept\n');
  return 0;
}

const INSTEAD =
  'in a container use `hivebar watch` as its command; where systemd runs for the machine only, install with --headless';
const REMOVE_HEADLESS = 'run `hivebar service uninstall --headless` first';

async function manageHeadless(
  { word, purge: purges, flags: requestedFlags }: ServiceArgs,
  disk: Disk,
  io: Io,
): Promise<number> {
  const machine = { os: getHostOs(), env: io.env, disk, random: realRandom, spawn: realSpawn };
  const service = createOwnHeadlessService(machine);
  if (word === 'status') {
    const status = await readStatus(service);
    io.out(`${displayName(formatHeadlessState(status))}\n`);
    return isGone(status) ? 1 : 0;
  }
  const before = service.check();
  if (word === 'uninstall') {
    if (before.is === 'foreign') return reportRefusal(io, before.path, before.why);
    await service.uninstall();
    io.out(`${displayName(formatHeadlessState(service.check()))}\n`);
    return purges ? purgeFiles(service.directory, disk, io) : 0;
  }
  const { flags, plan, warnings } = parseServiceFlags(service.directory, requestedFlags);
  for (const warning of warnings) io.err(`hivebar service: ${displayName(warning)}\n`);
  if (word === 'print') return printUnit(await service.print(flags), io);
  if (before.is === 'foreign') return reportRefusal(io, before.path, before.why);
  const other = await createOwnLoginStart(machine).check();
  if (other.is === 'on' || (other.is === 'off' && other.path !== null))
    return reportFailure(
      io,
      `${other.path} starts Hivebar at login, and two would deliver everything twice: ${REMOVE_TRAY}`,
    );
  if (plan.tokenFile !== null) checkTokenFile(disk, plan.tokenFile);
  else if (io.env.KIJITOMON_TOKEN) io.err(`hivebar service: ${TOKEN_LEFT_OUT}\n`);
  const older = before.is === 'ours' ? null : findOlderMonitor(plan, disk, io.env);
  if (older !== null) return reportFailure(io, older);
  await service.install(flags);
  io.out(`${displayName(formatHeadlessState(service.check()))}\n`);
  if (plan.emit.is === 'template') io.out(`${displayName(`follow a persona: tail -F ${plan.emit.template}`)}\n`);
  if ((await service.isLingering()) === false) io.out(`${LINGER}\n`);
  return 0;
}

const REMOVE_TRAY = 'run `hivebar service uninstall` first';
const TOKEN_LEFT_OUT =
  'KIJITOMON_TOKEN is not written into the unit, so the service has no token: put it into a file (chmod 600) and install with -- --token-file FILE';
const LINGER =
  'it stops when you log out: run `loginctl enable-linger` to keep it running and start it with the machine';

function printUnit({ path, text }: { readonly path: string; readonly text: string }, io: Io): number {
  io.err(`${displayName(`install would write ${path}`)}\n`);
  io.out(text);
  return 0;
}

function purgeFiles(directory: string, disk: Disk, io: Io): number {
  const plan = planPurge(disk, directory);
  const held = findHeldLock(disk, plan);
  if (held !== null)
    return reportFailure(io, `${held} is locked: a watch runs with these files; stop it, then uninstall --purge again`);
  for (const path of plan.goes) io.out(`${displayName(`removes ${path}`)}\n`);
  purge(disk, plan);
  if (plan.goes.length === 0) io.out('there was nothing else to remove\n');
  for (const path of plan.stays) io.out(`${displayName(`kept, because it may hold unread events: ${path}`)}\n`);
  return 0;
}

function reportRefusal(io: Io, path: string, why: string): number {
  return reportFailure(io, `${path} ${why}: it is left as it is; move it away first`);
}

function reportFailure(io: Io, why: string): number {
  io.err(`hivebar service: ${displayName(why)}\n`);
  return 1;
}

const OLD = ', which an older Hivebar wrote or which starts another Node or another copy: install it again';

const formatGone = (path: string): string => `, but it starts ${path}, which no longer exists: install it again`;

/** Completes the status with what the supervisor has lost. Only asking another program tells that. */
async function readStatus(service: HeadlessService): Promise<HeadlessStatus> {
  const status = service.check();
  return status.is === 'ours' ? { ...status, gone: status.gone ?? (await service.findLost()) } : status;
}

/** Whether the entry would start something that no longer exists. */
function isGone(status: LoginStartStatus | HeadlessStatus): boolean {
  return 'gone' in status && status.gone !== null;
}

/** Formats the state of start at login for a person. */
export function formatLoginState(status: LoginStartStatus): string {
  switch (status.is) {
    case 'on':
      if (status.gone !== null) return `does not start at login: ${status.path} exists${formatGone(status.gone)}`;
      return `starts at login, by ${status.path}${status.isOld ? OLD : ''}`;
    case 'off':
      if (status.path === null) return 'does not start at login';
      return `does not start at login: ${status.path} exists${status.why === undefined ? ' but is switched off' : `, but ${status.why}`}`;
    case 'foreign':
      return `unknown: ${status.path} ${status.why}`;
  }
}

/** Formats the state of the headless service for a person. */
function formatHeadlessState(status: HeadlessStatus): string {
  switch (status.is) {
    case 'ours':
      if (status.gone !== null) return `headless: ${status.path} exists${formatGone(status.gone)}`;
      return `headless: runs as a service, by ${status.path}${status.isOld ? OLD : ''}`;
    case 'absent':
      return 'headless: no service';
    case 'foreign':
      return `headless: ${status.path} ${status.why}`;
  }
}

/**
 * Returns why the headless service would deliver mail twice or skip some: the previously deployed monitor still runs, or its
 * positions were not migrated (Kijito spec 14.4). Null: neither is the case.
 */
function findOlderMonitor(
  plan: WatchPlan,
  disk: Disk,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const deployments = listDeployedDirectories(env).flatMap((directory) => readDeployment(directory) ?? []);
  const held = deployments.flatMap(({ locks }) => locks).find((path) => isLocked(disk, path));
  if (held !== undefined)
    return `${held} is locked: another monitor runs, and two would deliver everything twice; stop it, then run \`hivebar migrate --headless\` with the same flags, then install`;
  const isFresh = plan.stateFile !== null && (readDeployment(dirname(plan.stateFile))?.states ?? []).length === 0;
  const left = isFresh && plan.targets.is !== 'url' ? findPosition(deployments, plan.hive) : null;
  if (left === null) return null;
  return `${left} holds the position of another monitor, and mail since then would be skipped; run \`hivebar migrate --headless\` with the same flags first, or move its directory away`;
}

/** Finds the first saved position of an inbox of this hive. */
function findPosition(deployments: readonly Deployment[], base: string): string | null {
  const hive = parseHiveUrl(base, { is: 'source', key: base });
  const match = deployments
    .flatMap(({ states }) => states)
    .find(({ state }) => {
      if (state.is !== 'position' || state.saved.cursor === null) return false;
      const persona = findPersona(state.identity);
      if (persona === null) return false;
      return isDeepStrictEqual(state.identity, JSON.parse(JSON.stringify(toInboxIdentity(hive.inbox(persona)))));
    });
  return match?.path ?? null;
}

/** The files in the directory of the headless service. */
interface Purge {
  /** Files that are removed: positions, locks and the log, which only the service needs. */
  readonly goes: readonly string[];
  /** Files that stay: everything else. Event files hold mail that an agent may not have read. */
  readonly stays: readonly string[];
}

const POSITION = /^hive(\..+)?\.json(\.lock)?$/;

/** @throws Fault `unreadable` */
function planPurge({ files }: Disk, directory: string): Purge {
  const goes: string[] = [];
  const stays: string[] = [];
  for (const name of listNames(files, directory)) {
    const isOurs = POSITION.test(name) || name === HEADLESS_LOG || name === `${HEADLESS_LOG}.1`;
    (isOurs && files.lstat(join(directory, name))?.kind === 'file' ? goes : stays).push(join(directory, name));
  }
  return { goes, stays };
}

/** Finds the first lock that a running watch holds; null: none. @throws Fault `unreadable` */
function findHeldLock(disk: Disk, { goes }: Purge): string | null {
  return goes.find((path) => path.endsWith('.lock') && isLocked(disk, path)) ?? null;
}

/** @throws Fault `unwritable` */
function purge({ files }: Disk, { goes }: Purge): void {
  for (const path of goes) {
    try {
      files.unlink(path);
    } catch (error) {
      if (getErrno(error) !== 'ENOENT') throw toIoFault(error, path, 'unwritable');
    }
  }
}

function listNames(files: Disk['files'], directory: string): readonly string[] {
  try {
    return files.readdir(directory).toSorted();
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw toIoFault(error, directory, 'unreadable');
  }
}
