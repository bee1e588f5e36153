import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Has V8 keep its heap near what is alive in it, for a program that mostly waits. By default a burst of mail makes the
 * space for new objects grow to 32 MiB, and old garbage lies until it is as much again as what lives: room that is never
 * given back. Called once the program is loaded: the 8 MiB that the space has grown to by then are enough for a storm.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
  setFlagsFromString('--no-maglev'); // the middle compiler: 8 MiB of working space, and no faster here than the two others
}

/** Throws away, once, what the start has left. */
export function clearStart(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
