export { createUnreadCounter } from './by-priority.ts';
export { type Continuity, openContinuity, type TrackedMail } from './continuity.ts';
export {
  type Addressee,
  type AwaitedSession,
  ITEM_TYPES,
  type Item,
  type ItemFilter,
  type ItemOrigin,
  type Items,
  type ItemType,
  type Lease,
  type LeaseRequest,
  type NewItem,
  type OwnItem,
  type Priority,
  type PushResult,
} from './item.ts';
export { parsePriority, parseTtl, parseType } from './item-fields.ts';
export { type ItemsOptions, openItems } from './items.ts';
export type { UnreadLevel, UnreadLevels } from './levels.ts';
export {
  type InboxMessage,
  type LocalHive,
  type LocalHiveOptions,
  type LocalInboxWindow,
  MAIL_RETENTION_MS,
  openLocalHive,
  type SendResult,
} from './local-hive.ts';
export { MAX_CONTENT, MAX_NAME, type NewMessage, parseNewMessage } from './mail.ts';
export type { InboxAnswer, InboxRow } from './page.ts';
export {
  DEFAULT_LIMIT,
  type InboxQuery,
  MAX_LIMIT,
  MAX_WAIT_MS,
  type PendingQuery,
  parseInboxQuery,
  parsePendingQuery,
} from './query.ts';
export { openRemotePersonas, type RemotePersonas } from './remote-personas.ts';
export { DAMAGED_FROM, sealAll } from './seals.ts';
export { MOST_COUNTED } from './tally.ts';
export type { TrimmedMessage } from './trimmed-message.ts';
export { createUndeliveredCheck, type UndeliveredLevel } from './undelivered.ts';
