export { type Alone, alone } from './alone.ts';
export { type Drained, drain, type Read } from './drain.ts';
export { enqueue, type Queued } from './enqueue.ts';
export type { Hand } from './hand.ts';
export { localStamp } from './local-stamp.node.ts';
export { type ReceiverArming, type SenderArming, writeReceiver, writeSender } from './markers.ts';
export { stamp } from './receipts.ts';
export { receiptText, recordText } from './texts.ts';
export { mintId, type Upserted, type UpsertInput, upsert, type Written } from './upsert.ts';
