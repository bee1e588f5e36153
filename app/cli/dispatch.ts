import type { CommandEntry, Io } from '../../core/command/index.ts';

/** Runs when no command is named, as in `hivebar` and `hivebar --port 7475`. */
const DEFAULT_COMMAND = 'run';

/**
 * Runs one command line and returns its exit code: 0 done, 1 failed, 2 bad command line. Never rejects for an error that a
 * command throws. The person sees the message and the next step, and a stack trace only for an error in the program itself.
 */
export async function dispatch(
  args: readonly string[],
  io: Io,
  commands: Readonly<Record<string, CommandEntry>>,
): Promise<number> {
  const { name, rest } = splitCommand(args);
  if (name === '--version') return printVersion(io);
  if (name === '--help') return printHelp(rest, io, commands);
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry === undefined) return reportUnknown(name, io, commands);
  if (asksForHelp(rest)) return printHelp([name], io, commands);
  try {
    const { command } = await entry.load();
    return await command.run(rest, io, commands);
  } catch (error) {
    const { explain } = await import('./help.ts');
    const { text, exit } = explain(name, error);
    io.err(text);
    return exit;
  }
}

/** Splits off the command name. A command line that begins with a flag means the default command, as `hivebar` alone does. */
function splitCommand([first, ...rest]: readonly string[]): {
  readonly name: string;
  readonly rest: readonly string[];
} {
  if (first === undefined) return { name: DEFAULT_COMMAND, rest: [] };
  if (['--version', '-V', '-v', 'version'].includes(first)) return { name: '--version', rest };
  if (first === '--help' || first === '-h' || first === 'help') return { name: '--help', rest };
  if (first.startsWith('-')) return { name: DEFAULT_COMMAND, rest: [first, ...rest] };
  return { name: first, rest };
}

/** Looks for a help flag before `--`; everything after `--` is text. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).some((arg) => arg === '--help' || arg === '-h');
}

async function printVersion(io: Io): Promise<number> {
  const { readVersion: current } = await import('../package.node.ts');
  io.out(`${current()}\n`);
  return 0;
}

async function printHelp(
  [name]: readonly string[],
  io: Io,
  commands: Readonly<Record<string, CommandEntry>>,
): Promise<number> {
  const { formatHelp, formatOverview } = await import('./help.ts');
  if (name === undefined) {
    io.out(formatOverview(commands));
    return 0;
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry === undefined) return reportUnknown(name, io, commands);
  const { command } = await entry.load();
  io.out(formatHelp(entry, command));
  return 0;
}

async function reportUnknown(name: string, io: Io, commands: Readonly<Record<string, CommandEntry>>): Promise<number> {
  const { findNearest } = await import('./nearest.ts');
  const { displayName } = await import('../../core/format/index.ts');
  const close = findNearest(name, Object.keys(commands));
  const hint = close === null ? '' : `did you mean ${close}? `;
  io.err(`hivebar: there is no command ${displayName(name)}: ${hint}see hivebar --help\n`);
  return 2;
}
