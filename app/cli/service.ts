import { parseArgs } from 'node:util';
import { realRandom, realSpawn } from '../../core/ports/index.ts';
import { type Disk, realDisk } from '../../core/state/index.ts';
import { printable } from '../printable.ts';
import {
  type HeadlessLook,
  type HeadlessService,
  headlessService,
  type LoginLook,
  loginStart,
} from '../service/index.ts';
import type { Command, Io } from './command.ts';
import { usage } from './outcome.ts';
import { serviceFlags } from './service-flags.ts';
import { hostOs } from './service-host.node.ts';
import { olderMonitor } from './service-older.ts';
import { heldLock, purge, purgeOf } from './service-purge.ts';
import { checkTokenFile } from './service-token.ts';
import { stderrLog } from './stderr-log.ts';

export const command: Command = {
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
    const asked = askedFor(args);
    if (asked.word === 'run') {
      const { runService } = await import('./service-run.ts');
      const { loggingTo } = await import('./service-log.node.ts');
      return await runService(asked.flags, asked.staysDown, asked.log === null ? io : loggingTo(asked.log, io));
    }
    const disk = realDisk(stderrLog(io, 'service'));
    return asked.headless ? await headless(asked, disk, io) : await tray(asked, disk, io);
  },
};

type Word = 'install' | 'uninstall' | 'status' | 'print';

interface Asked {
  /** `run` is what the headless unit starts; for nobody else, and in no help. */
  readonly word: Word | 'run';
  readonly headless: boolean;
  readonly purge: boolean;
  readonly flags: readonly string[];
  readonly staysDown: boolean;
  readonly log: string | null;
}

const WORDS: readonly string[] = ['install', 'uninstall', 'status', 'print', 'run'];

function askedFor(args: readonly string[]): Asked {
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
    return { word: word as Asked['word'], headless, purge: purges, flags, staysDown, log };
  } catch (error) {
    throw usage(error);
  }
}

async function tray({ word, purge: purges }: Asked, disk: Disk, io: Io): Promise<number> {
  const machine = { os: hostOs(), env: io.env, disk, random: realRandom, spawn: realSpawn };
  const login = loginStart(machine);
  if (word === 'print') return printed(await login.print(), io);
  const before = await login.look();
  if (before.is === 'foreign' && word !== 'status') return refused(io, before.path, before.why);
  if (word === 'install') {
    const other = headlessService(machine).look();
    if (other.is === 'ours')
      return said(io, `${other.path} is the headless service, and two would tell everything twice: ${REMOVE_HEADLESS}`);
  }
  const missing = word === 'uninstall' ? null : await login.missing();
  if (word === 'install' && missing !== null)
    return said(io, `nothing would start Hivebar at login: ${missing}: ${INSTEAD}`);
  if (word !== 'status') await login.set(word === 'install');
  const look = word === 'status' ? before : await login.look();
  if (look.is === 'on' && look.gone === null && missing !== null)
    io.out(`${printable(`does not start at login: ${look.path} is there, but ${missing}`)}\n`);
  else io.out(`${printable(sentenceOf(look))}\n`);
  if (word === 'status') {
    const watch = await lookForStatus(headlessService(machine));
    io.out(`${printable(headlessSentence(watch))}\n`);
    return isGone(before) || isGone(watch) || (before.is === 'on' && missing !== null) ? 1 : 0;
  }
  if (purges) io.out('nothing else belongs to start at login; mail, events and settings are left as they are\n');
  return 0;
}

const INSTEAD =
  'in a container start `hivebar watch` as its command, and where a systemd of the machine runs install with --headless';
const REMOVE_HEADLESS = 'run `hivebar service uninstall --headless` first';

