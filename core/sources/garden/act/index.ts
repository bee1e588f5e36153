export { type BoxDrainResult, type DrainedMessage, drain } from './drain.ts';
export {
  type EnqueueResult,
  enqueue,
  mintId,
  type UpsertInput,
  type UpsertResult,
  upsert,
  type WritableSchema,
} from './enqueue.ts';
export { formatLocalStamp } from './local-system.node.ts';
export {
  type ReceiverMarkerInput,
  type SenderMarkerInput,
  stampReceipt,
  writeReceiver,
  writeSender,
} from './markers.ts';
export { formatReceipt, formatRecord, runLocked, type StoreLockResult, type WriteContext } from './write-context.ts';
