import { Fault } from '../../core/model/index.ts';

/** Formats an XDG autostart entry (Desktop Entry Specification 1.5, "The Exec key"), which every desktop session reads. */
export function formatAutostartEntry(program: ServiceProgram): string {
  return formatDesktopEntry(program, ['run'], ['X-GNOME-Autostart-enabled=true']);
}

/** Formats an entry of a desktop that starts the program with these arguments. `more`: further lines. */
export function formatDesktopEntry(program: ServiceProgram, args: readonly string[], more: readonly string[]): string {
  return `${[
    `# ${formatOwnerLine(program)} ${REMOVED_BY}`,
    '[Desktop Entry]',
    'Type=Application',
    'Name=Hivebar',
    'Comment=The inboxes of the agents on this machine',
    ...(program.icon === undefined ? [] : [`Icon=${escapeDesktopString(program.icon)}`]),
    formatExecLine(program, args),
    `TryExec=${escapeDesktopString(program.node)}`,
    'Terminal=false',
    ...more,
  ]
    .map(requireSingleLine)
    .join('\n')}\n`;
}

/** Formats the line that starts the program. */
export function formatExecLine(
  { node, entry, environment }: ServiceProgram,
  args: readonly string[] = ['run'],
): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const words = [...(variables.length === 0 ? [] : ['/usr/bin/env', ...variables]), node, entry, ...args];
  return `Exec=${words.map(quoteDesktopWord).join(' ')}`;
}

/** Returns false when the person switched the entry off in the settings of the desktop, which do not remove the file. */
export function isEnabledEntry(text: string): boolean {
  return !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/m.test(text);
}

function escapeDesktopString(text: string): string {
  return text.replaceAll('\\', '\\\\');
}

/** Quotes for the command first, then escapes like every string of such a file. `%` would begin a field code. */
function quoteDesktopWord(word: string): string {
  const argument = word.replace(/["`$\\]/g, '\\$&').replaceAll('%', '%%');
  return `"${escapeDesktopString(argument)}"`;
}

