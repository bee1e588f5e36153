import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** System calls that change something, as `strace -f` writes them. */
export const CHANGES =
  /^\d+ +(?:<\.\.\. )?(write|pwrite64|writev|pwritev2?|rename(?:at2?)?|unlink(?:at)?|link(?:at)?|symlink(?:at)?|mkdir(?:at)?|rmdir|f?chmod(?:at2?)?|f?l?chown(?:at)?|f?truncate|utime\w*|futimesat|creat|mknod(?:at)?|f?setxattr|copy_file_range|sendfile|fallocate)\b/;
export const OPENS_TO_WRITE = /^\d+ +open(?:at2?)?\(.*O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)/;
/** Locks of files, by any of the calls there are. */
export const LOCKS = /^\d+ +(?:flock|lockf|fcntl\(.*F_(?:OFD_)?SETLKW?)\b/;
/** A process begins: threads share their process. */
export const STARTS = /^\d+ +(?:execve|execveat|fork|vfork|clone3?\((?!.*CLONE_THREAD))/;

/** A program from its first call on, whose every call with a path, a file, or a process is written to `log`. */
export interface TracedProgram extends AsyncDisposable {
  /** Asks it to stop, and waits. */
  end(): Promise<void>;
  readonly stdout: () => string;
}

export function straced(log: string, argv: readonly string[]): TracedProgram {
  const child = spawn('strace', ['-f', '-y', '-e', 'trace=%file,%desc,%process', '-o', log, ...argv], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const end = async (): Promise<void> => {
    child.stdin.end();
    await gone;
  };
  return { end, stdout: () => output, [Symbol.asyncDispose]: end };
}

export const hasStrace = (): boolean => spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0;
