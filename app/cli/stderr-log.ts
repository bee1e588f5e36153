import type { Log } from '../../core/ports/index.ts';
import { printable } from '../printable.ts';
import type { Io } from './command.ts';

/** Lines on stderr, `hivebar NAME: ` before each. They hold names that hives made up: no terminal acts on them. */
export function stderrLog(io: Io, name: string): Log {
  const say = (line: string): void => io.err(`${name}: ${printable(line)}\n`);
  return { info: say, warn: say, error: say };
}
