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