/** What is started at login. All paths are absolute, because the current folder at login is another one. */
export interface ServiceProgram {
  readonly node: string;
  /** The file that node runs. */
  readonly entry: string;
  /** The absolute path of an image that a desktop shows. Absent for none. */
  readonly icon?: string;
  /** The state directory. Two Hivebars with different ones do not mistake each other's entry for their own. */
  readonly state: string;
  /** The variables that make it this Hivebar: `HIVEBAR_HOME`, or none. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Formats the line that identifies what we wrote, and for which state directory. */
export function formatOwnerLine({ state }: ServiceProgram): string {
  return `Written by Hivebar for ${state}.`;
}

/** The start of that line, for any Hivebar. */
export const OWNER_LINE_START = 'Written by Hivebar for ';

export const REMOVED_BY = '`hivebar service uninstall` removes it.';

/** @throws RangeError for a path with a control character, which no line of a unit can contain */
export function requireSingleLine(text: string): string {
  const bad = /[\p{Cc}\u2028\u2029]/u.exec(text);
  if (bad !== null) throw new RangeError(`${JSON.stringify(text)} has a control character`);
  return text;
}

export const LOGON_TASK = '\\Hivebar\\Start at login';

/** What a task starts, when, and how often it is started again, each time a minute after it failed. */
export interface TaskKind {
  /** The arguments after the file that node runs. */
  readonly words: readonly string[];
  readonly removedBy: string;
  /** The documented schema allows at most 255; the scheduler itself accepts 999. */
  readonly restarts: number;
  /** `hidden`: through a program that hides node's console window. `node`: node itself, whose exit code is the task's. */
  readonly starts: 'hidden' | 'node';
  /** The delay after the logon, an ISO 8601 duration; null for none. */
  readonly delay: string | null;
  /** Whether a missed start is made up for. */
  readonly startWhenAvailable: boolean;
  /** The encoding of the text; null when it is ASCII. */
  readonly encoding: 'UTF-16' | null;
}

export const TRAY_TASK: TaskKind = {
  words: ['run'],
  removedBy: REMOVED_BY,
  restarts: 3,
  starts: 'hidden',
  delay: null,
  startWhenAvailable: false,
  encoding: null,
};

/**
 * Formats a task of the Windows Task Scheduler (its schema 1.2) for one user's logon. From the schema's documentation; not
 * verified on a machine. A task cannot set environment variables.
 * @param user `DOMAIN\NAME`; without it the task would be for all users, which takes an administrator
 */
export function formatLogonTask(program: ServiceProgram, user: string, kind: TaskKind = TRAY_TASK): string {
  const delay = kind.delay === null ? '' : `<Delay>${kind.delay}</Delay>`;
  return `${[
    kind.encoding === null ? '<?xml version="1.0"?>' : `<?xml version="1.0" encoding="${kind.encoding}"?>`,
    formatXmlComment(`${formatOwnerLine(program)} ${kind.removedBy}`),
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    '  <RegistrationInfo><Author>Hivebar</Author></RegistrationInfo>',
    '  <Triggers>',
    `    <LogonTrigger><Enabled>true</Enabled><UserId>${escapeXml(user)}</UserId>${delay}</LogonTrigger>`,
    '  </Triggers>',
    '  <Principals>',
    '    <Principal id="Author">',
    `      <UserId>${escapeXml(user)}</UserId>`,
    '      <LogonType>InteractiveToken</LogonType>',
    '      <RunLevel>LeastPrivilege</RunLevel>',
    '    </Principal>',
    '  </Principals>',
    '  <Settings>',
    '    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    ...(kind.startWhenAvailable ? ['    <StartWhenAvailable>true</StartWhenAvailable>'] : []),
    '    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    `    <RestartOnFailure><Interval>PT1M</Interval><Count>${kind.restarts}</Count></RestartOnFailure>`,
    '  </Settings>',
    '  <Actions Context="Author">',
    '    <Exec>',
    ...formatExec(program, kind),
    '    </Exec>',
    '  </Actions>',
    '</Task>',
  ].join('\n')}\n`;
}

/** @throws Fault `unwritable` for a program that needs environment variables */
export function checkTaskEnvironment({ environment }: ServiceProgram): void {
  const [name] = Object.keys(environment);
  if (name === undefined) return;
  const why = `a task cannot carry ${name}: set it for the whole account (setx), and start Hivebar without it`;
  throw new Fault('unwritable', why, { is: 'machine', key: 'login' });
}

function formatExec({ node, entry }: ServiceProgram, { starts, words }: TaskKind): readonly string[] {
  const [command, line] =
    starts === 'node'
      ? [node, formatTaskWords([entry, ...words])]
      : ['%SystemRoot%\\System32\\conhost.exe', `--headless ${formatTaskWords([node, entry, ...words])}`];
  return [`      <Command>${escapeXml(command)}</Command>`, `      <Arguments>${escapeXml(line)}</Arguments>`];
}

export function formatTaskWords(words: readonly string[]): string {
  return words.map(quoteWindowsWord).join(' ');
}

/** Quotes as Windows programs parse their command line: backslashes before a quote, or at the end, are doubled. */
function quoteWindowsWord(word: string): string {
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`;
}

/** Escapes the text of an XML element to ASCII, so that no reader can mistake its encoding. */
export function escapeXml(text: string): string {
  return requireSingleLine(text)
    .toWellFormed()
    .replace(/[^\x20-\x7e]|[&<>"]/gu, (char) => `&#${char.codePointAt(0)};`);
}

/** Does the same for a comment, which must not contain two hyphens. */
export function formatXmlComment(text: string): string {
  return `<!-- ${escapeXml(text).replaceAll('--', '-&#45;')} -->`;
}

const UTF16 = '<?xml version="1.0" encoding="UTF-16"?>';

/** Encodes a file as it declares itself: XML that says UTF-16 gets a byte order mark, everything else is UTF-8. */
export function encodeText(text: string): Uint8Array {
  return text.startsWith(UTF16) ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text, 'utf8');
}

/** Decodes such a file, without its byte order mark. */
export function decodeText(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}
