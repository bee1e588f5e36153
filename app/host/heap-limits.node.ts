import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { findLoadedKoffi } from '../../core/ports/index.ts';

/**
 * Has V8 keep its heap near what is alive in it, for a program that mostly waits. By default a burst of mail makes the
 * space for new objects grow to 32 MiB, and old garbage lies until it is as much again as what lives: room that is never
 * given back. Called once the program is loaded.
 *
 * `storms`: the space for new objects may grow all the same, and at once, since a storm of mail that has to make do with
 * little spends a third of its time tidying up. Such a program calls `clearHeap` when it has come to rest. The others do
 * without the middle compiler too.
 */
export function limitHeap({ storms }: { readonly storms: boolean }): void {
  setFlagsFromString(storms ? '--semi-space-growth-factor=16' : '--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
  // The middle compiler takes 8 MiB of working space. Without it a storm is handled at two thirds of the speed until the
  // last compiler has seen to all of it, which is some 100,000 mails later.
  if (!storms) setFlagsFromString('--no-maglev');
}

/**
 * The same, and code is run as it was read: for a program that does so little that no compiler ever makes good what it
 * takes, which is 5 MiB of Node's own code alone. To be called before anything is loaded.
 */
export function limitProgramMemory(): void {
  limitHeap({ storms: false });
  for (const compiler of ['opt', 'sparkplug']) setFlagsFromString(`--no-${compiler}`);
}

/** The space for new objects beyond which it is worth a collection (some 60 ms) to give it back. */
const GROWN_BYTES = 4 * 1024 * 1024;

let gc: ((how: { type: 'major'; flavor: 'last-resort' }) => void) | null = null;

/** Throws away what the start or a storm has left, and gives its room back. Costs nothing when there is none. */
export function clearHeap(): void {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  const isFirst = gc === null;
  if (gc === null) {
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('gc') as NonNullable<typeof gc>;
  }
  // Only a collection of the last resort gives pages back to the system.
  if (!isFirst && young !== undefined && young.space_size < GROWN_BYTES) return;
  gc({ type: 'major', flavor: 'last-resort' });
  trim();
}

let mallocTrim: ((pad: number) => number) | null = null;

/** What the compilers took from the C library and gave back to it, some 20 MiB, goes on to the system. */
function trim(): void {
  if (process.platform !== 'linux') return;
  try {
    mallocTrim ??= findLoadedKoffi()?.load(null).func('int malloc_trim(size_t pad)') ?? null;
    mallocTrim?.(0);
  } catch {
    mallocTrim = () => 0; // only glibc has it
  }
}
