import { Fault, type Instant } from '../../model/index.ts';
import type { Clock, Log, Random } from '../../ports/index.ts';
import { type Database, migrate, runLaterTransaction, runTransaction } from '../../state/index.ts';
import { DAMAGED_FROM, formatDamaged, openSeals } from '../continuity.ts';
import type { Items, NewItem, PushResult } from '../item.ts';
import { type PushedRow, toPushedFields } from '../item-statements.ts';
import type { RelayLink, StreamDelivery, StreamMessage } from './link.ts';
import { formatItemName, formatWireMessage, type KeyedItem, parseWireItem, toMessageId, toSubject } from './wire.ts';

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
      log.warn(`message ${id} stays on this machine: with ${bytes} bytes it is larger than the server accepts`, {
        largest: link.maxPayload,
      });
      return false;
    }
    return (await link.publish(toSubject(item.to), data, toMessageId(formatItemName(item)))).isNew;
  }
}

/** Size of what precedes the text: the message id, and the name of the stream. */
const HEADERS_BYTES = 512;

interface ReceiverOptions {
  readonly items: Pick<Items, 'push'>;
  readonly checkpoints: RelayCheckpoints;
  readonly log: Log;
  /** Called after each commit that stored something new. */
  readonly stored: () => void;
}

export interface Receiver {
  /** Stores the new ones of these messages durably, in one transaction. @throws Fault of the store */
  store(messages: readonly StreamMessage[], stream: string): void;
  /** Stores the messages and acknowledges them. If they cannot be stored, asks for them again and throws the Fault. */
  take(messages: readonly StreamDelivery[], stream: string): void;
}

/** An item of the stream, with its name there. */
interface ReceivedItem {
  readonly item: KeyedItem;
  readonly name: string;
  readonly from: StreamMessage;
}

/** When to ask again for messages that the store did not take, in milliseconds. */
const AGAIN_MS = 5000;

/**
 * Creates the receiver. A message that cannot be parsed is dropped and acknowledged, because it would come for ever. Drops are
 * counted and logged.
 */
export function createReceiver({ items, checkpoints, log, stored }: ReceiverOptions): Receiver {
  let dropped = 0;
  let nextToSay = 1;

  function drop(subject: string, seq: number, why: string): void {
    dropped += 1;
    if (dropped < nextToSay) return;
    nextToSay = dropped * 10;
    const count = dropped === 1 ? '' : `, the ${dropped}th that was dropped since the start`;
    log.warn(
      `message ${seq} of the stream, on ${subject}, is not a valid item and was dropped${count}: ${why} (the next one logged is the ${nextToSay}th)`,
      { dropped },
    );
  }

  /** Pushes items; a wrong item must not stop the others. */
  function push(received: readonly ReceivedItem[]): readonly (PushResult & { readonly name: string })[] {
    try {
      const pushed = items.push(received.map(({ item }): NewItem => item));
      return pushed.map((done, i) => ({ ...done, name: received[i]?.name ?? '' }));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'usage') throw error;
      const [only, ...rest] = received;
      if (only === undefined) return [];
      if (rest.length > 0) return received.flatMap((each) => push([each]));
      drop(only.from.subject, only.from.seq, error.message);
      return [];
    }
  }

  function store(messages: readonly StreamMessage[], stream: string): void {
    const received = messages.flatMap((from): ReceivedItem[] => {
      const { data, subject, seq, time } = from;
      const read = parseWireItem(data, { subject, time, place: `stream:${stream}:${seq}` });
      if (read.is === 'item') return [{ item: read.item, name: formatItemName(read.item), from }];
      drop(subject, seq, read.why);
      return [];
    });
    if (received.length === 0) return;
    // First notes that the items came from the stream, then stores them. A crash in between can only keep an item from being
    // published that the stream has anyway.
    checkpoints.noteReceived(received.map(({ name }) => name));
    const pushed = push(received);
    checkpoints.noteStored(pushed);
    if (pushed.some(({ isNew }) => isNew)) stored();
  }

  return {
    store,
    take(messages, stream) {
      try {
        store(messages, stream);
      } catch (error) {
        for (const message of messages) message.again(AGAIN_MS);
        throw error;
      }
      for (const message of messages) message.ack();
    },
  };
}

