import type { Clock } from '../../core/ports/index.ts';
import type { Fifo } from './fifo.node.ts';
import type { FollowOutput } from './follow-output.ts';
import { formatLines } from './reader-output.ts';

/** Writes one line at a time to the pipe, because a reader may take a single line and leave. */
export function createFifoOutput(fifo: Fifo, json: boolean, clock: Clock): FollowOutput {
  return {
    atOnce: 1,
    pauseMs: 0,
    async take(items, stop) {
      for (const [count, item] of items.entries()) {
        try {
          if ((await fifo.deliver(formatLines([item], json, clock), stop)) === 'stopped') return { is: 'stopped' };
        } catch (error) {
          return { is: 'failed', count, why: error instanceof Error ? error.message : String(error) };
        }
      }
      return { is: 'all' };
    },
  };
}
