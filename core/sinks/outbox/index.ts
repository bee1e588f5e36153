export type { Rotation } from './event-file.ts';
export { type Outbox, type OutboxOptions, openOutbox, RETENTION, ROTATION } from './outbox.ts';
export { eventFilePath } from './publisher.ts';
export type { Behind } from './reconcile.ts';
export { type OutboxReader, type OutboxRow, openOutboxReader, type Replay } from './rows.ts';
export type { Retention } from './syncer.ts';
