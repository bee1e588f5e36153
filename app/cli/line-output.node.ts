import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openUnblocked } from './nonblocking-fd.node.ts';

const WAIT_MS = 10;
const READER_GONE: ReadonlySet<string> = new Set(['EPIPE', 'ENXIO', 'ECONNRESET', 'EIO', 'EBADF']);

/** Writes to stdout and reports what became of it. A reader that does not read blocks nothing. */
export interface LineOutput {
  /**
   * Writes the text. `stopped` means that `stop` was aborted before all of it was taken.
   * @throws the file system's error when stdout is a file and the disk is full
   */
  write(text: string, stop: Pick<AbortSignal, 'aborted'>): Promise<'written' | 'reader gone' | 'stopped'>;
}

export function createLineOutput(): LineOutput {
  const fd = openUnblocked(1);
  return {
    async write(text, stop) {
      let rest: Uint8Array = Buffer.from(text, 'utf8');
      while (rest.length > 0) {
        try {
          rest = rest.subarray(writeSync(fd, rest));
        } catch (error) {
          const code = error instanceof Error && 'code' in error ? String(error.code) : '';
          if (READER_GONE.has(code)) return 'reader gone';
          if (code !== 'EAGAIN') throw error;
          if (stop.aborted) return 'stopped';
          await sleep(WAIT_MS);
        }
      }
      return 'written';
    },
  };
}
