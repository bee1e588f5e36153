export { unreadByPriority } from './by-priority.ts';
export { type Continuity, openContinuity, type TrackedMail } from './continuity.ts';
export { type Elsewhere, openElsewhere } from './elsewhere.ts';
export {
  type Addressee,
  type AwaitedSession,
  ITEM_TYPES,
  type Item,
  type Items,
  type ItemType,
  type Lease,
  type LeaseRequest,
  type Listed,
  type NewItem,
  type Origin,
  type OwnItem,
  type Priority,
  type Pushed,
} from './item.ts';
export { parsePriority, parseTtl, parseType } from './item-fields.ts';
export { type ItemsOptions, openItems } from './items.ts';
export type { Level, Levels } from './levels.ts';
export {
  KEEP_MAIL_MS,
  type Letter,
  type LocalHive,
  type LocalHiveOptions,
  openLocalHive,
  type Sent,
  type TrimmedRow,
  type Window,
} from './local-hive.ts';
export { MAX_CONTENT, MAX_NAME, type Mail, mailOf } from './mail.ts';
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
export { DAMAGED_FROM, sealAll } from './seals.ts';
export { MOST_COUNTED } from './tally.ts';
export { type Undelivered, undeliveredOf } from './undelivered.ts';
