import { posix, win32 } from 'node:path';
import { Fault, type Instant, type PersonaId } from '../../core/model/index.ts';

/** A pane of tmux, on the server from which it was announced. A server never uses a pane id twice. */
export interface Pane {
  /** The absolute path of the server's socket. */
  readonly socket: string;
  readonly serverPid: number;
  /** The pane id, `%N`. */
  readonly pane: string;
}

/** A process, with a key that tells it from a later one with the same pid; null where the system has no such key. */
export interface SessionProcess {
  readonly pid: number;
  readonly startKey: string | null;
  /**
   * A file that is locked while the session runs, for sessions whose process outlives them. If absent, only the process counts.
   */
  readonly lock?: string | null;
}

/** The agent program of a session, and the folder in which it stores its sessions. */
interface HarnessHome {
  readonly name: string;
  /** An absolute path. */
  readonly home: string;
}

/** What a session reports about itself with `hivebar session set`. */
export interface SessionAnnouncement {
  readonly persona: PersonaId;
  /** The agent program's own id of the session; null when it gave none. */
  readonly id: string | null;
  /** An absolute path. */
  readonly cwd: string;
  readonly pane: Pane | null;
  readonly runner: SessionProcess;
  /** The arguments that resume the session; null when it cannot be resumed. */
  readonly resume: readonly string[] | null;
  /** Absent when not known. */
  readonly harness?: HarnessHome | null;
}

/** A session as it is stored. */
export interface Session extends SessionAnnouncement {
  readonly announcedAt: Instant;
  /** When it reported its end; null before that. */
  readonly endedAt: Instant | null;
  /** The program that shows it without a terminal, with placeholders. Absent: none does. */
  readonly shownBy?: readonly string[];
  /** Why a click may not run what belongs to it. Absent: nothing is refused. */
  readonly refusal?: Fault;
}

const NAME_CHARS = 200;
const PATH_CHARS = 4096;
const ITEMS = 64;
const RESUME_CHARS = 16_384;

// Characters that a terminal acts on or that break a line. Text that is not well-formed would come back changed from the
// database.
const REFUSED = /[\p{Cc}\u2028\u2029]/u;

/**
 * Returns the announcement unchanged if it can be stored.
 * @throws Fault `usage` which names the field and the value
 */
export function checkAnnouncement(announcement: SessionAnnouncement, platform: NodeJS.Platform): SessionAnnouncement {
  const path = platform === 'win32' ? win32 : posix;
  const { persona, id, cwd, pane, runner, resume } = announcement;
  checkText('PERSONA', persona, NAME_CHARS);
  if (id !== null) checkText('--id', id, NAME_CHARS);
  checkText('--cwd', cwd, PATH_CHARS);
  if (!path.isAbsolute(cwd)) throw createRefusal(`--cwd ${quote(cwd)} is not an absolute path`);
  if (pane !== null) {
    if (!/^%\d{1,9}$/.test(pane.pane)) throw createRefusal(`--tmux-pane ${quote(pane.pane)} is not a pane such as %3`);
    checkText('the socket in TMUX', pane.socket, PATH_CHARS);
    if (!path.isAbsolute(pane.socket))
      throw createRefusal(`the socket in TMUX ${quote(pane.socket)} is not an absolute path`);
  }
  if (!Number.isInteger(runner.pid) || runner.pid < 1 || runner.pid > 0x7fff_ffff) {
    throw createRefusal(`--pid ${runner.pid} is not a process id`);
  }
  if (resume !== null) checkResume(resume);
  return announcement;
}

function checkResume([program = '', ...args]: readonly string[]): void {
  checkText('the resume program', program, PATH_CHARS);
  if (program.startsWith('-'))
    throw createRefusal(`the resume program cannot be ${quote(program)}, which is an option`);
  if (args.length >= ITEMS) throw createRefusal(`the resume command has ${args.length + 1} items, over ${ITEMS}`);
  for (const arg of args) if (arg !== '') checkText('an argument of the resume command', arg, PATH_CHARS);
  const chars = args.reduce((sum, arg) => sum + arg.length, program.length);
  if (chars > RESUME_CHARS) throw createRefusal(`the resume command has ${chars} characters, over ${RESUME_CHARS}`);
}

function checkText(label: string, value: string, maxLength: number): void {
  if (value.trim() === '') throw createRefusal(`${label} is empty`);
  if (value.length > maxLength) throw createRefusal(`${label} has ${value.length} characters, over ${maxLength}`);
  if (REFUSED.test(value)) throw createRefusal(`${label} ${quote(value)} holds control characters`);
  if (!value.isWellFormed()) throw createRefusal(`${label} ${quote(value)} is not well-formed Unicode`);
}