/** How far this machine and a stream are in sync. All of it may be lost: then items are sent twice, but never missed. */
export interface RelayCheckpoints {
  /** The random name of this machine in the stream, created once. */
  readonly machine: string;
  /** True if the stream differs from the last one: then nothing is known of it. */
  meet(stream: string): boolean;
  /** Up to this id all our items are in the stream; null: unknown, as with a stream that is new to us. */
  published(): number | null;
  /**
   * Notes that items up to `id` are in the stream, or need not be. In all these methods `formatItemName` gives an item's name.
   */
  setPublished(id: number, names: readonly string[]): void;
  /** Notes items that came from the stream: they need not be published. */
  noteReceived(names: readonly string[]): void;
  /** Notes that these items are stored here under these ids. */
  noteStored(items: readonly { readonly id: number; readonly name: string }[]): void;
  isInStream(name: string): boolean;
  /** Up to which number of the stream a subject is in our store, and through which durable. */
  findCheckpoint(subject: string): { readonly durable: string; readonly seq: number } | null;
  setCheckpoint(subject: string, durable: string, seq: number): void;
}

const SCHEMA: readonly string[] = [
  `
  CREATE TABLE relay (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    machine TEXT NOT NULL,
    stream TEXT,
    published INTEGER
  ) STRICT;
  CREATE TABLE relay_came (dedup_key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE relay_seen (subject TEXT PRIMARY KEY, durable TEXT NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
];

interface RelayRow {
  readonly machine: string;
  readonly stream: string | null;
  readonly published: number | null;
}

/**
 * Opens the checkpoints. `relay_came` holds only items that the publisher has not passed yet, so it stays small. Except for the
 * machine's name nothing is flushed: what a power cut undoes is done again, and the key shows that it is the same item.
 */
export function openRelayCheckpoints(db: Database, random: Random): RelayCheckpoints {
  migrate(db, 'relay', SCHEMA);
  const read = db.prepare<RelayRow>('SELECT machine, stream, published FROM relay');
  runTransaction(db, () => db.prepare('INSERT OR IGNORE INTO relay (one, machine) VALUES (1, ?)').run(random.hex(6)));
  const row = (): RelayRow => read.get() as RelayRow;
  const meet = db.prepare('UPDATE relay SET stream = ?, published = NULL');
  const setPublished = db.prepare('UPDATE relay SET published = max(coalesce(published, 0), ?)');
  const came = db.prepare('INSERT OR IGNORE INTO relay_came (dedup_key) VALUES (?)');
  const forget = db.prepare('DELETE FROM relay_came WHERE dedup_key = ?');
  const isKnown = db.prepare<{ n: number }>('SELECT 1 AS n FROM relay_came WHERE dedup_key = ?');
  const selectCheckpoint = db.prepare<{ durable: string; seq: number }>(
    'SELECT durable, seq FROM relay_seen WHERE subject = ?',
  );
  const upsertCheckpoint = db.prepare(
    `INSERT INTO relay_seen (subject, durable, seq) VALUES (?, ?, ?)
     ON CONFLICT (subject) DO UPDATE SET durable = excluded.durable, seq = excluded.seq`,
  );

  return {
    machine: row().machine,
    meet(stream) {
      if (row().stream === stream) return false;
      runTransaction(db, () => {
        meet.run(stream);
        db.exec('DELETE FROM relay_came; DELETE FROM relay_seen');
      });
      return true;
    },
    published: () => row().published,
    setPublished(id, names) {
      runLaterTransaction(db, () => {
        setPublished.run(id);
        for (const name of names) forget.run(name);
      });
    },
    noteReceived(names) {
      runLaterTransaction(db, () => {
        for (const name of names) came.run(name);
      });
    },
    noteStored(items) {
      const publishedId = row().published ?? -1;
      const passed = items.filter(({ id }) => id <= publishedId);
      if (passed.length === 0) return;
      runLaterTransaction(db, () => {
        for (const { name } of passed) forget.run(name);
      });
    },
    isInStream: (name) => isKnown.get(name) !== undefined,
    findCheckpoint: (subject) => selectCheckpoint.get(subject) ?? null,
    setCheckpoint(subject, durable, seq) {
      runLaterTransaction(db, () => upsertCheckpoint.run(subject, durable, seq));
    },
  };
}
