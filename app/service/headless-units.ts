import { formatTaskWords } from './logon-task.ts';
import { formatProgramArguments, formatPropertyList } from './property-list.ts';
import { formatOwnerLine, requireSingleLine, type ServiceProgram } from './service-program.ts';
import { quoteArgument, quoteSystemdWord } from './systemd-unit.ts';
import { escapeXml } from './xml.ts';

/** The name the service is known by (Kijito contract i). */
export const HEADLESS_LABEL = 'com.kijito.inbox-monitor';
export const HEADLESS_UNIT = 'kijito-inbox-monitor.service';
export const HEADLESS_TASK = '\\Hivebar\\Kijito inbox monitor';
export const HEADLESS_REMOVED_BY = '`hivebar service uninstall --headless` removes it.';
/** What it says goes here where no journal takes it, beside its positions; the program keeps it small. */
export const HEADLESS_LOG = 'watch.err';

/** The headless watch as a service: what is run, with which words. */
export interface HeadlessRun {
  readonly program: ServiceProgram;
  /** The flags of `hivebar watch`, whole: every path in them is absolute, and no secret is among them. */
  readonly flags: readonly string[];
  /** Where its positions, event files and log are. */
  readonly directory: string;
}

/**
 * A unit of the user's systemd. Again after every death but a clean stop, and never for 2 (command line, lock) and 4
 * (nobody reads): they would be the same again. A network-online.target that is not there is no obstacle (systemd.unit(5)).
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
 * A LaunchAgent. launchd restarts by success and failure alone: `--stays-down` makes 2 and 4 a success. `Umask` is 0077 in
 * decimal. launchd lets a file of output grow for ever, so the program writes it; what node itself says when it dies goes
 * to the same file. From the file's documentation; not verified on a machine.
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

/** What a task of the Task Scheduler runs; the scheduler keeps no output, so the log is written by the program. */
export function listHeadlessTaskWords({ flags }: HeadlessRun, logPath: string): readonly string[] {
  return [...listRunWords(logPath), ...flags];
}

/** Where the supervisor knows success and failure alone, and keeps no journal. */
function listRunWords(logPath: string): readonly string[] {
  return ['service', 'run', '--headless', '--stays-down', '--log', logPath, '--'];
}

/** What the unit of this program has in it, whatever its flags are; that of another node or another copy has not. */
export function formatHeadlessStart(os: NodeJS.Platform, { node, entry }: ServiceProgram): string {
  if (os === 'win32') return escapeXml(formatTaskWords([node, entry, 'service', 'run']));
  if (os !== 'darwin') return `ExecStart=${quoteSystemdWord(node)} ${quoteArgument(entry)} `;
  const words = [node, entry, 'service', 'run', '--headless', '--stays-down', '--log'];
  return words.map((word) => `    <string>${escapeXml(word)}</string>\n`).join('');
}
