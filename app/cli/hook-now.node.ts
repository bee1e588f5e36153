import { writeSync } from 'node:fs';
import { answerHook } from './hook/index.ts';

/** Each wait has its own, shorter one; this is for what nobody thought of, such as a disk that does not answer. */
const MOST_MS = 15_000;
setTimeout(() => {
  write(2, `hivebar hook: not done after ${MOST_MS / 1000} s: what it was to say comes with the next one\n`);
  process.exit(0);
}, MOST_MS).unref();

/**
 * One call of a hook in a process of its own. It ends at once: what a process does while it goes quietly (closing the database,
 * taking down its heap) is time that an agent waits for.
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
    // Nobody reads it, or not now: no reason for a hook to do anything else.
  }
}
