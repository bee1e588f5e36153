export type { EmissionTime } from './emission-time.ts';
export {
  type AlarmEvent,
  type ChangeEvent,
  type Event,
  type EventName,
  type HiveAlarmEvent,
  isMail,
  type MailEvent,
  toChangeEventId,
  toMailEventId,
  toOtherEventId,
  toWakeClass,
  type WakeClass,
} from './event.ts';
export { addExtra } from './extra.ts';
export * from './follow/index.ts';
export { formatEventJson, formatEventLine, parseEventLine } from './line.ts';
export { computeNonce } from './nonce.ts';
export { createStamper } from './stamp.ts';
export { readTail, repairTail } from './tail.ts';
