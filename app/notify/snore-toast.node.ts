import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

/** Called with what a person did, for example `clicked` or `dismissed`; undefined when it is not known. */
export type ToastAnswer = (error: Error | null, action: string | undefined) => void;

/**
 * SnoreToast's exit codes for clicked, hidden, dismissed, timed out, a button, a text. A failure is -1, and a crash is any code
 * of Windows.
 */
const ENDS = [0, 1, 2, 3, 4, 5];
const MOST_BYTES = 4096;

/** Returns the path of the helper in node-notifier. node-notifier itself treats every exit code but -1 as a shown banner. */
export function findSnoreToast(arch: string): string {
  const folder = dirname(createRequire(import.meta.url).resolve('node-notifier/package.json'));
  return join(folder, 'vendor', 'snoreToast', `snoretoast-x${arch === 'x64' ? '64' : '86'}.exe`);
}

/** Shows a toast, and reports once how it ended. A signal or an exit code that is not SnoreToast's own is an error. */
export function showToast(file: string, args: readonly string[], answer: ToastAnswer): void {
  const pipe = `\\\\.\\pipe\\hivebar-toast-${randomUUID()}`;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {}); // the helper is gone: its exit is reported
    socket.on('data', (chunk: Buffer) => {
      if (bytes < MOST_BYTES) chunks.push(chunk);
      bytes += chunk.length;
    });
  });
  let isOver = false;
  const end = (error: Error | null): void => {
    if (isOver) return;
    isOver = true;
    const action = /(?:^|;)action=(\w+)/.exec(Buffer.concat(chunks).toString('utf16le'))?.[1];
    answer(error, action);
  };
  server.on('error', end);
  server.listen(pipe, () => {
    const child = spawn(file, [...args, '-pipeName', pipe], { stdio: 'ignore', windowsHide: true });
    // The server is closed only after the helper's output was read.
    child.on('error', (error) => server.close(() => end(error)));
    child.on('exit', (code, signal) => {
      const isKnownEnd = code !== null && ENDS.includes(code);
      const error = isKnownEnd ? null : new Error(`${file} ended with ${signal ?? `code ${code}`}`);
      setImmediate(() => server.close(() => end(error)));
    });
  });
}

/** Removes a toast from the screen. The result is ignored. */
export function closeToast(file: string, id: number): void {
  spawn(file, ['-close', String(id)], { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
