import { parseArgs } from 'node:util';
import type { Io, TextCommand } from '../../core/command/index.ts';
import { toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { realRandom, realSpawn } from '../../core/ports/index.ts';
import { createRealDisk, type Disk } from '../../core/state/index.ts';
import {
  createOwnHeadlessService,
  createOwnLoginStart,
  type HeadlessService,
  type HeadlessStatus,
  type LoginStartStatus,
} from '../service/index.ts';
import { findOlderMonitor } from './older-monitor.ts';
import { parseServiceFlags } from './service-flags.ts';
import { getHostOs } from './service-host.node.ts';
import { findHeldLock, planPurge, purge } from './service-purge.ts';
import { checkTokenFile } from './service-token.ts';
import { createStderrLog } from './stderr-log.ts';

export const command: TextCommand = {
  usage: 'service install|uninstall|status|print [--headless] [--purge] [-- WATCH-FLAGS]',
  about: [
    '  install     start Hivebar at every login from the next one on, with the paths of this node and this program',
    '  uninstall   no longer',
    '  status      what is there; exit 1 when it starts something that is not there any more',
    '  print       what install would write, on stdout, and where, on stderr; nothing is written',
    '',
    '  --headless  the same for `hivebar watch` without a desktop: every inbox into a file per persona, started now and at',
    '              every login, again after 10 to 15 s when it dies. The flags of `hivebar watch` may follow a `--`.',
    '              One of the two services at a time: two would tell everything twice.',
    '  --purge     with uninstall: remove what belongs to the service alone too, having said what. Never events, never mail',
    '',
    "Linux: a unit of the user's systemd, or an XDG autostart file where the desktop does not start with systemd.",
    'macOS: a LaunchAgent. Windows: a task of the Task Scheduler. A tray program that runs now goes on as it is.',
    '',
    'Exit code 0: done; 1: refused or failed, with the next step; 2: a bad command line.',
  ],
  examples: [
    { run: 'hivebar service install', does: 'start at login; again after node or Hivebar moved' },
    { run: 'hivebar service status', does: 'whether it does, and by which file' },
    {
      run: 'hivebar service install --headless -- --token-file ~/.kijito-token',
      does: 'a producer of event files only',
    },
    { run: 'hivebar service print --headless', does: 'its unit, to look at or for another supervisor' },
  ],
  async run(args, io) {
    const options = parseArguments(args);
    if (options.word === 'run') {
      const { runService } = await import('./service-run.ts');
      const { createLoggingIo: loggingTo } = await import('./service-log.node.ts');
      return await runService(options.flags, options.staysDown, options.log === null ? io : loggingTo(options.log, io));
    }
    const disk = createRealDisk(createStderrLog(io, 'service'));
    return options.headless ? await manageHeadless(options, disk, io) : await manageTray(options, disk, io);
  },
};

type Word = 'install' | 'uninstall' | 'status' | 'print';

interface ServiceArgs {
  /** `run` is what the headless unit starts. It is for nobody else, and no help shows it. */
  readonly word: Word | 'run';
  readonly headless: boolean;
  readonly purge: boolean;
  readonly flags: readonly string[];
  readonly staysDown: boolean;
  readonly log: string | null;
}

const WORDS: readonly string[] = ['install', 'uninstall', 'status', 'print', 'run'];

function parseArguments(args: readonly string[]): ServiceArgs {
  const end = args.indexOf('--');
  const [own, flags] = end === -1 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  try {
    const { values, positionals } = parseArgs({
      args: [...own],
      allowPositionals: true,
      options: {
        headless: { type: 'boolean', default: false },
        purge: { type: 'boolean', default: false },
        'stays-down': { type: 'boolean', default: false },
        log: { type: 'string' },
      },
    });
    const [word = '', ...rest] = positionals;
    if (word === '') throw new Error('say install, uninstall, status or print');
    if (!WORDS.includes(word) || rest.length > 0)
      throw new Error(`${positionals.join(' ')}: must be install, uninstall, status or print`);
    const isRun = word === 'run';
    if (values.purge && word !== 'uninstall') throw new Error('--purge: only uninstall removes anything');
    if (isRun && !values.headless) throw new Error('run: is what the unit of --headless starts');
    if (!isRun && (values['stays-down'] || values.log !== undefined))
      throw new Error('--stays-down, --log: only for what the unit starts');
    if (end !== -1 && (!values.headless || word === 'uninstall' || word === 'status'))
      throw new Error('--: flags of hivebar watch belong to install --headless and print --headless');
    const { headless, purge: purges, 'stays-down': staysDown, log = null } = values;
    return { word: word as ServiceArgs['word'], headless, purge: purges, flags, staysDown, log };
  } catch (error) {
    throw toUsageFault(error);
  }
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
        `${other.path} is the headless service, and two would tell everything twice: ${REMOVE_HEADLESS}`,
      );
  }
  const missing = word === 'uninstall' ? null : await login.missing();
  if (word === 'install' && missing !== null)
    return reportFailure(io, `nothing would start Hivebar at login: ${missing}: ${INSTEAD}`);
  if (word !== 'status') await login.set(word === 'install');
  const status = word === 'status' ? before : await login.check();
  if (status.is === 'on' && status.gone === null && missing !== null)
    io.out(`${displayName(`does not start at login: ${status.path} is there, but ${missing}`)}\n`);
  else io.out(`${displayName(formatLoginState(status))}\n`);
  if (word === 'status') {
    const watch = await readStatus(createOwnHeadlessService(machine));
    io.out(`${displayName(formatHeadlessState(watch))}\n`);
    return isGone(before) || isGone(watch) || (before.is === 'on' && missing !== null) ? 1 : 0;
  }
  if (purges) io.out('nothing else belongs to start at login; mail, events and settings are left as they are\n');
  return 0;
}

