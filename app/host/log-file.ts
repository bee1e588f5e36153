import { type Disk, openForAppend } from '../../core/state/index.ts';

/** The log of the tray process in the directory for state, whichever way it was started. The one before is `.1`. */
export const LOG_FILE = 'hivebar.log';
/** At this size the log becomes `PATH.1`, replacing the earlier one. */
const MOST_BYTES = 1024 * 1024;

/**
 * Returns a function that appends one whole line to a private log file. A line that the disk does not take is left out, because
 * a log must never stop the program. stderr has it too.
 */
export function createLogFile(disk: Disk, path: string, mostBytes = MOST_BYTES): (line: string) => void {
  const { files } = disk;
  let live: { readonly fd: number; readonly ino: number; size: number } | null = null;

  function close(): void {
    const fd = live?.fd;
    live = null;
    if (fd !== undefined) files.close(fd);
  }

  /** Opens the file that has the name now: somebody may have deleted or moved it. */
  function open(): NonNullable<typeof live> {
    if (live !== null && files.lstat(path)?.ino === live.ino) return live;
    close();
    const { fd, stat } = openForAppend(disk, path);
    live = { fd, ino: stat.ino, size: stat.size };
    return live;
  }

  return (line) => {
    try {
      const file = open();
      const bytes = Buffer.from(line, 'utf8');
      file.size += files.write(file.fd, bytes);
      if (file.size < mostBytes) return;
      close();
      files.rename(path, `${path}.1`);
    } catch {
      live = null; // the next line opens it again
    }
  };
}
