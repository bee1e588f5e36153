import { posix, win32 } from 'node:path';
import { type Disk, ensurePrivateDir, getErrno } from '../../core/state/index.ts';
import {
  escapeXml,
  formatLogonTask,
  formatOwnerLine,
  formatTaskWords,
  requireSingleLine,
  type ServiceProgram,
  TRAY_TASK,
} from './login-entries.ts';
import {
  createLaunchdAgent,
  createScheduledTask,
  createSystemdService,
  formatProgramArguments,
  formatPropertyList,
  isTaskDeleted,
  putUnit,
  quoteArgument,
  quoteSystemdWord,
  readUnit,
  removeUnit,
  runOrThrow,
  runToEnd,
  type SupervisedNeeds,
  type Unit,
  type UnitNeeds,
} from './supervised-unit.ts';

export type HeadlessNeeds = SupervisedNeeds;

/** The state of the headless service. */
export type HeadlessStatus =
  | { readonly is: 'absent' }
  /**
   * `gone` is what it starts and does not exist any more. `isOld` means that it starts another node or another copy of the
   * program, or was written by an older Hivebar.
   */
  | { readonly is: 'ours'; readonly path: string; readonly isOld: boolean; readonly gone: string | null }
  | { readonly is: 'foreign'; readonly path: string; readonly why: string };

/** The headless watch under the supervisor of the platform (Kijito contract i). */
export interface HeadlessService {
  /** The directory of its positions, event files and log. */
  readonly directory: string;
  check(): HeadlessStatus;
  /** Writes the unit, or writes it again, and starts it. @throws Fault `unwritable`, `exec-failed` */
  install(flags: readonly string[]): Promise<void>;
  /** Stops it and removes the unit. @throws Fault as `install` */
  uninstall(): Promise<void>;
  /** Returns what `install` would write, and where. */
  print(flags: readonly string[]): Promise<{ readonly path: string; readonly text: string }>;
  /**
   * Returns what the supervisor has lost of an installed service; null for nothing. Only the Task Scheduler has a copy of its
   * own.
   */
  findLost(): Promise<string | null>;
  /** Returns whether it continues without a login; null when that is not known, or does not apply here. */
  isLingering(): Promise<boolean | null>;
}

export function createHeadlessService(needs: HeadlessNeeds): HeadlessService {
  const directory = getHeadlessDirectory(needs.os, needs.program);
  const { path } = createUnit(needs, { program: needs.program, flags: [], directory });
  const unit = (flags: readonly string[]): Unit => createUnit(needs, { program: needs.program, flags, directory });
  return {
    directory,
    check() {
      const file = readUnit(needs, path);
      if (file.is === 'absent') return { is: 'absent' };
      if (file.is === 'foreign') return { is: 'foreign', path, why: file.why };
      const isOld = !file.text.includes(formatHeadlessStart(needs.os, needs.program));
      return { is: 'ours', path, isOld, gone: findMissingStart(needs.disk, file.text, needs.os) };
    },
    async install(flags) {
      ensurePrivateDir(needs.disk, directory); // the log of launchd needs this directory
      await putUnit(needs, unit(flags));
    },
    uninstall: () => removeUnit(needs, unit([])),
    print: async (flags) => ({ path, text: await unit(flags).text() }),
    async findLost() {
      const isLost = needs.os === 'win32' && (await isTaskDeleted(needs, HEADLESS_TASK));
      return isLost ? `the task ${HEADLESS_TASK}` : null;
    },
    isLingering: () => isLingering(needs),
  };
}

/** Finds the unit of the headless service of this Hivebar; null when there is none. @throws Fault `unreadable` */
export function findHeadlessUnit(needs: UnitNeeds): string | null {
  const status = createHeadlessService({ ...needs, uid: null }).check();
  return status.is === 'ours' ? status.path : null;
}

/**
 * It is below the state directory and never in a cache, because after a clean-up the service would start over (Kijito contract,
 * trap 38).
 */
function getHeadlessDirectory(os: NodeJS.Platform, { state }: ServiceProgram): string {
  return (os === 'win32' ? win32 : posix).join(state, 'headless');
}

