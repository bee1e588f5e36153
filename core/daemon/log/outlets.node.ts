import { type ChildProcess, spawn } from 'node:child_process';
import { write } from 'node:fs';
import type { LogRecord } from './record.ts';
import { formatPrefixedLine, formatRecordLine } from './record.ts';
import type { LogOutlet } from './sink.ts';

/** Records of one write; few enough that a descriptor takes them whole. */
const AT_ONCE = 50;

/** The journal behind a descriptor that it gave us. Written by a thread, so that a journal that hangs stops no timer. */
export function createJournalOutlet(fd: number): LogOutlet {
  return {
    name: 'journal',
    most: AT_ONCE,
    write: (records, done) => writeAll(fd, Buffer.from(records.map(formatPrefixedLine).join('')), done),
    close: () => Promise.resolve(), // the descriptor is the process's own
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

/** Between the end of what it reads and its own. */
const ENDS_WITHIN_MS = 500;

/** A program that runs as long as we do and reads a line a record. When it ends, the sink has failed. */
export function createProgramOutlet(file: string, args: readonly string[], prefixed: boolean): LogOutlet {
  const child: ChildProcess = spawn(file, [...args], {
    // A group of its own: what ends the daemon may not end the last words of it.
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
  child.stdin?.on('error', () => {}); // its end says why
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
