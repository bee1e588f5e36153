import { createRotatingFile } from '../../core/sinks/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import type { Io } from './command.ts';
import { createStderrLog } from './stderr-log.ts';

/** From this size on the log is put aside as `PATH.1`, in the place of the one before it. */
const MOST_BYTES = 1024 * 1024;

/**
 * With stderr in a private file of at most about 2 MiB in two parts, for a supervisor that keeps no output or lets it grow
 * for ever. What the file does not take, and what became of the file, goes to stderr.
 */
export function createLoggingIo(path: string, io: Io): Io {
  const disk = createRealDisk(createStderrLog(io, 'hivebar service'));
  const file = createRotatingFile({ disk, path, maxBytes: MOST_BYTES, keep: 1 });
  const err = (text: string): void => {
    if (file.append([text]).is === 'stopped') io.err(text);
  };
  // Node itself says it on stderr, which may be nowhere by then.
  process.on('uncaughtExceptionMonitor', (error) => err(`hivebar service: ${error.stack ?? error}\n`));
  return { ...io, err };
}
