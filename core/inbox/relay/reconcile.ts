import type { RelayCheckpoints } from './checkpoints.ts';
import type { DurableState, RelayLink, StreamMessage } from './link.ts';
import type { Durable } from './names.ts';
import type { Receiver } from './receive.ts';

export interface RelayReconcileOptions {
  readonly link: RelayLink;
  readonly checkpoints: RelayCheckpoints;
  readonly receiver: Receiver;
  /** When the stream was made. */
  readonly stream: string;
  /** What the stream took before is older than mail is kept, and passed over. */
  readonly notBefore: number;
}

/** Stored in one transaction. */
const AT_ONCE = 100;

/**
 * Stores what the stream still has for a durable and the durable will not bring by itself, or not at once: what was
 * published before the durable was made, since it delivers only new messages; and what was delivered and never
 * acknowledged, which else comes after its ack wait. Inserts, and never drains (contract 8, defect 1).
 * @param bound where the durable stands; asked before this
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

/** False when it was stopped on the way. */
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
