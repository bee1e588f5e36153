import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

/** What a person did, for example `clicked` or `dismissed`; undefined: it does not say. */
export type ToastAnswer = (error: Error | null, action: string | undefined) => void;

/** SnoreToast: clicked, hidden, dismissed, timed out, a button, a text. A failure is -1, and a crash whatever Windows says. */
const ENDS = [0, 1, 2, 3, 4, 5];
const MOST_BYTES = 4096;

/** The helper as node-notifier brings it. node-notifier itself takes every end of it but -1 for a banner that was shown. */
export function findSnoreToast(arch: string): string {
  const folder = dirname(createRequire(import.meta.url).resolve('node-notifier/package.json'));
  return join(folder, 'vendor', 'snoreToast', `snoretoast-x${arch === 'x64' ? '64' : '86'}.exe`);
}

/** Shows a toast, and tells once how it ended: an exit code that is none of its own or a signal is an error. */
export function showToast(file: string, args: readonly string[], answer: ToastAnswer): void {
  const pipe = `\\\\.\\pipe\\hivebar-toast-${randomUUID()}`;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {}); // the helper is gone: its end tells
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
    // Closed only when what it wrote was read.
    child.on('error', (error) => server.close(() => end(error)));
    child.on('exit', (code, signal) => {
      const isKnownEnd = code !== null && ENDS.includes(code);
      const error = isKnownEnd ? null : new Error(`${file} ended with ${signal ?? `code ${code}`}`);
      setImmediate(() => server.close(() => end(error)));
    });
  });
}

/** Takes a toast off the screen. Nothing follows from how that ends. */
export function closeToast(file: string, id: number): void {
  spawn(file, ['-close', String(id)], { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
