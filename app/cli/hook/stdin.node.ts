import { fstatSync, readSync } from 'node:fs';
import { pause } from '../../../core/ports/index.ts';
import { getErrno } from '../../../core/state/index.ts';
import { openUnblocked } from '../nonblocking-fd.node.ts';
import type { TimeBudget } from './budget.ts';

/** More than any harness says of a tool call that was of use. */
const MOST_BYTES = 32 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const ASK_EVERY_MS = 1;

/** Whether a person sits there instead of a harness. */
export const isPerson = (): boolean => fstatSync(0).isCharacterDevice() && process.stdin.isTTY === true;

/** What stands on stdin when it ends, or so far when `budget` does: a harness that leaves it open is not waited for. */
export function readStdin(budget: TimeBudget): string | Promise<string> {
  const stat = fstatSync(0);
  const isOrdinary = stat.isFIFO() || stat.isSocket() || stat.isFile();
  return process.platform === 'win32' || !isOrdinary ? readStream(budget.left()) : read(openUnblocked(0), budget);
}

/** Holds this thread up: there is nothing else to do. */
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
      if (getErrno(error) !== 'EAGAIN') break; // what came until then is no JSON, and that is said
      if (budget.left() === 0) break;
      pause(ASK_EVERY_MS);
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The same by the stream, for what cannot be asked without waiting. It is let go of, so that it keeps no process alive. */
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
  stdin.on('error', () => {}); // it is let go of: nobody waits for more
  stdin.destroy();
  return Buffer.concat(chunks).toString('utf8');
}
