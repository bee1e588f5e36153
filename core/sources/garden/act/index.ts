export { type BoxDrainResult, type DrainedMessage, drain } from './drain.ts';
export { type EnqueueResult, enqueue } from './enqueue.ts';
export { formatReceipt, formatRecord } from './formats.ts';
export { formatLocalStamp } from './local-stamp.node.ts';
export { type ReceiverMarkerInput, type SenderMarkerInput, writeReceiver, writeSender } from './markers.ts';
export { stampReceipt } from './receipts.ts';
export { runLocked, type StoreLockResult } from './store-lock.ts';
export { mintId, type UpsertInput, type UpsertResult, upsert, type WritableSchema } from './upsert.ts';
export type { WriteContext } from './write-context.ts';
