import { posix, win32 } from 'node:path';
import type { Instant } from '../model/index.ts';

/** The only source of time in Hivebar. The real one is `realClock` in clock.node.ts; the fake one is in test/kit. */
export interface Clock {
  now(): Instant;
  /** Milliseconds that never go backwards, for measuring time spans. */
  monotonic(): number;
  /**
   * Resolves after `ms`, or as soon as `signal` aborts. It never rejects and leaves no timer behind. 0: resolves after
   * all other pending work has had a turn.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs once after `ms` unless disposed first. Does not keep the process alive. */
  after(ms: number, run: () => void): Disposable;
}

/** One reading of one clock. */
export interface Tick {
  /** Seconds since a moment that the clock defines, with microseconds. */
  readonly seconds: number;
  /** The platform's name of the clock that was really read, e.g. `CLOCK_BOOTTIME`. */
  readonly src: string;
}

/** All clocks of the machine, read directly after each other. Null: the machine has no such clock, or it cannot be read. */
export interface ClockReading {
  readonly wall: Instant;
  /** Stops while the machine sleeps. */
  readonly monotonic: Tick | null;
  /** Continues while the machine sleeps. It is read last, so it is never behind `monotonic` on a machine with sound clocks. */
  readonly boottime: Tick | null;
}

/** The clocks by their meaning, for times that others compare (Kijito contract b). Use `Clock` to measure a time. */
export interface Clocks {
  read(): ClockReading;
}

