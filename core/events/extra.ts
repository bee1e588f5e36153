import type { Extra } from '../model/index.ts';
import type { Event } from './event.ts';

/** Keys that mean one thing in every event, whether this one has them or not. */
const COMMON: ReadonlySet<string> = new Set([
  ...['event', 'source', 'ts', 'id', 'from', 'created', 'persona', 'self', 'origin', 'content'],
  ...['event_id', 'wake_class', 'nonce', 'emitted'],
]);

/** The event with what only its source knows of it. A key that every event may have is passed over. */
export function addExtra<E extends Event>(event: E, extra: Extra): E {
  const own = Object.entries(extra).filter(([key]) => !COMMON.has(key) && !Object.hasOwn(event, key));
  return own.length === 0 ? event : { ...event, ...Object.fromEntries(own) };
}
