import type { ClockReading } from '../ports/index.ts';
import { toEmissionTime } from './emission-time.ts';
import type { Event } from './event.ts';
import { formatJson, formatUnstamped } from './line.ts';
import { computeNonce } from './nonce.ts';

/**
 * Returns a function that formats events which are taken now, without a newline. Each gets its `nonce`, and all get the same
 * `emitted` time.
 * Only the sink that takes an event calls this, once. Every later copy of the event has the same text (Kijito contract b).
 */
export function createStamper(reading: ClockReading): (event: Event) => string {
  const emitted = formatJson(toEmissionTime(reading));
  return (event) => `${formatUnstamped(event)}, "nonce": "${computeNonce(event.event_id)}", "emitted": ${emitted}}`;
}
