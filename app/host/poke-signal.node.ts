/**
 * Every entry imports this file first, because until this line runs SIGUSR1 has no handler (0.1 s on an idle machine, more on a
 * busy one). In its first milliseconds the signal ends the process, and a supervisor starts it again. After that Node opens its
 * inspector, which `closeUninvitedInspector` closes. Neither loses mail. A process publishes its pid only after this point, and
 * `hivebar poll` wakes it without such a window.
 */
let poked = false;
let listener: (() => void) | null = null;

/** Two turns would be enough, but on a busy machine the thread that hears the signal may be late. */
const QUIET_TURNS = 5;

if (process.platform !== 'win32') {
  process.on('SIGUSR1', () => {
    if (listener === null) poked = true;
    else listener();
  });
}

export function onPoke(run: () => void): Disposable {
  listener = run;
  if (poked) run();
  poked = false;
  return {
    [Symbol.dispose]: () => {
      listener = null;
    },
  };
}

/**
 * Closes an inspector that a signal opened. One that was requested by a flag stays. Returns true when one was closed.
 *
 * For each signal Node asks for the inspector twice: it interrupts the running code, and it wakes the loop. An inspector that is
 * closed between the two opens again. So it is closed until it stayed closed for a few turns of the loop.
 */
export async function closeUninvitedInspector(): Promise<boolean> {
  const nodeFlags = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)];
  if (nodeFlags.some((flag) => flag.startsWith('--inspect'))) return false;
  const inspector = await import('node:inspector');
  let closed = false;
  for (let turn = 0; turn < QUIET_TURNS; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (inspector.url() === undefined) continue;
    inspector.close();
    closed = true;
    turn = 0;
  }
  // On a busy machine the thread may open it even later.
  const closeLate = (): void => {
    if (inspector.url() !== undefined) inspector.close();
  };
  setTimeout(closeLate, 50).unref();
  setTimeout(closeLate, 200).unref();
  return closed;
}
