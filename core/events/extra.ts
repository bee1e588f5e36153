import type { Extra } from '../model/index.ts';
import type { Event } from './event.ts';

/** Keys that mean the same in every event, whether an event has them or not. */
const COMMON: ReadonlySet<string> = new Set([
  ...['event', 'source', 'ts', 'id', 'from', 'created', 'persona', 'self', 'origin', 'content'],
  ...['event_id', 'wake_class', 'nonce', 'emitted'],
]);

/** Adds the keys that only the source knows to an event. Keys that every event may have are skipped. */
export function addExtra<E extends Event>(event: E, extra: Extra): E {
  const own = Object.entries(extra).filter(([key]) => !COMMON.has(key) && !Object.hasOwn(event, key));
  return own.length === 0 ? event : { ...event, ...Object.fromEntries(own) };
}
