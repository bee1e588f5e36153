import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * From here on V8 keeps its heap near what is alive in it. By default a burst of mail makes the space for new objects grow
 * to 32 MiB and lets old garbage lie until it is as much again as what lives: room that a program which mostly waits never
 * gives back. Called when the start is over: what loading left is thrown away once, and nothing grows by habit after it.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
