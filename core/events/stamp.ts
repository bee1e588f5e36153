import type { ClockReading } from '../ports/index.ts';
import { emittedOf } from './emitted.ts';
import type { Event } from './event.ts';
import { jsonOf, unstampedOf } from './line.ts';
import { nonceOf } from './nonce.ts';

/**
 * Makes the text of events (without a newline) that are taken now: each with its `nonce`, and all with when that was. Only the
 * sink that takes an event does this, once; wherever the event is written again, that text is (Kijito contract b).
 */
export function stamper(reading: ClockReading): (event: Event) => string {
  const emitted = jsonOf(emittedOf(reading));
  return (event) => `${unstampedOf(event)}, "nonce": "${nonceOf(event.event_id)}", "emitted": ${emitted}}`;
}
