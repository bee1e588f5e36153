/** What a command may touch of the process it runs in. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** To stdout, as it is: the caller ends its lines. */
  out(text: string): void;
  /** To stderr, as it is. */
  err(text: string): void;
  /** All of stdin, as UTF-8. */
  input(): Promise<string>;
}

/** What a command's file exports as `command`; its summary stands in the table of commands, so that help loads no file. */
export interface Command {
  /** The command line without the program's name: `status [--json]`. */
  readonly usage: string;
  /** What `--help` says below the usage, a line an entry. */
  readonly about: readonly string[];
  readonly examples: readonly { readonly run: string; readonly does: string }[];
  /**
   * @param args what follows the command's name
   * @param commands the whole table, for what prints it
   * @returns the exit code
   * @throws Fault `usage` for a bad command line (exit 2), any other for what went wrong (exit 1)
   */
  run(args: readonly string[], io: Io, commands: CommandTable): Promise<number>;
}

export interface CommandEntry {
  readonly summary: string;
  /** Nothing; the database, which it opens itself; the running tray process, over its socket. */
  readonly needs: 'bare' | 'store' | 'tray';
  load(): Promise<{ readonly command: Command }>;
}

/** Commands by their names, in the order help shows them. */
export type CommandTable = Readonly<Record<string, CommandEntry>>;
