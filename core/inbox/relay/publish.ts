import type { Clock, Log } from '../../ports/index.ts';
import type { RelayCheckpoints } from './checkpoints.ts';
import type { RelayLink } from './link.ts';
import { formatItemName, toMessageId, toSubject } from './names.ts';
import type { OutgoingItem, OutgoingItems } from './outgoing.ts';
import { formatWireMessage } from './wire.ts';

export interface PublishOptions {
  readonly outgoing: OutgoingItems;
  readonly checkpoints: RelayCheckpoints;
  readonly clock: Clock;
  readonly log: Log;
}

const AT_ONCE = 256;
/** A stream that is new to this machine is told so much of what was. */
const REPUBLISH_MS = 24 * 3_600_000;

/**
 * Brings the stream up to date with the store, and returns how many it took. From the store and not from who pushes: what
 * is pushed while the server is away goes out later. The mark moves only over what the stream confirmed.
 * @throws Fault with the mark at the last item before the one that failed
 */
export async function publishAll(
  link: RelayLink,
  { outgoing, checkpoints, clock, log }: PublishOptions,
  stop: AbortSignal,
): Promise<number> {
  let publishedCount = 0;
  for (;;) {
    const checkpoint = checkpoints.published() ?? outgoing.before(clock.now() - REPUBLISH_MS);
    const items = outgoing.above(checkpoint, AT_ONCE);
    if (items.length === 0 || stop.aborted) {
      if (checkpoints.published() === null) checkpoints.setPublished(checkpoint, []);
      return publishedCount;
    }
    const tried = await Promise.allSettled(items.map((outgoingItem) => publishOne(outgoingItem)));
    const failed = tried.findIndex(({ status }) => status === 'rejected');
    const done = failed === -1 ? items : items.slice(0, failed);
    const last = done.at(-1);
    if (last !== undefined) {
      checkpoints.setPublished(
        last.id,
        done.map(({ item }) => formatItemName(item)),
      );
    }
    publishedCount += tried.filter((attempt) => attempt.status === 'fulfilled' && attempt.value).length;
    const first = tried[failed];
    if (first?.status === 'rejected') throw first.reason;
  }

  /** True when the stream took it; false when it has it, or it cannot have it. */
  async function publishOne({ id, item, isOwn }: OutgoingItem): Promise<boolean> {
    // Another machine could not tell it from a forged one; and who asked is here.
    if (isOwn) return false;
    if (checkpoints.isInStream(formatItemName(item))) return false;
    if (item.expires !== null && item.expires <= clock.now()) return false;
    const data = formatWireMessage(item);
    const bytes = Buffer.byteLength(data) + HEADERS_BYTES;
    if (bytes > link.maxPayload) {
      // It would be refused for ever, and everything behind it would wait.
      log.warn(`message ${id} stays on this machine: with ${bytes} bytes it is larger than the server takes`, {
        largest: link.maxPayload,
      });
      return false;
    }
    return (await link.publish(toSubject(item.to), data, toMessageId(formatItemName(item)))).isNew;
  }
}

/** What goes before the text: the message id, and the name of the stream. */
const HEADERS_BYTES = 512;
