export {
  type AlarmEvent,
  addExtra,
  type ChangeEvent,
  type EmissionTime,
  type Event,
  type EventName,
  type HiveAlarmEvent,
  isAboutAgent,
  isMail,
  type MailEvent,
  type MailExtras,
  type MailUrgency,
  readMailExtras,
  readMailUrgency,
  toChangeEventId,
  toMailEventId,
  toOtherEventId,
  toWakeClass,
  type WaitEvent,
  type WakeClass,
} from './event.ts';
export type { EventLinePosition, FollowStartPoint } from './event-files.ts';
export { watchFile } from './file-changes.node.ts';
export {
  type EventFollower,
  type FollowedLine,
  type FollowerOpening,
  type FollowResult,
  follow,
  openFollower,
} from './follower.ts';
export { computeNonce, createStamper, formatEventJson, formatEventLine, parseEventLine } from './line.ts';
export { readTail, repairTail } from './tail.ts';
