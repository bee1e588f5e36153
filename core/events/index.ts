export type { Emitted } from './emitted.ts';
export {
  type AlarmEvent,
  type ChangeEvent,
  changeEventId,
  type Event,
  type EventName,
  type HiveAlarmEvent,
  isMail,
  type NewEvent,
  newEventId,
  otherEventId,
  type WakeClass,
  wakeClassOf,
} from './event.ts';
export { withExtra } from './extra.ts';
export * from './follow/index.ts';
export { eventOf, lineOf, textOf } from './line.ts';
export { nonceOf } from './nonce.ts';
export { stamper } from './stamp.ts';
export { readTail, repairTail } from './tail.ts';
