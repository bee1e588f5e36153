import type { FollowOutput } from './follow-output.ts';
import type { ReaderOutputNeeds } from './reader-output.ts';
import { formatMonitorLine, formatName } from './wake-text.ts';

/**
 * Limits of the Monitor tool of Claude Code (measured, see docs/guides/follow.md). Lines that come together are one
 * notification, cut at 3,000 characters, each line at 500. After ten notifications it accepts one every two seconds, and it
 * ends a command that prints more for half a minute. The agent never sees what Monitor cuts, so no more than that is printed.
 */
const MOST_CHARS = 2900;
const MOST_LINE_CHARS = 480;
const PAUSE_MS = 2000;
/** How many waiting events are counted for the last line. */
const READS_AHEAD = 5000;

export interface MonitorOutputNeeds extends Omit<ReaderOutputNeeds, 'json'> {
  readonly persona: string;
}

/** Prints lines for Monitor: as many as one notification shows, and a last line that says how many more wait. */
export function createMonitorOutput({ clock, atOnce, persona, write }: MonitorOutputNeeds): FollowOutput {
  return {
    atOnce,
    pauseMs: PAUSE_MS,
    readsAhead: READS_AHEAD,
    async take(items, stop, behind) {
      const formatMore = (count: number): string => `${count} more: hivebar inbox read ${formatName(persona)}\n`;
      const room = MOST_CHARS - formatMore(items.length + behind).length;
      let text = '';
      let count = 0;
      for (const { event } of items) {
        const line = `${formatMonitorLine(event, clock.now(), MOST_LINE_CHARS)}\n`;
        if (count > 0 && text.length + line.length > room) break;
        text += line;
        count += 1;
      }
      const left = items.length + behind - count;
      switch (await write(left === 0 ? text : text + formatMore(left), stop)) {
        case 'written':
          return count === items.length ? { is: 'all' } : { is: 'some', count };
        case 'reader gone':
          return { is: 'nobody' };
        case 'stopped':
          return { is: 'stopped' };
      }
    },
  };
}
