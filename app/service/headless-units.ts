import { formatTaskWords } from './logon-task.ts';
import { formatProgramArguments, formatPropertyList } from './property-list.ts';
import { formatOwnerLine, requireSingleLine, type ServiceProgram } from './service-program.ts';
import { quoteArgument, quoteSystemdWord } from './systemd-unit.ts';
import { escapeXml } from './xml.ts';

/** The name by which the service is known (Kijito contract i). */
export const HEADLESS_LABEL = 'com.kijito.inbox-monitor';
export const HEADLESS_UNIT = 'kijito-inbox-monitor.service';
export const HEADLESS_TASK = '\\Hivebar\\Kijito inbox monitor';
export const HEADLESS_REMOVED_BY = '`hivebar service uninstall --headless` removes it.';
/** The log file where there is no journal, beside the positions. The program limits its size. */
export const HEADLESS_LOG = 'watch.err';

/** The headless watch as a service: the program and its arguments. */
export interface HeadlessRun {
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
export function formatHeadlessStart(os: NodeJS.Platform, { node, entry }: ServiceProgram): string {
  if (os === 'win32') return escapeXml(formatTaskWords([node, entry, 'service', 'run']));
  if (os !== 'darwin') return `ExecStart=${quoteSystemdWord(node)} ${quoteArgument(entry)} `;
  const words = [node, entry, 'service', 'run', '--headless', '--stays-down', '--log'];
  return words.map((word) => `    <string>${escapeXml(word)}</string>\n`).join('');
}
