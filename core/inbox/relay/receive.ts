import { Fault } from '../../model/index.ts';
import type { Log } from '../../ports/index.ts';
import type { Items, NewItem, PushResult } from '../item.ts';
import type { RelayCheckpoints } from './checkpoints.ts';
import type { KeyedItem } from './keyed-item.ts';
import type { StreamDelivery, StreamMessage } from './link.ts';
import { formatItemName } from './names.ts';
import { parseWireItem } from './wire.ts';

export interface ReceiverOptions {
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
      `message ${seq} of the stream, on ${subject}, is no item and is dropped${count}: ${why} (the next line is at ${nextToSay})`,
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
