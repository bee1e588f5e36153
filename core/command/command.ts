import { parseCommandLine } from './parse.ts';
import type { CommandSchema, ParsedValues } from './schema.ts';

/** The parts of its process that a command may use. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to stdout unchanged; the caller ends its lines. */
  out(text: string): void;
  /** Writes to stderr unchanged. */
  err(text: string): void;
  /** Reads all of stdin as UTF-8. */
  input(): Promise<string>;
}

/** The export `command` of a command's file. Its summary is in the table of commands, so that help need not load the file. */
export interface Command {
  readonly schema: CommandSchema;
  /**
   * @param args the arguments after the command's name
   * @param commands the whole table, for commands that print it
   * @returns the exit code
   * @throws Fault `usage` for a bad command line (exit 2), any other Fault for a failure (exit 1)
   */
  run(args: readonly string[], io: Io, commands: CommandTable): Promise<number>;
}

export interface CommandEntry {
  readonly summary: string;
  /**
   * `bare`: nothing. `store`: the database, which the command opens itself. `tray`: the running tray process, over its socket.
   */
  readonly needs: 'bare' | 'store' | 'tray';
  load(): Promise<{ readonly command: Command }>;
}

/** Commands by name, in the order of the help text. */
export type CommandTable = Readonly<Record<string, CommandEntry>>;

/** Creates a command whose `run` gets the values that its command line says. */
export function defineCommand<const S extends CommandSchema>(
  schema: S,
  run: (values: ParsedValues<S>, io: Io, commands: CommandTable) => Promise<number> | number,
): Command {
  return { schema, run: async (args, io, commands) => await run(parseCommandLine(schema, args), io, commands) };
}