const INSTEAD =
  'in a container start `hivebar watch` as its command, and where a systemd of the machine runs install with --headless';
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
      `${other.path} starts Hivebar at login, and two would tell everything twice: ${REMOVE_TRAY}`,
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
const LINGER = 'it stops when you log out: `loginctl enable-linger` lets it go on, and start with the machine';

function printUnit({ path, text }: { readonly path: string; readonly text: string }, io: Io): number {
  io.err(`${displayName(`it would be ${path}`)}\n`);
  io.out(text);
  return 0;
}

function purgeFiles(directory: string, disk: Disk, io: Io): number {
  const plan = planPurge(disk, directory);
  const held = findHeldLock(disk, plan);
  if (held !== null)
    return reportFailure(io, `${held} is held: a watch runs with these files; stop it, then uninstall --purge again`);
  for (const path of plan.goes) io.out(`${displayName(`removes ${path}`)}\n`);
  purge(disk, plan);
  if (plan.goes.length === 0) io.out('there was nothing else to remove\n');
  for (const path of plan.stays) io.out(`${displayName(`left, it may be unread: ${path}`)}\n`);
  return 0;
}

function reportRefusal(io: Io, path: string, why: string): number {
  return reportFailure(io, `${path} ${why}: it is left as it is; move it away first`);
}

function reportFailure(io: Io, why: string): number {
  io.err(`hivebar service: ${displayName(why)}\n`);
  return 1;
}

const OLD = ', which is of an older Hivebar, or starts another node or another copy than this one: install it again';

const formatGone = (path: string): string =>
  `, which starts ${path}, and that is not there any more: nothing starts; install it again`;

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
      if (status.gone !== null) return `does not start at login: ${status.path} is there${formatGone(status.gone)}`;
      return `starts at login, by ${status.path}${status.isOld ? OLD : ''}`;
    case 'off':
      if (status.path === null) return 'does not start at login';
      return `does not start at login: ${status.path} is there${status.why === undefined ? ' and switched off' : `, but ${status.why}`}`;
    case 'foreign':
      return `cannot be told: ${status.path} ${status.why}`;
  }
}

/** Formats the state of the headless service for a person. */
function formatHeadlessState(status: HeadlessStatus): string {
  switch (status.is) {
    case 'ours':
      if (status.gone !== null) return `headless: ${status.path} is there${formatGone(status.gone)}`;
      return `headless: runs as a service, by ${status.path}${status.isOld ? OLD : ''}`;
    case 'absent':
      return 'headless: no service';
    case 'foreign':
      return `headless: ${status.path} ${status.why}`;
  }
}
