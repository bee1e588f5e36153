import type { Io } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import type { Log } from '../../core/ports/index.ts';

/**
 * Creates a log that writes lines to stderr, each after `name` and a colon. Lines hold names that hives chose, so terminal
 * controls in them are made harmless.
 */
export function createStderrLog(io: Io, name: string): Log {
  const say = (line: string): void => io.err(`${name}: ${displayName(line)}\n`);
  return { info: say, warn: say, error: say };
}
