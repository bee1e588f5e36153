export type { Rotation } from './event-file.ts';
export { type DeliveredMailLog, openDeliveredMailLog } from './mail-log.ts';
export { type Outbox, type OutboxOptions, openOutbox, RETENTION, ROTATION } from './outbox.ts';
export { type Retention, toEventFilePath } from './publisher.ts';
export type { BehindPersona } from './reconcile.ts';
export { removeEvents } from './remove-events.ts';
export { type OutboxReader, type OutboxReplay, type OutboxRow, openOutboxReader } from './rows.ts';
