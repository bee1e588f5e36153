import type { Instant } from '../../model/index.ts';
import type { Clock, Log } from '../../ports/index.ts';
import type { Database } from '../../state/index.ts';
import { DAMAGED_FROM, formatDamaged, openSeals } from '../continuity.ts';
import { type PushedRow, toPushedFields } from '../item-statements.ts';
import type { RelayLink } from './link.ts';
import type { RelayCheckpoints } from './receive.ts';
import { formatItemName, formatWireMessage, type KeyedItem, toMessageId, toSubject } from './wire.ts';

export interface OutgoingItem {
  /** Rises with every push, of any process. */
  readonly id: number;
  readonly item: KeyedItem;
  /** Hivebar of this machine is the origin. */
  readonly isOwn: boolean;
}

/** The publisher's view of the store: items pushed on this machine, or received by it. Throws Fault `database`. */
export interface OutgoingItems {
  /** At most `limit` items with an id above `id`, by id. */
  above(id: number, limit: number): readonly OutgoingItem[];
  /** The id before the first item created at `created` or later; the largest id if there is none. */
  before(created: Instant): number;
}

interface OutgoingRow extends PushedRow {
  readonly persona: string;
}

/** Expects that the tables of this room exist already. */
export function openOutgoingItems(db: Database): OutgoingItems {
  const above = db.prepare<OutgoingRow>(
    `SELECT seq AS id, persona, type, from_, priority, session, created, expires_at, dedup_key, origin, content
     FROM inbox WHERE seq > ? ORDER BY seq LIMIT ?`,
  );
  const seals = openSeals(db);
  // By id and not by time, because an item that is pushed late may have an early time.
  const before = db.prepare<{ id: number }>(
    'SELECT coalesce((SELECT min(seq) - 1 FROM inbox WHERE created >= ?), (SELECT max(seq) FROM inbox), 0) AS id',
  );
  return {
    // Another machine could not see that a damaged message differs from what was sent.
    above: (id, limit) =>
      above.all(id, limit).map((row) => ({
        id: row.id,
        item: toKeyedItem(seals.isWhole(row.id) ? row : toPlaceholder(row)),
        isOwn: row.origin !== null,
      })),
    before: (created) => before.get(created)?.id ?? 0,
  };
}

function toPlaceholder(row: OutgoingRow): OutgoingRow {
  return { ...row, from_: DAMAGED_FROM, content: formatDamaged(row.id) };
}

function toKeyedItem(row: OutgoingRow): KeyedItem {
  return {
    // In the table an empty name means everybody.
    to: row.persona === '' ? { is: 'everyone' } : { is: 'persona', name: row.persona },
    ...toPushedFields(row),
  };
}

interface PublishOptions {
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
