import { displayName } from '../../core/format/index.ts';
import type { Log } from '../../core/ports/index.ts';
import type { Io } from './command.ts';

/** Lines on stderr, `hivebar NAME: ` before each. They hold names that hives made up: no terminal acts on them. */
export function createStderrLog(io: Io, name: string): Log {
  const say = (line: string): void => io.err(`${name}: ${displayName(line)}\n`);
  return { info: say, warn: say, error: say };
}
