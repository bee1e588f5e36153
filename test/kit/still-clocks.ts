import { createStamper, type Event } from '../../core/events/index.ts';
import type { ClockReading, Clocks } from '../../core/ports/index.ts';

const READING: ClockReading = {
  wall: 1_750_000_000_000,
  monotonic: { seconds: 1000.25, src: 'CLOCK_MONOTONIC' },
  boottime: { seconds: 1060.5, src: 'CLOCK_BOOTTIME' },
};

/** Clocks that always say the same. */
export const stillClocks: Clocks = { read: () => READING };

/** The line, with its newline, that a sink with `stillClocks` writes for this event. */
export function formatTakeLine(event: Event): string {
  return `${createStamper(READING)(event)}\n`;
}
