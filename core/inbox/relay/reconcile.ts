import type { RelayCheckpoints } from './checkpoints.ts';
import type { DurableState, RelayLink, StreamMessage } from './link.ts';
import type { Durable } from './names.ts';
import type { Receiver } from './receive.ts';

export interface RelayReconcileOptions {
  readonly link: RelayLink;
  readonly checkpoints: RelayCheckpoints;
  readonly receiver: Receiver;
  /** When the stream was created. */
  readonly stream: string;
  /** Older messages of the stream are skipped, because mail is not kept that long. */
  readonly notBefore: number;
}

/** Messages stored per transaction. */
const AT_ONCE = 100;

/**
 * Stores messages of the stream that the durable does not deliver, or not at once. Messages published before the durable was
 * created are stored, since the durable delivers only new ones. So are messages that were delivered but never acknowledged, which
 * otherwise come after the ack wait. It inserts, and never drains (contract 8, defect 1).
 * @param bound the position of the durable, read before this call
 */
export async function reconcile(
  options: RelayReconcileOptions,
  { subjects }: Durable,
  bound: DurableState,
  stop: AbortSignal,
): Promise<void> {
  const { link, checkpoints } = options;
  const { lastSeq } = await link.stream();
  for (const subject of subjects) {
    const checkpoint = checkpoints.findCheckpoint(subject);
    const isSame = checkpoint?.durable === bound.created;
    const from = Math.max(checkpoint?.seq ?? 0, isSame ? bound.ackFloor : 0);
    const upTo = isSame ? bound.delivered : lastSeq;
    if (!(await storeRange(options, subject, from, upTo, stop))) return;
    if (checkpoint === null || !isSame || upTo > checkpoint.seq)
      checkpoints.setCheckpoint(subject, bound.created, Math.max(from, upTo));
  }
}

/** False: it was stopped before the end. */
async function storeRange(
  options: RelayReconcileOptions,
  subject: string,
  after: number,
  upTo: number,
  stop: AbortSignal,
): Promise<boolean> {
  const { link, receiver, stream, notBefore } = options;
  let batch: StreamMessage[] = [];
  for (let at = after; at < upTo; ) {
    if (stop.aborted) return false;
    const next = await link.next(subject, at + 1);
    if (next === null || next.seq > upTo) break;
    if (next.time >= notBefore) batch.push(next);
    at = next.seq;
    if (batch.length < AT_ONCE) continue;
    receiver.store(batch, stream);
    batch = [];
  }
  if (batch.length > 0) receiver.store(batch, stream);
  return true;
}
