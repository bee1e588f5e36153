import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Imported first by whatever runs for long: V8 then keeps its heap near what is alive in it. By default a burst of mail,
 * or the loading of the program, makes the space for new objects grow to 32 MiB, and old garbage lies until it is as much
 * again as what lives: room that a program which mostly waits never gives back. A storm of 1,000 mails is no slower for it.
 */
setFlagsFromString('--semi-space-growth-factor=1');
setFlagsFromString('--heap-growing-percent=30');
setFlagsFromString('--no-maglev'); // the middle compiler: 8 MiB of working space, and no faster here than the two others
setFlagsFromString('--expose-gc');

/** Throws away, once, what the start has left. */
export function clearStart(): void {
  (runInNewContext('gc') as () => void)();
}