function quote(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}

function createRefusal(message: string): Fault {
  return new Fault('usage', message, { is: 'machine', key: 'session' });
}

/**
 * Parses the socket and the server's pid from tmux's own variable TMUX, `SOCKET,PID,SESSION`. Null when it has another form. A
 * socket's path may contain commas.
 */
export function parseTmuxServer(variable: string): Pick<Pane, 'socket' | 'serverPid'> | null {
  const [, socket, pid] = /^(.+),(\d{1,10}),\d+$/s.exec(variable) ?? [];
  return socket === undefined ? null : { socket, serverPid: Number(pid) };
}

/**
 * Builds the arguments that tell a terminal program where to start and what to run. They are separate arguments, because no shell
 * reads them.
 */
type TerminalSyntax = (cwd: string, run: readonly string[]) => readonly string[];

const EXECUTES: TerminalSyntax = (_cwd, run) => (run.length === 0 ? [] : ['-e', ...run]);

const appendCommand = (
  options: readonly string[],
  separator: readonly string[],
  run: readonly string[],
): readonly string[] => (run.length === 0 ? options : [...options, ...separator, ...run]);

/** In the order in which they are searched. A program without an option for the folder is started in that folder. */
const SYNTAX: Readonly<Record<string, TerminalSyntax>> = {
  'x-terminal-emulator': EXECUTES, // Debian policy 11.8.3: "-e", then the program and its arguments
  'gnome-terminal': (cwd, run) => appendCommand([`--working-directory=${cwd}`], ['--'], run),
  konsole: (cwd, run) => appendCommand(['--workdir', cwd], ['-e'], run),
  'xfce4-terminal': (cwd, run) => appendCommand([`--working-directory=${cwd}`], ['-x'], run),
  'mate-terminal': (cwd, run) => appendCommand([`--working-directory=${cwd}`], ['-x'], run),
  ghostty: (cwd, run) => appendCommand([`--working-directory=${cwd}`], ['-e'], run),
  kitty: (cwd, run) => appendCommand(['--directory', cwd], [], run),
  alacritty: (cwd, run) => appendCommand(['--working-directory', cwd], ['-e'], run),
  foot: (cwd, run) => appendCommand([`--working-directory=${cwd}`], [], run),
  wezterm: (cwd, run) => appendCommand(['start', '--cwd', cwd], ['--'], run),
  xterm: EXECUTES,
};

export const TERMINALS: readonly string[] = Object.keys(SYNTAX);

/** Builds the arguments for a terminal program by its file name. An unknown program gets `-e`, like xterm. */
export function buildTerminalArgs(name: string, cwd: string, run: readonly string[]): readonly string[] {
  return (Object.hasOwn(SYNTAX, name) ? (SYNTAX[name] ?? EXECUTES) : EXECUTES)(cwd, run);
}

/**
 * Terminal.app runs only lines of text, so AppleScript quotes the arguments and builds the line. Its quoting is right in every
 * shell, fish and csh included, for text without quotes and backslashes. No other text is passed to it.
 */
const APPLESCRIPT: readonly string[] = [
  'on run argv',
  'set theLine to "cd " & quoted form of item 1 of argv',
  'if (count of argv) > 1 then set theLine to theLine & " && exec"',
  'repeat with i from 2 to count of argv',
  'set theLine to theLine & " " & quoted form of item i of argv',
  'end repeat',
  'tell application "Terminal"',
  'activate',
  'do script theLine',
  'end tell',
  'end run',
];

const NOT_IN_A_LINE = /['\\!\p{Cc}]/u;

/** Builds the arguments for osascript. Null when an item has text that cannot be quoted for every shell. */
export function buildAppleTerminalArgs(cwd: string, run: readonly string[]): readonly string[] | null {
  if ([cwd, ...run].some((item) => NOT_IN_A_LINE.test(item))) return null;
  return [...APPLESCRIPT.flatMap((line) => ['-e', line]), cwd, ...run];
}

/** Builds the arguments for wt.exe. Null when an item has its separator, or a quote, which it would parse again. */
export function buildWindowsTerminalArgs(cwd: string, run: readonly string[]): readonly string[] | null {
  if ([cwd, ...run].some((item) => /[;"]/.test(item))) return null;
  return ['-d', cwd, ...run];
}
