/**
 * Imported before anything else by every entry: Node ends on a SIGUSR1 without a handler, or opens its inspector. The
 * first 0.1 s, before this line runs, can't be closed from inside; `closeUninvitedInspector` mends what happened then.
 */
let poked = false;
let listener: (() => void) | null = null;

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

/** Closes an inspector that a poke opened; one that was asked for by a flag stays. True when there was one. */
export async function closeUninvitedInspector(): Promise<boolean> {
  const asked = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)];
  if (asked.some((flag) => flag.startsWith('--inspect'))) return false;
  const inspector = await import('node:inspector');
  if (inspector.url() === undefined) return false;
  inspector.close();
  return true;
}
