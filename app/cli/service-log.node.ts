import { appendFileSync } from 'node:fs';
import type { Io } from './command.ts';

/** With stderr in a file of its own, for a supervisor that keeps no output. */
export function loggingTo(path: string, io: Io): Io {
  return { ...io, err: (text) => appendFileSync(path, text, { mode: 0o600 }) };
}
