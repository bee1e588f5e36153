import { readVersion } from '../package.node.ts';
import { createServerIdentity, formatGreeting } from './mcp-greeting.ts';

/** A first line that is longer is left to the library. */
const MOST_BYTES = 65_536;
const LF = 10;

let greetedId: string | number | null = null;

/** Returns the id of the request that was answered already; null: none. */
export function getGreetedId(): string | number | null {
  return greetedId;
}

/**
 * Waits for the first message of the client and answers it, if it is a greeting. All that was read is put back, so that the library reads it
 * too; its own answer is left out then.
 */
export async function greet(rings: boolean): Promise<void> {
  const bytes = await readFirstLine();
  const end = bytes.indexOf(LF);
  const identity = createServerIdentity(readVersion(), rings);
  const greeting = end === -1 ? null : formatGreeting(bytes.toString('utf8', 0, end), identity);
  if (greeting !== null) {
    greetedId = greeting.id;
    process.stdout.write(`${greeting.answer}\n`);
  }
  if (bytes.length > 0 && !process.stdin.readableEnded) process.stdin.unshift(bytes);
}

/** Reads up to the end of the first line, or what there is when stdin ends before. What follows may be part of it. */
function readFirstLine(): Promise<Buffer> {
  const { stdin } = process;
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const done = (): void => {
      stdin.off('readable', read).off('end', done).off('error', done);
      resolve(bytes);
    };
    const read = (): void => {
      for (let chunk = stdin.read() as Buffer | null; chunk !== null; chunk = stdin.read() as Buffer | null)
        bytes = Buffer.concat([bytes, chunk]);
      if (bytes.includes(LF) || bytes.length > MOST_BYTES) done();
    };
    stdin.on('readable', read).once('end', done).once('error', done);
  });
}
