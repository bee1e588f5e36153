import { type Log, realClock, realClocks, realRandom, realSpawn } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { clearHeap } from './heap-limits.node.ts';
import type { Machine } from './machine.ts';
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
    atRest: clearHeap,
  };
}
