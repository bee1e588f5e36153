import { writeSync } from 'node:fs';
import { answerHook } from './hook/index.ts';

/** Each wait has its own, shorter limit. This one covers unforeseen cases, such as a disk that does not answer. */
const MOST_MS = 15_000;
setTimeout(() => {
  write(2, `hivebar hook: timed out after ${MOST_MS / 1000} s: its output comes with the next hook\n`);
  process.exit(0);
}, MOST_MS).unref();

/**
 * Runs one call of a hook in its own process and exits at once. A normal exit would close the database and free the heap while
 * the agent waits.
 */
answerHook(process.argv.slice(3), {
  env: { ...process.env },
  out: (text) => write(1, text),
  err: (text) => write(2, text),
  input: async () => '',
})
  .catch((error: unknown) => write(2, `hivebar hook: ${error instanceof Error ? error.message : String(error)}\n`))
  .finally(() => process.exit(0));

function write(fd: number, text: string): void {
  try {
    writeSync(fd, text);
  } catch {
    // Nobody reads the output, or not now. A hook has nothing else to do about that.
  }
}
