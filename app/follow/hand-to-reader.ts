import type { Clock } from '../../core/ports/index.ts';
import type { Hand } from './hand.ts';
import type { Item } from './item.ts';
import { wakeText } from './wake-text.ts';

export interface ReaderNeeds {
  readonly clock: Clock;
  readonly atOnce: number;
  /** Lines as they stand in the file instead of text. */
  readonly json: boolean;
  write(text: string, stop: AbortSignal): Promise<'written' | 'reader gone' | 'stopped'>;
}

/**
 * A harness that wakes its agent takes many lines in quick succession for one wake, and turns off a command that prints
 * without end.
 */
const PAUSE_MS = 1000;

/** Lines for whoever reads our output: a harness that wakes its agent with each. */
export function handToReader({ clock, atOnce, json, write }: ReaderNeeds): Hand {
  return {
    atOnce,
    pauseMs: PAUSE_MS,
    async take(items, stop) {
      switch (await write(linesOf(items, json, clock), stop)) {
        case 'written':
          return { is: 'all' };
        case 'reader gone':
          return { is: 'nobody' };
        case 'stopped':
          return { is: 'stopped' };
      }
    },
  };
}

export function linesOf(items: readonly Item[], json: boolean, clock: Clock): string {
  return items.map(({ event, raw }) => `${json ? raw : wakeText(event, clock.now())}\n`).join('');
}