/** The log of the program. One line per call; `about` has the values that the line names. */
export interface Log {
  info(line: string, about?: Record<string, unknown>): void;
  warn(line: string, about?: Record<string, unknown>): void;
  error(line: string, about?: Record<string, unknown>): void;
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

export interface Random {
  /** Returns `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
}

/** A child process that Hivebar started. */
export interface Child {
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
}

export interface KillCalls {
  readonly platform: NodeJS.Platform;
  readonly env: Variables;
  /**
   * Sends a signal to a process, or with a negative pid to a group.
   * @throws when there is none
   */
  signal(pid: number, signal: NodeJS.Signals): void;
  /** Runs a program; `ended` gets whether it succeeded. */
  run(file: string, args: readonly string[], ended: (isDone: boolean) => void): void;
}

/**
 * Ends a child and everything that it started. On POSIX it ends the process group, which must be the child's own
 * (`detached`). Windows has no such groups, so it ends the tree below the pid. A child that has already ended is left
 * alone there, because its pid may belong to another process.
 */
export function killTreeWith(calls: KillCalls, child: Child, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (calls.platform === 'win32') {
    if (child.exitCode !== null || child.signalCode !== null) return;
    // The child is not killed first, because without it nothing would lead to its own children.
    calls.run(toSystem32Path('taskkill.exe', calls.env), ['/T', '/F', '/PID', String(pid)], (isDone) => {
      if (!isDone) child.kill(signal);
    });
    return;
  }
  try {
    calls.signal(-pid, signal);
  } catch {
    child.kill(signal); // the group is gone already
  }
}

/** The arguments for Node's `spawn`. */
export interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are already parts of a command line: Node joins them with spaces and quotes nothing. Windows only. */
  readonly windowsVerbatimArguments: boolean;
}

/**
 * Returns how to start a program. Windows starts batch files (`.cmd`, `.bat`, such as everything that npm installs)
 * only through cmd.exe, and Node refuses them (EINVAL). So they get a command line with every word in quotes.
 *
 * @throws Error for a word that cmd.exe would change: the message names the word and what to do instead
 */
export function toInvocation(
  file: string,
  args: readonly string[],
  env: Variables,
  platform: NodeJS.Platform,
): Invocation {
  if (platform !== 'win32' || !/\.(?:cmd|bat)$/i.test(file)) return { file, args, windowsVerbatimArguments: false };
  const words = [file, ...args].map((word) => quoteForBatch(word, file));
  return runByCmd(words.join(' '), env, '/v:off');
}

/**
 * Passes a command line to cmd.exe unchanged: `/s` removes only the outer quotes, which this function adds.
 * @param delayed whether cmd.exe replaces `!NAME!`, which it does after it has parsed the line
 */
export function runByCmd(line: string, env: Variables, delayed: '/v:on' | '/v:off'): Invocation {
  return { file: findCmd(env), args: ['/d', delayed, '/s', '/c', `"${line}"`], windowsVerbatimArguments: true };
}

/** Returns the absolute path of cmd.exe, so that nothing is looked up in the current folder. */
function findCmd(env: Variables): string {
  const named = readVariable(env, 'ComSpec', 'win32');
  return named !== undefined && win32.isAbsolute(named) ? named : toSystem32Path('cmd.exe', env);
}

export function toSystem32Path(program: string, env: Variables): string {
  return win32.join(readVariable(env, 'SystemRoot', 'win32') ?? 'C:\\Windows', 'System32', program);
}

/** In quotes, cmd.exe changes only these: a quote ends the quotes, `%NAME%` is replaced, a line break ends the command. */
const UNQUOTABLE = /["%\r\n\0]/;

function quoteForBatch(word: string, file: string): string {
  const character = UNQUOTABLE.exec(word)?.[0];
  if (character !== undefined) {
    const characterName = { '"': 'a double quote', '%': 'a percent sign', '\0': 'a NUL' }[character] ?? 'a line break';
    const wordExcerpt = JSON.stringify(word.length > 60 ? `${word.slice(0, 60)}...` : word);
    throw new Error(
      `${file} is a batch file, and cmd.exe cannot pass ${wordExcerpt} on to it, which has ${characterName}: name the .exe behind it (for npm: node and the script), or pass the text on stdin or in a variable`,
    );
  }
  return `"${word.replace(/\\+$/, '$&$&')}"`; // the program behind the batch file reads \" as a quote
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** The extensions that Windows can start itself or through cmd.exe. PATHEXT also lists documents, for example `.js`. */
const STARTABLE: readonly string[] = ['.com', '.exe', '.bat', '.cmd'];

/**
 * Returns the value of an environment variable. Windows ignores the case of the name. `process.env` does too, but a
 * copy of it holds `Path` and has nothing for `PATH`.
 */
export function readVariable(env: Variables, name: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32' || env[name] !== undefined) return env[name];
  const upperName = name.toUpperCase();
  const match = Object.entries(env).find(([key, value]) => value !== undefined && key.toUpperCase() === upperName);
  return match?.[1];
}

/**
 * Returns the absolute path of the program `name`, or null. This is the only PATH look-up in Hivebar. Empty and
 * relative folders are skipped, because they mean the current folder, where anybody may have put a file. On Windows a
 * file needs an extension that can be started, in the order of PATHEXT: npm puts a script for sh named `codex` beside
 * `codex.cmd`.
 *
 * @param beside further absolute folders that the short PATH of a login session lacks
 */
export function findProgramWith(
  isProgram: (file: string) => boolean,
  name: string,
  env: Variables,
  platform: NodeJS.Platform,
  beside: readonly string[] = [],
): string | null {
  const path = platform === 'win32' ? win32 : posix;
  if (name === '' || name !== path.basename(name)) return null; // a path is no name
  const folders = (readVariable(env, 'PATH', platform) ?? '').split(path.delimiter).map(unquote);
  for (const folder of [...folders, ...beside]) {
    if (!path.isAbsolute(folder)) continue;
    const file = withExtensions(path.join(folder, name), env, platform).find(isProgram);
    if (file !== undefined) return file;
  }
  return null;

  function unquote(folder: string): string {
    return platform === 'win32' ? folder.replace(/^"(.*)"$/, '$1') : folder;
  }
}

/**
 * Returns the file that a program path means. On Windows the extension may be missing. If no file is found, the path is
 * returned.
 */
export function completeProgramPath(
  isProgram: (file: string) => boolean,
  file: string,
  env: Variables,
  platform: NodeJS.Platform,
): string {
  return withExtensions(file, env, platform).find(isProgram) ?? file;
}

function withExtensions(file: string, env: Variables, platform: NodeJS.Platform): readonly string[] {
  if (platform !== 'win32' || STARTABLE.includes(win32.extname(file).toLowerCase())) return [file];
  const listed = (readVariable(env, 'PATHEXT', platform) ?? '')
    .split(';')
    .map((extension) => extension.trim().toLowerCase())
    .filter((extension) => STARTABLE.includes(extension));
  return (listed.length > 0 ? listed : STARTABLE).map((extension) => file + extension);
}

/**
 * A command to run to its end. A `file` without a slash is looked up on the PATH of `env`, never in the current folder.
 * There is no shell, unless `file` is one or is a Windows batch file, which cmd.exe starts.
 */
export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment of the child; it inherits nothing else. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The content of its stdin, which it need not read. Absent: nothing. */
  readonly input?: string;
  /** The working directory, absolute; absent: the current one. */
  readonly cwd?: string;
  /** `args` are already parts of a command line, so nothing is quoted. Windows only. */
  readonly windowsVerbatimArguments?: boolean;
  /** `inherit`: it writes to our stdout; absent: its output is discarded. */
  readonly stdout?: 'inherit';
}

/** How the process ended. `stderr` is the end of its output there. */
export type ProcessEnd =
  | { readonly is: 'exited'; readonly code: number; readonly stderr: string }
  | { readonly is: 'killed'; readonly signal: string; readonly stderr: string }
  | { readonly is: 'timeout' }
  | { readonly is: 'not-started'; readonly why: string };

export interface Spawn {
  /** Runs the command in its own process group. On time-out or abort, everything that it started is killed too. Never rejects. */
  run(command: ChildCommand, signal: AbortSignal): Promise<ProcessEnd>;
}
