import type { Clock, Log } from '../../ports/index.ts';
import type { Link } from './link.ts';
import type { Marks } from './marks.ts';
import { messageIdOf, nameOf, subjectOf } from './names.ts';
import type { Outgoing, OutgoingItem } from './outgoing.ts';
import { messageOf } from './wire.ts';

export interface Publishing {
  readonly outgoing: Outgoing;
  readonly marks: Marks;
  readonly clock: Clock;
  readonly log: Log;
}

const AT_ONCE = 256;
/** A stream that is new to this machine is told so much of what was. */
const TOLD_ANEW_MS = 24 * 3_600_000;

/**
 * Brings the stream up to date with the store, and returns how many it took. From the store and not from who pushes: what
 * is pushed while the server is away goes out later. The mark moves only over what the stream confirmed.
 * @throws Fault with the mark at the last item before the one that failed
 */
export async function publishAll(
  link: Link,
  { outgoing, marks, clock, log }: Publishing,
  stop: AbortSignal,
): Promise<number> {
  let taken = 0;
  for (;;) {
    const mark = marks.published() ?? outgoing.before(clock.now() - TOLD_ANEW_MS);
    const items = outgoing.above(mark, AT_ONCE);
    if (items.length === 0 || stop.aborted) {
      if (marks.published() === null) marks.setPublished(mark, []);
      return taken;
    }
    const tried = await Promise.allSettled(items.map((one) => publishOne(one)));
    const failed = tried.findIndex(({ status }) => status === 'rejected');
    const done = failed === -1 ? items : items.slice(0, failed);
    const last = done.at(-1);
    if (last !== undefined) {
      marks.setPublished(
        last.id,
        done.map(({ item }) => nameOf(item)),
      );
    }
    taken += tried.filter((one) => one.status === 'fulfilled' && one.value).length;
    const first = tried[failed];
    if (first?.status === 'rejected') throw first.reason;
  }

  /** True when the stream took it; false when it has it, or it can not have it. */
  async function publishOne({ id, item, isOwn }: OutgoingItem): Promise<boolean> {
    // Another machine could not tell it from a forged one; and who asked is here.
    if (isOwn) return false;
    if (marks.isInStream(nameOf(item))) return false;
    if (item.expires !== null && item.expires <= clock.now()) return false;
    const data = messageOf(item);
    const bytes = Buffer.byteLength(data) + HEADERS_BYTES;
    if (bytes > link.maxPayload) {
      // It would be refused for ever, and everything behind it would wait.
      log.warn(`message ${id} stays on this machine: with ${bytes} bytes it is larger than the server takes`, {
        largest: link.maxPayload,
      });
      return false;
    }
    return (await link.publish(subjectOf(item.to), data, messageIdOf(nameOf(item)))).isNew;
  }
}

/** What goes before the text: the message id, and the name of the stream. */
const HEADERS_BYTES = 512;
