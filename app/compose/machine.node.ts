import { type Log, realClock, realClocks, realRandom, realSpawn } from '../../core/ports/index.ts';
import { realDisk } from '../../core/state/index.ts';
import { onPoke } from './early.node.ts';
import type { Machine } from './machine.ts';
import { clearHeap } from './small-heap.node.ts';

/** The real machine. Installs the handlers for the signals that ask for a clean stop. */
export function realMachine(log: Log): Machine {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  return {
    env: process.env,
    pid: process.pid,
    os: process.platform,
    arch: process.arch,
    disk: realDisk(log),
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