function formatUnitText({ os, env }: HeadlessNeeds, headless: HeadlessRun): string {
  if (os === 'darwin') return formatHeadlessLaunchAgent(headless, posix.join(headless.directory, HEADLESS_LOG));
  if (os !== 'win32') return formatHeadlessSystemdUnit(headless);
  const words = listHeadlessTaskWords(headless, win32.join(headless.directory, HEADLESS_LOG));
  const user = `${env.USERDOMAIN ?? '.'}\\${env.USERNAME ?? ''}`;
  return formatLogonTask(headless.program, user, {
    ...TRAY_TASK,
    words,
    removedBy: HEADLESS_REMOVED_BY,
    restarts: 255,
  });
}

function createUnit(needs: HeadlessNeeds, headless: HeadlessRun): Unit {
  const text = async (): Promise<string> => formatUnitText(needs, headless);
  switch (needs.os) {
    case 'darwin':
      return createLaunchdAgent(needs, HEADLESS_LABEL, text);
    case 'win32':
      return createScheduledTask(needs, HEADLESS_TASK, win32.join(headless.directory, 'logon-task.xml'), text);
    default:
      return createSystemdService(needs, HEADLESS_UNIT, text);
  }
}

/**
 * Returns whether the user lingers. Otherwise a user's units stop with the last logout (loginctl(1); Kijito contract, trap 69).
 * Null when that is not known, or does not apply here.
 */
async function isLingering(needs: SupervisedNeeds): Promise<boolean | null> {
  if (!hasLinger(needs)) return null;
  // Only stderr of a program is captured.
  const ended = await runToEnd(needs, ['sh', '-c', `exec loginctl show-user ${needs.uid} --property=Linger >&2`]);
  if (ended.is !== 'exited') return null;
  if (/^Linger=yes$/m.test(ended.stderr)) return true;
  return /^Linger=no$|not logged in or lingering/m.test(ended.stderr) ? false : null;
}

/** The command without a user name is for the user's own account, which needs no password (persona daemon, contract 7). */
const ENABLE_LINGER: readonly string[] = ['loginctl', 'enable-linger'];

/**
 * Makes the units of this user start with the machine and continue after a logout. Does nothing where that does not apply.
 * @throws Fault `exec-failed`, naming the command
 */
export async function enableLinger(needs: SupervisedNeeds): Promise<void> {
  if (!hasLinger(needs)) return;
  try {
    await runOrThrow(needs, ENABLE_LINGER);
  } catch (error) {
    if ((await isLingering(needs)) !== true) throw error; // refused, but not needed if somebody else has switched it on
  }
}

const hasLinger = ({ os, uid }: SupervisedNeeds): boolean => os !== 'darwin' && os !== 'win32' && uid !== null;

/** The name by which the service is known (Kijito contract i). */
export const HEADLESS_LABEL = 'com.kijito.inbox-monitor';
export const HEADLESS_UNIT = 'kijito-inbox-monitor.service';
const HEADLESS_TASK = '\\Hivebar\\Kijito inbox monitor';
const HEADLESS_REMOVED_BY = '`hivebar service uninstall --headless` removes it.';
/** The log file where there is no journal, beside the positions. The program limits its size. */
export const HEADLESS_LOG = 'watch.err';

/** The headless watch as a service: the program and its arguments. */
interface HeadlessRun {
  readonly program: ServiceProgram;
  /** All flags of `hivebar watch`. Every path in them is absolute, and none of them is a secret. */
  readonly flags: readonly string[];
  /** The directory of its positions, event files and log. */
  readonly directory: string;
}

/**
 * Formats a unit of the user's systemd. It restarts after every exit except a clean stop, 2 (command line, lock) and 4 (nobody
 * reads), which would repeat. A missing network-online.target does no harm (systemd.unit(5)).
 */
