import { type ChildProcess, spawn } from 'node:child_process';
import { write } from 'node:fs';
import type { LogRecord } from './record.ts';
import { formatPrefixedLine, formatRecordLine } from './record.ts';
import type { LogOutlet } from './sink.ts';

/** Records per write; few enough that a descriptor takes them in one piece. */
const AT_ONCE = 50;

/**
 * Creates an outlet to the journal through a descriptor that the journal gave us. Writes run in a thread, so that a journal that
 * hangs blocks no timer.
 */
export function createJournalOutlet(fd: number): LogOutlet {
  return {
    name: 'journal',
    most: AT_ONCE,
    write: (records, done) => writeAll(fd, Buffer.from(records.map(formatPrefixedLine).join('')), done),
    close: () => Promise.resolve(), // the descriptor belongs to the process
  };
}

function writeAll(fd: number, bytes: Buffer, done: (error: Error | null) => void): void {
  write(fd, bytes, (error, wrote) => {
    if (error !== null) return done(error);
    if (wrote === 0) return done(new Error('the descriptor takes no more'));
    if (wrote === bytes.length) return done(null);
    writeAll(fd, bytes.subarray(wrote), done);
  });
}

/** How long the program may take to end after the end of its input. */
const ENDS_WITHIN_MS = 500;

/**
 * Creates an outlet to a program that runs as long as this process and reads one line per record. If the program ends, the outlet
 * fails.
 */
export function createProgramOutlet(file: string, args: readonly string[], prefixed: boolean): LogOutlet {
  const child: ChildProcess = spawn(file, [...args], {
    // A process group of its own: a signal that ends the daemon must not cut off its last records.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
  });
  let ended: Error | null = null;
  let flying: ((error: Error | null) => void) | null = null;
  const exited = new Promise<void>((resolve) => {
    const over = (why: string): void => {
      ended ??= new Error(why);
      flying?.(ended);
      flying = null;
      resolve();
    };
    child.on('error', ({ message }) => over(message));
    child.on('exit', (code, signal) => over(`${file} ended with ${code ?? signal}`));
  });
  child.stdin?.on('error', () => {}); // the exit of the program says why
  child.unref();
  return {
    name: file,
    most: AT_ONCE,
    write(records: readonly LogRecord[], done) {
      if (ended !== null) return done(ended);
      flying = done;
      const text = records.map(prefixed ? formatPrefixedLine : formatRecordLine).join('');
      child.stdin?.write(text, (error) => {
        const callback = flying;
        flying = null;
        callback?.(error ?? null);
      });
    },
    async close() {
      child.ref();
      child.stdin?.end();
      const late = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
      await exited;
      clearTimeout(late);
    },
  };
}