async function headless({ word, purge: purges, flags: given }: Asked, disk: Disk, io: Io): Promise<number> {
  const machine = { os: hostOs(), env: io.env, disk, random: realRandom, spawn: realSpawn };
  const service = headlessService(machine);
  if (word === 'status') {
    const look = await lookForStatus(service);
    io.out(`${printable(headlessSentence(look))}\n`);
    return isGone(look) ? 1 : 0;
  }
  const before = service.look();
  if (word === 'uninstall') {
    if (before.is === 'foreign') return refused(io, before.path, before.why);
    await service.uninstall();
    io.out(`${printable(headlessSentence(service.look()))}\n`);
    return purges ? purged(service.directory, disk, io) : 0;
  }
  const { flags, plan, warnings } = serviceFlags(service.directory, given);
  for (const warning of warnings) io.err(`hivebar service: ${printable(warning)}\n`);
  if (word === 'print') return printed(await service.print(flags), io);
  if (before.is === 'foreign') return refused(io, before.path, before.why);
  const other = await loginStart(machine).look();
  if (other.is === 'on' || (other.is === 'off' && other.path !== null))
    return said(io, `${other.path} starts Hivebar at login, and two would tell everything twice: ${REMOVE_TRAY}`);
  if (plan.tokenFile !== null) checkTokenFile(disk, plan.tokenFile);
  else if (io.env.KIJITOMON_TOKEN) io.err(`hivebar service: ${TOKEN_LEFT_OUT}\n`);
  const older = before.is === 'ours' ? null : olderMonitor(plan, disk, io.env);
  if (older !== null) return said(io, older);
  await service.install(flags);
  io.out(`${printable(headlessSentence(service.look()))}\n`);
  if (plan.emit.is === 'template') io.out(`${printable(`follow a persona: tail -F ${plan.emit.template}`)}\n`);
  if ((await service.lingers()) === false) io.out(`${LINGER}\n`);
  return 0;
}

const REMOVE_TRAY = 'run `hivebar service uninstall` first';
const TOKEN_LEFT_OUT =
  'KIJITOMON_TOKEN is not written into the unit, so the service has no token: put it into a file (chmod 600) and install with -- --token-file FILE';
const LINGER = 'it stops when you log out: `loginctl enable-linger` lets it go on, and start with the machine';

function printed({ path, text }: { readonly path: string; readonly text: string }, io: Io): number {
  io.err(`${printable(`it would be ${path}`)}\n`);
  io.out(text);
  return 0;
}

function purged(directory: string, disk: Disk, io: Io): number {
  const found = purgeOf(disk, directory);
  const held = heldLock(disk, found);
  if (held !== null)
    return said(io, `${held} is held: a watch runs with these files; stop it, then uninstall --purge again`);
  for (const path of found.goes) io.out(`${printable(`removes ${path}`)}\n`);
  purge(disk, found);
  if (found.goes.length === 0) io.out('there was nothing else to remove\n');
  for (const path of found.stays) io.out(`${printable(`left, it may be unread: ${path}`)}\n`);
  return 0;
}

function refused(io: Io, path: string, why: string): number {
  return said(io, `${path} ${why}: it is left as it is; move it away first`);
}

function said(io: Io, why: string): number {
  io.err(`hivebar service: ${printable(why)}\n`);
  return 1;
}

const OLD = ', which is of an older Hivebar, or starts another node or another copy than this one: install it again';

const GONE = (path: string): string =>
  `, which starts ${path}, and that is not there any more: nothing starts; install it again`;

/** With what the supervisor has lost, which takes a program to ask. */
async function lookForStatus(service: HeadlessService): Promise<HeadlessLook> {
  const look = service.look();
  return look.is === 'ours' ? { ...look, gone: look.gone ?? (await service.findLost()) } : look;
}

/** It would start something that is not there. */
function isGone(look: LoginLook | HeadlessLook): boolean {
  return 'gone' in look && look.gone !== null;
}

/** What a person reads of start at login. */
export function sentenceOf(look: LoginLook): string {
  switch (look.is) {
    case 'on':
      if (look.gone !== null) return `does not start at login: ${look.path} is there${GONE(look.gone)}`;
      return `starts at login, by ${look.path}${look.isOld ? OLD : ''}`;
    case 'off':
      if (look.path === null) return 'does not start at login';
      return `does not start at login: ${look.path} is there${look.why === undefined ? ' and switched off' : `, but ${look.why}`}`;
    case 'foreign':
      return `can not be told: ${look.path} ${look.why}`;
  }
}

/** The same of the headless service. */
function headlessSentence(look: HeadlessLook): string {
  switch (look.is) {
    case 'ours':
      if (look.gone !== null) return `headless: ${look.path} is there${GONE(look.gone)}`;
      return `headless: runs as a service, by ${look.path}${look.isOld ? OLD : ''}`;
    case 'absent':
      return 'headless: no service';
    case 'foreign':
      return `headless: ${look.path} ${look.why}`;
  }
}
