import type { Io } from '../../core/command/index.ts';
import { createRotatingFile } from '../../core/sinks/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { createStderrLog } from './process.node.ts';

/** At this size the log is renamed to `PATH.1`, replacing the earlier one. */
const MOST_BYTES = 1024 * 1024;

/**
 * Redirects stderr to a private file, which takes at most about 2 MiB in two parts. It is for a supervisor that stores no
 * output or lets its log grow forever. Lines that the file does not take, and warnings about the file, go to stderr.
 */
export function createLoggingIo(path: string, io: Io): Io {
  const disk = createRealDisk(createStderrLog(io, 'hivebar service'));
  const file = createRotatingFile({ disk, path, maxBytes: MOST_BYTES, keep: 1 });
  const err = (text: string): void => {
    if (file.append([text]).is === 'stopped') io.err(text);
  };
  // Node reports the error only on stderr, which may lead nowhere.
  process.on('uncaughtExceptionMonitor', (error) => err(`hivebar service: ${error.stack ?? error}\n`));
  return { ...io, err };
}
