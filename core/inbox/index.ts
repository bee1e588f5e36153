export { type Continuity, DAMAGED_FROM, openContinuity, sealAll, type TrackedMail } from './continuity.ts';
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
  parsePriority,
  parseTtl,
  parseType,
  type TrimmedMessage,
} from './item.ts';
export { type ItemsOptions, openItems } from './items.ts';
export type { UnreadLevel, UnreadLevels } from './levels.ts';
export {
  type InboxMessage,
  type LocalHive,
  type LocalHiveOptions,
  type LocalInboxWindow,
  MAIL_RETENTION_MS,
  type MessageMarks,
  openLocalHive,
  type SendResult,
} from './local-hive.ts';
export { openStoredMailLog, type StoredMailLog } from './mail-log.ts';
export { formatReplyKey, type Mailbox, type MailboxMessage } from './mailbox.ts';
export { findNearName } from './near-name.ts';
export { MAX_CONTENT, MAX_KEY, MAX_NAME, type NewMessage, parseName, parseNewMessage } from './new-item.ts';
export { findAddressee, PUSH_FIELDS, parsePush, toItemJson, toPushedJson } from './push.ts';
export {
  createUndeliveredCheck,
  createUnreadCounter,
  DEFAULT_LIMIT,
  type InboxAnswer,
  type InboxQuery,
  type InboxRow,
  MAX_LIMIT,
  MAX_WAIT_MS,
  MOST_COUNTED,
  type PendingQuery,
  parseInboxQuery,
  parsePendingQuery,
  type UndeliveredLevel,
} from './query.ts';
export { openRemotePersonas, type RemotePersonas } from './remote-personas.ts';
export { removePersona } from './remove-persona.ts';
