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
