import type { Clock } from '../../core/ports/index.ts';
import type { Fifo } from './fifo.node.ts';
import type { Hand } from './hand.ts';
import { linesOf } from './hand-to-reader.ts';

/** A line at a time, since a reader may take one and leave. */
export function handToFifo(fifo: Fifo, json: boolean, clock: Clock): Hand {
  return {
    atOnce: 1,
    pauseMs: 0,
    async take(items, stop) {
      for (const [count, item] of items.entries()) {
        try {
          if ((await fifo.hand(linesOf([item], json, clock), stop)) === 'stopped') return { is: 'stopped' };
        } catch (error) {
          return { is: 'failed', count, why: error instanceof Error ? error.message : String(error) };
        }
      }
      return { is: 'all' };
    },
  };
}
