import { Fault } from '../../model/index.ts';
import type { Log } from '../../ports/index.ts';
import type { Items, NewItem, Pushed } from '../item.ts';
import { keyHere } from './keys.ts';
import type { Incoming, Stored } from './link.ts';
import type { Marks } from './marks.ts';
import { itemOf, type KeyedItem } from './wire.ts';

export interface Receiving {
  readonly items: Pick<Items, 'push'>;
  readonly marks: Marks;
  readonly log: Log;
  /** Called after each commit that stored something new. */
  readonly stored: () => void;
}

export interface Receiver {
  /** Stores what is new of these, in one transaction; it is on the disk when this returns. @throws Fault of the store */
  store(messages: readonly Stored[], stream: string): void;
  /** The same, and then acknowledges; what could not be stored is asked for again before the Fault is thrown. */
  take(messages: readonly Incoming[], stream: string): void;
}

/** When what the store did not take is to come again. */
const AGAIN_MS = 5000;

/** What can not be understood is dropped and acknowledged, else it would come for ever; that is said once. */
export function createReceiver({ items, marks, log, stored }: Receiving): Receiver {
  let dropped = 0;

  function drop(subject: string, seq: number, why: string): void {
    dropped += 1;
    const line = `message ${seq} of the stream, on ${subject}, is no item and is dropped: ${why}`;
    if (dropped === 1) log.warn(`${line} (further ones are not named)`);
  }

  /** One that is wrong must not take the others with it. */
  function push(keyed: readonly { readonly item: KeyedItem; readonly from: Stored }[]): readonly Pushed[] {
    try {
      return items.push(keyed.map(({ item }): NewItem => item));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'usage') throw error;
      const [only, ...more] = keyed;
      if (only === undefined) return [];
      if (more.length > 0) return keyed.flatMap((one) => push([one]));
      drop(only.from.subject, only.from.seq, error.message);
      return [];
    }
  }

  function store(messages: readonly Stored[], stream: string): void {
    const keyed = messages.flatMap((from) => {
      const { data, subject, seq, time } = from;
      const read = itemOf(data, { subject, time, place: `stream:${stream}:${seq}` });
      if (read.is === 'item') {
        const dedupKey = keyHere(read.item.dedupKey, marks.machine);
        return [{ item: { ...read.item, dedupKey }, from }];
      }
      drop(subject, seq, read.why);
      return [];
    });
    if (keyed.length === 0) return;
    // First that it came by the stream, then the item: between the two a crash can only forget to publish what is there.
    marks.came(keyed.map(({ item }) => item.dedupKey));
    const pushed = push(keyed);
    marks.stored(pushed);
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