export function formatHeadlessSystemdUnit({ program, flags }: HeadlessRun): string {
  const words = [program.entry, 'service', 'run', '--headless', '--', ...flags].map(quoteArgument);
  return `${[
    `# ${formatOwnerLine(program)} ${HEADLESS_REMOVED_BY}`,
    '[Unit]',
    'Description=Kijito inbox monitor: every inbox into its event file, by Hivebar',
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    `ExecStart=${[quoteSystemdWord(program.node), ...words].join(' ')}`,
    'Restart=on-failure',
    'RestartSec=15',
    'RestartPreventExitStatus=2 4',
    'UMask=0077',
    '',
    '[Install]',
    'WantedBy=default.target',
  ]
    .map(requireSingleLine)
    .join('\n')}\n`;
}

/**
 * Formats a LaunchAgent. launchd restarts by success and failure only, so `--stays-down` turns 2 and 4 into a success. `Umask` is
 * 0077 in decimal. launchd lets an output file grow without limit, so the program writes the log. What node itself prints when it
 * dies goes to the same file. From the file's documentation; not verified on a machine.
 */
export function formatHeadlessLaunchAgent(headless: HeadlessRun, logPath: string): string {
  const { program, flags } = headless;
  return formatPropertyList(`${formatOwnerLine(program)} ${HEADLESS_REMOVED_BY}`, [
    `  <key>Label</key><string>${HEADLESS_LABEL}</string>`,
    ...formatProgramArguments([program.node, program.entry, ...listRunWords(logPath), ...flags]),
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>ThrottleInterval</key><integer>10</integer>',
    '  <key>Umask</key><integer>63</integer>',
    `  <key>StandardErrorPath</key><string>${escapeXml(logPath)}</string>`,
    '  <key>ProcessType</key><string>Background</string>',
  ]);
}

/** Lists the arguments for a task of the Task Scheduler. The scheduler saves no output, so the program writes the log. */
export function listHeadlessTaskWords({ flags }: HeadlessRun, logPath: string): readonly string[] {
  return [...listRunWords(logPath), ...flags];
}

/** For a supervisor that only knows success and failure, and has no journal. */
function listRunWords(logPath: string): readonly string[] {
  return ['service', 'run', '--headless', '--stays-down', '--log', logPath, '--'];
}

/**
 * Returns the text that every unit of this program contains, whatever its flags are. A unit of another node or another copy does
 * not contain it.
 */
function formatHeadlessStart(os: NodeJS.Platform, { node, entry }: ServiceProgram): string {
  if (os === 'win32') return escapeXml(formatTaskWords([node, entry, 'service', 'run']));
  if (os !== 'darwin') return `ExecStart=${quoteSystemdWord(node)} ${quoteArgument(entry)} `;
  const words = [node, entry, 'service', 'run', '--headless', '--stays-down', '--log'];
  return words.map((word) => `    <string>${escapeXml(word)}</string>\n`).join('');
}

/** Matches a word in double quotes, of a unit, an autostart entry or a task, or the text of a property list. */
const WORD = /"((?:[^"\\]|\\.)*)"|<string>([^<]*)<\/string>/g;
const ABSOLUTE = /^(\/|[A-Za-z]:\\)/;
const ENV = '/usr/bin/env';

/** Returns the Node and the file that a unit of ours starts: the first two absolute paths in its text, in all of our forms. */
export function parseStartPaths(text: string, os: NodeJS.Platform): readonly string[] {
  // Every string of an autostart entry is escaped once more.
  const once = text.includes('[Desktop Entry]') ? text.replaceAll('\\\\', '\\') : text;
  const plain = os === 'win32' ? decodeXml(text) : once;
  const words = [...plain.matchAll(WORD)].map(([, quoted, element]) =>
    element === undefined ? unquote(quoted ?? '', os) : decodeXml(element),
  );
  return words.filter((word) => ABSOLUTE.test(word) && word !== ENV).slice(0, 2);
}

/** Returns which of these is missing, so that nothing starts; null when none is. */
export function findMissingStart(disk: Disk, text: string, os: NodeJS.Platform): string | null {
  return parseStartPaths(text, os).find((path) => !isThere(disk, path)) ?? null;
}

/** Follows links: a link without a target starts nothing. */
function isThere({ files }: Disk, path: string): boolean {
  try {
    return files.lstat(`${path}/.`) !== null;
  } catch (error) {
    return getErrno(error) !== 'ENOENT'; // mostly ENOTDIR: a file. What cannot be read may still exist
  }
}

function unquote(word: string, os: NodeJS.Platform): string {
  if (os === 'win32') return word;
  return word
    .replace(/\\(["`$\\])/g, '$1')
    .replaceAll('%%', '%')
    .replaceAll('$$', '$');
}

function decodeXml(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
