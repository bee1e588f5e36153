import type { ClockReading } from '../ports/index.ts';
import { toEmissionTime } from './emission-time.ts';
import type { Event } from './event.ts';
import { formatJson, formatUnstamped } from './line.ts';
import { computeNonce } from './nonce.ts';

/**
 * Makes the text of events (without a newline) that are taken now: each with its `nonce`, and all with when that was. Only the
 * sink that takes an event does this, once; wherever the event is written again, that text is (Kijito contract b).
 */
export function createStamper(reading: ClockReading): (event: Event) => string {
  const emitted = formatJson(toEmissionTime(reading));
  return (event) => `${formatUnstamped(event)}, "nonce": "${computeNonce(event.event_id)}", "emitted": ${emitted}}`;
}
