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
/** How much of the past is published to a stream that is new to this machine. */
const REPUBLISH_MS = 24 * 3_600_000;

/**
 * Publishes everything in the store that the stream lacks. Returns how many items the stream took. It reads the store, so that
 * items pushed while the server is away are published later. The checkpoint moves only over what the stream confirmed.
 * @throws Fault; the checkpoint is then at the last item before the failed one
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

  /** True: the stream took the item. False: the stream has it already, or cannot have it. */
  async function publishOne({ id, item, isOwn }: OutgoingItem): Promise<boolean> {
    // Another machine could not tell this item from a forged one, and the asker is on this machine.
    if (isOwn) return false;
    if (checkpoints.isInStream(formatItemName(item))) return false;
    if (item.expires !== null && item.expires <= clock.now()) return false;
    const data = formatWireMessage(item);
    const bytes = Buffer.byteLength(data) + HEADERS_BYTES;
    if (bytes > link.maxPayload) {
      // The server would always refuse this item, and all later items would wait.
      log.warn(`message ${id} stays on this machine: with ${bytes} bytes it is larger than the server takes`, {
        largest: link.maxPayload,
      });
      return false;
    }
    return (await link.publish(toSubject(item.to), data, toMessageId(formatItemName(item)))).isNew;
  }
}

/** Size of what precedes the text: the message id, and the name of the stream. */
const HEADERS_BYTES = 512;
