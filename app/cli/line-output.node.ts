import { fstatSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS = 10;
const GONE: ReadonlySet<string> = new Set(['EPIPE', 'ENXIO', 'ECONNRESET', 'EIO', 'EBADF']);

/** Writes to stdout and knows what became of it; a reader that does not read blocks nothing. */
export interface LineOutput {
  /**
   * `stopped`: `signal` aborted before all of it was taken.
   * @throws what the file system says when stdout is a file and the disk is full
   */
  write(text: string, signal: AbortSignal): Promise<'written' | 'reader gone' | 'stopped'>;
}

export function lineOutput(fd = 1): LineOutput {
  const stat = fstatSync(fd);
  // Node makes a pipe answer EAGAIN instead of blocking the process when its stream is first asked for.
  if (fd === 1 && (stat.isFIFO() || stat.isSocket())) process.stdout.on('error', () => {}); // told by the writes below
  return {
    async write(text, signal) {
      let rest: Uint8Array = Buffer.from(text, 'utf8');
      while (rest.length > 0) {
        try {
          rest = rest.subarray(writeSync(fd, rest));
        } catch (error) {
          const code = error instanceof Error && 'code' in error ? String(error.code) : '';
          if (GONE.has(code)) return 'reader gone';
          if (code !== 'EAGAIN') throw error;
          if (signal.aborted) return 'stopped';
          await sleep(WAIT_MS);
        }
      }
      return 'written';
    },
  };
}
