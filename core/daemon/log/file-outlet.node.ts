import { close, constants, fstat, open, write } from 'node:fs';
import { renameAsync } from '../../ports/index.ts';
import { formatRecordLine, type LogRecord } from './record.ts';
import type { LogOutlet } from './sink.ts';

const MOST_BYTES = 5 * 1024 * 1024;
const PRIVATE = 0o600;

type WriteCallback = (error: Error | null) => void;

/**
 * Creates an outlet to a file of at most 5 MB and its predecessor `PATH.1`. Both have mode 0600, and links are not followed. The
 * file is opened for each write: records are few here, and a deleted file is created again.
 */
export function createFileOutlet(path: string, mostBytes: number = MOST_BYTES): LogOutlet {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

  function append(fd: number, bytes: Buffer, done: WriteCallback): void {
    write(fd, bytes, (error, wrote) => {
      if (error !== null) return done(error);
      if (wrote < bytes.length) return append(fd, bytes.subarray(wrote), done);
      fstat(fd, (failed, stat) => {
        if (failed !== null || stat.size < mostBytes) return done(null);
        const ended = (): void => done(null); // also if the rename failed: the file then grows, and the next write tries again
        renameAsync(path, `${path}.1`).then(ended, ended);
      });
    });
  }

  return {
    name: path,
    most: 200,
    write(records: readonly LogRecord[], done) {
      open(path, flags, PRIVATE, (error, fd) => {
        if (error !== null) return done(error);
        const bytes = Buffer.from(records.map(formatRecordLine).join(''));
        append(fd, bytes, (failed) => close(fd, () => done(failed)));
      });
    },
    close: () => Promise.resolve(),
  };
}
