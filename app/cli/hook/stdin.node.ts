/** More than any harness says of a tool call that was of use. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Whether a person sits there instead of a harness. */
export const isPerson = (): boolean => process.stdin.isTTY === true;

/**
 * What stands on stdin when it ends, or so far when `signal` aborts: a harness that leaves it open is not waited for. It
 * is let go of afterwards, so that it keeps no process alive.
 */
export async function stdinText(signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve) => {
    const done = (): void => resolve();
    if (signal.aborted) return done();
    signal.addEventListener('abort', done, { once: true });
    stdin.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MOST_BYTES) done();
    });
    stdin.on('end', done);
    stdin.on('close', done);
    stdin.on('error', done); // what came until then is no JSON, and that is said
  });
  stdin.removeAllListeners();
  stdin.on('error', () => {}); // it is let go of: nobody waits for more
  stdin.destroy();
  return Buffer.concat(chunks).toString('utf8');
}
