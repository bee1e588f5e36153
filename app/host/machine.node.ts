import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type Clock,
  type Clocks,
  findLoadedKoffi,
  type Log,
  type Random,
  realClock,
  realClocks,
  realRandom,
  realSpawn,
  type Spawn,
} from '../../core/ports/index.ts';
import { createRealDisk, type Disk } from '../../core/state/index.ts';
import { onPoke } from './poke-signal.node.ts';

/** Creates the real machine. Installs the handlers for the signals that ask for a clean stop. */
export function createRealMachine(log: Log): Machine {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  return {
    env: process.env,
    pid: process.pid,
    os: process.platform,
    arch: process.arch,
    disk: createRealDisk(log),
    clock: realClock,
    clocks: realClocks,
    random: realRandom,
    spawn: realSpawn,
    log,
    stop: stop.signal,
    onPoke,
    started: compileAtOnce,
    atRest: clearHeap,
    tidy: tidyMemory,
    inBurst: letYoungSpaceGrow,
    inStorm: limitYoungSpace,
  };
}

/**
 * Makes V8 keep its heap close to the size of the live objects, for a program that mostly waits. By default a burst of mail makes
 * the space for new objects grow to 32 MiB, and garbage is kept until it is as large as the live objects. That memory is never
 * given back. Call this once the program is loaded.
 *
 * With `storms` the space for new objects may grow until the first rest, because with little space a start or a storm of mail spends
 * a third of its time in garbage collection. Such a program calls `letYoungSpaceGrow` when a burst begins, `limitYoungSpace` in a
 * storm, and `clearHeap` when it is at rest. Without `storms` the middle compiler is off, too.
 */
export function limitHeap({ storms }: { readonly storms: boolean }): void {
  setYoungGrowth(storms);
  setFlagsFromString('--heap-growing-percent=30');
  // The HTTP parser of undici is WebAssembly. The compiler that makes it faster after some calls keeps 13 MiB for it, and a poll parses
  // a few hundred bytes. Call this before undici is loaded.
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
  // The middle compiler takes 8 MiB of working space. Without it a storm runs at two thirds of the speed until the last compiler
  // has compiled everything, which takes some 100,000 mails.
  if (!storms) setFlagsFromString('--no-maglev');
}

/**
 * Does the same as `limitHeap`, and also runs code without compiling it. It suits a program that does so little that no compiler
 * pays for the memory it takes, which is 5 MiB for Node's own code alone. Call it before anything is loaded.
 */
export function limitProgramMemory(): void {
  limitHeap({ storms: false });
  for (const compiler of ['opt', 'sparkplug']) setFlagsFromString(`--no-${compiler}`);
}

/**
 * From now on V8 compiles a function with its first compiler when it is first called, instead of interpreting it a few hundred times. The
 * first seconds of a storm of mail then take a seventh less. Before the start is over it would cost more than it gives, because most
 * functions of a start run once.
 */
function compileAtOnce(): void {
  setFlagsFromString('--always-sparkplug');
}

/** When the space for new objects is larger than this, a collection (some 60 ms) is worth its time. */
const GROWN_BYTES = 4 * 1024 * 1024;
/** When the process has grown by this since the last collection, another one is worth its time. */
const TIDY_BYTES = 4 * 1024 * 1024;

/** From 1 MiB it grows to 32 at once. A second time would be to 128, which no storm needs. */
function setYoungGrowth(mayGrow: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 16 : 1}`);
}

function hasGrown(): boolean {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  return young === undefined || young.space_size >= GROWN_BYTES;
}

let isAtRest = false;
let isLimited = false;

function letYoungSpaceGrow(): void {
  if (!isAtRest) return;
  isAtRest = false;
  setYoungGrowth(true);
}

function limitYoungSpace(): void {
  if (isAtRest || isLimited || !hasGrown()) return;
  setYoungGrowth(false);
  isLimited = true;
}

type GarbageCollector = (how: { type: 'major'; flavor: 'last-resort' }) => void;

let gc: GarbageCollector | null = null;

/** Collects the garbage that the start or a storm left, and gives the memory back. Costs nothing when there is none. */
function clearHeap(): void {
  const isFirst = gc === null;
  if (gc === null) {
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('gc') as GarbageCollector;
  }
  // V8 adds up what survives, so a day of single messages would make the space grow as a storm does.
  setYoungGrowth(false);
  isAtRest = true;
  isLimited = false;
  if (isFirst || hasGrown()) collect(gc);
}

/** The resident memory after the last collection that gave memory back. */
let collectedRss = Number.POSITIVE_INFINITY;

/** Gives back what grew slowly: garbage among the old objects, and what the C library keeps. Costs nothing when that is little. */
function tidyMemory(): void {
  if (gc !== null && process.memoryUsage.rss() >= collectedRss + TIDY_BYTES) collect(gc);
}

function collect(gc: GarbageCollector): void {
  // Only a last-resort collection gives pages back to the system.
  gc({ type: 'major', flavor: 'last-resort' });
  trim();
  collectedRss = process.memoryUsage.rss();
}

let mallocTrim: ((pad: number) => number) | null = null;

/** Returns to the system the memory that the compilers gave back to the C library, some 20 MiB. */
function trim(): void {
  if (process.platform !== 'linux') return;
  try {
    mallocTrim ??= findLoadedKoffi()?.load(null).func('int malloc_trim(size_t pad)') ?? null;
    mallocTrim?.(0);
  } catch {
    mallocTrim = () => 0; // only glibc has this function
  }
}

/** Everything that a process uses of the outside world. Tests replace it. */
export interface Machine {
  /** Called when a program that takes in storms of mail has started. */
  started(): void;
  /**
   * Called when the start is over, or when nothing has happened for a while: memory that is not needed can be given back, and little
   * more is needed until the next burst.
   */
  atRest(): void;
  /** Called at rest, a few times an hour: memory that grew slowly can be given back. */
  tidy(): void;
  /** Called when many events come at once after a rest: more memory saves time. */
  inBurst(): void;
  /** Called in a storm now and then: memory need not grow further. */
  inStorm(): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly os: NodeJS.Platform;
  readonly arch: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly clocks: Clocks;
  readonly random: Random;
  readonly spawn: Spawn;
  readonly log: Log;
  /** Aborts on SIGTERM, SIGINT and SIGHUP. */
  readonly stop: AbortSignal;
  /** Calls the listener on each SIGUSR1. If one came before anybody listened, the listener is called at once. */
  onPoke(listener: () => void): Disposable;
}
