import { fstatSync, readSync } from 'node:fs';
import { pause } from '../../../core/ports/index.ts';
import { getErrno } from '../../../core/state/index.ts';
import { openUnblocked } from '../nonblocking-io.node.ts';
import type { TimeBudget } from './call.ts';

/** More than any harness sends about a useful tool call. */
const MOST_BYTES = 32 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const ASK_EVERY_MS = 1;

/** Whether stdin is a person's terminal instead of a harness. */
export const isPerson = (): boolean => fstatSync(0).isCharacterDevice() && process.stdin.isTTY === true;

/** Reads stdin to its end, or until `budget` is used up: a harness that leaves stdin open does not delay the hook. */
export function readStdin(budget: TimeBudget): string | Promise<string> {
  const stat = fstatSync(0);
  const isOrdinary = stat.isFIFO() || stat.isSocket() || stat.isFile();
  return process.platform === 'win32' || !isOrdinary ? readStream(budget.left()) : read(openUnblocked(0), budget);
}

/** Blocks this thread, which has nothing else to do. */
function read(fd: number, budget: TimeBudget): string {
  const chunks: Buffer[] = [];
  for (let bytes = 0; bytes <= MOST_BYTES; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    try {
      const got = readSync(fd, chunk, 0, chunk.length, null);
      if (got === 0) break;
      bytes += got;
      chunks.push(chunk.subarray(0, got));
    } catch (error) {
      if (getErrno(error) !== 'EAGAIN') break; // the text so far is no JSON, and the caller reports that
      if (budget.left() === 0) break;
      pause(ASK_EVERY_MS);
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Reads through the stream where reading without blocking is impossible. The stream is destroyed, so that it does not keep the
 * process alive.
 */
async function readStream(ms: number): Promise<string> {
  const { stdin } = process;
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    stdin.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MOST_BYTES) done();
    });
    for (const end of ['end', 'close', 'error']) stdin.on(end, done);
  });
  stdin.removeAllListeners();
  stdin.on('error', () => {}); // the stream is destroyed, so nobody waits for more
  stdin.destroy();
  return Buffer.concat(chunks).toString('utf8');
}
