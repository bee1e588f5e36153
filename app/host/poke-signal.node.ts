/**
 * Imported before anything else by every entry, because before this line runs SIGUSR1 is not ours (0.1 s on an idle
 * machine, more on a busy one): for its first milliseconds the system ends a process for it, which a supervisor makes
 * good; after that Node opens its inspector, which `closeUninvitedInspector` undoes. Neither loses mail. A pid is told
 * only after this, and `hivebar poll` is the wake without such a window.
 */
let poked = false;
let listener: (() => void) | null = null;

/** Two would do; the thread that hears the signal may be late on a busy machine. */
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
 * Closes an inspector that a poke opened; one that was asked for by a flag stays. True when there was one.
 *
 * Node asks for the inspector twice a signal, by interrupting the code that runs and by waking the loop: one that is
 * closed while only the first was heard opens again with the second. So it is closed until a few turns of the loop have
 * left it closed.
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
  // On a busy machine the thread that opens it may come to it later still.
  const closeLate = (): void => {
    if (inspector.url() !== undefined) inspector.close();
  };
  setTimeout(closeLate, 50).unref();
  setTimeout(closeLate, 200).unref();
  return closed;
}
