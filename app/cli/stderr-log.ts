import type { Log } from '../../core/ports/index.ts';
import type { Io } from './command.ts';

/** Lines on stderr, `hivebar NAME: ` before each. */
export function stderrLog(io: Io, name: string): Log {
  const say = (line: string): void => io.err(`${name}: ${line}\n`);
  return { info: say, warn: say, error: say };
}
