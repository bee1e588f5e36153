/**
 * A command to run to its end. A `file` without a slash is looked for on the PATH of `env`, never in the current folder; there is no
 * shell unless `file` is one, or a batch file of Windows, which cmd.exe starts.
 */
export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment of the child; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** What it finds on its stdin; whether it reads it is its own affair. Absent: nothing. */
  readonly input?: string;
  /** Where it runs, absolute; absent: where we do. */
  readonly cwd?: string;
  /** `args` are parts of a command line already, and nothing is quoted. Windows only. */
  readonly windowsVerbatimArguments?: boolean;
  /** Its stdout is ours; absent: nobody's. */
  readonly stdout?: 'inherit';
}

/** How it ended; `stderr` is the end of what it wrote there. */
export type ProcessEnd =
  | { readonly is: 'exited'; readonly code: number; readonly stderr: string }
  | { readonly is: 'killed'; readonly signal: string; readonly stderr: string }
  | { readonly is: 'timeout' }
  | { readonly is: 'not-started'; readonly why: string };

export interface Spawn {
  /** Runs in a process group of its own. On time-out or abort everything that it started is killed with it. Never rejects. */
  run(command: ChildCommand, signal: AbortSignal): Promise<ProcessEnd>;
}
