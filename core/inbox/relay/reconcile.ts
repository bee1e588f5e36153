import type { Bound, Link, Stored } from './link.ts';
import type { Marks } from './marks.ts';
import type { Durable } from './names.ts';
import type { Receiver } from './receive.ts';

export interface Reconciling {
  readonly link: Link;
  readonly marks: Marks;
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
  of: Reconciling,
  { subjects }: Durable,
  bound: Bound,
  stop: AbortSignal,
): Promise<void> {
  const { link, marks } = of;
  const { lastSeq } = await link.stream();
  for (const subject of subjects) {
    const seen = marks.seen(subject);
    const isSame = seen?.durable === bound.created;
    const from = Math.max(seen?.seq ?? 0, isSame ? bound.ackFloor : 0);
    const upTo = isSame ? bound.delivered : lastSeq;
    if (!(await walk(of, subject, from, upTo, stop))) return;
    if (seen === null || !isSame || upTo > seen.seq) marks.setSeen(subject, bound.created, Math.max(from, upTo));
  }
}

/** False when it was stopped on the way. */
async function walk(
  of: Reconciling,
  subject: string,
  after: number,
  upTo: number,
  stop: AbortSignal,
): Promise<boolean> {
  const { link, receiver, stream, notBefore } = of;
  let found: Stored[] = [];
  for (let at = after; at < upTo; ) {
    if (stop.aborted) return false;
    const next = await link.next(subject, at + 1);
    if (next === null || next.seq > upTo) break;
    if (next.time >= notBefore) found.push(next);
    at = next.seq;
    if (found.length < AT_ONCE) continue;
    receiver.store(found, stream);
    found = [];
  }
  if (found.length > 0) receiver.store(found, stream);
  return true;
}
