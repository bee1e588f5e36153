import type { Clock } from '../../core/ports/index.ts';
import type { FollowItem } from './follow-item.ts';
import type { FollowOutput } from './follow-output.ts';
import { formatWakeText } from './wake-text.ts';

export interface ReaderOutputNeeds {
  readonly clock: Clock;
  readonly atOnce: number;
  /** Print lines as they are in the file instead of text. */
  readonly json: boolean;
  write(text: string, stop: AbortSignal): Promise<'written' | 'reader gone' | 'stopped'>;
}

/**
 * A harness that wakes its agent treats many lines in quick succession as one wake, and ends a command that prints without end.
 */
const PAUSE_MS = 1000;

/** Prints lines for the reader of our stdout: a harness that wakes its agent with each line. */
export function createReaderOutput({ clock, atOnce, json, write }: ReaderOutputNeeds): FollowOutput {
  return {
    atOnce,
    pauseMs: PAUSE_MS,
    async take(items, stop) {
      switch (await write(formatLines(items, json, clock), stop)) {
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

export function formatLines(items: readonly FollowItem[], json: boolean, clock: Clock): string {
  return items.map(({ event, raw }) => `${json ? raw : formatWakeText(event, clock.now())}\n`).join('');
}
