import type { Fault, Instant } from '../../model/index.ts';
import type { Durable } from './names.ts';

/** A message on its way to us. */
export interface StreamDelivery {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Its number in the stream. */
  readonly seq: number;
  readonly time: Instant;
  /** It never comes again. */
  ack(): void;
  /** It comes again, so many milliseconds from now. */
  again(ms: number): void;
}

/** A message as the stream still has it. */
export type StreamMessage = Omit<StreamDelivery, 'ack' | 'again'>;

export interface StreamState {
  /** When it was made: names this stream and none that later has its name. */
  readonly created: string;
  readonly lastSeq: number;
  /** It was missing, and is there now. */
  readonly isNew: boolean;
}

/** Where a durable stands. */
export interface DurableState {
  /** When it was made, as with a stream. */
  readonly created: string;
  /** Up to here everything that it delivered was acknowledged. */
  readonly ackFloor: number;
  /** Up to here it delivered. */
  readonly delivered: number;
}

/** One connection to one server. Everything that fails rejects with a Fault, and mostly ends the connection too. */
export interface RelayLink extends AsyncDisposable {
  readonly serverVersion: string;
  /** The largest message the server takes, in bytes. */
  readonly maxPayload: number;
  /** Resolves when the connection has ended, by whomever; never rejects. */
  readonly closed: Promise<Fault>;
  /** The stream, made if it is missing. */
  stream(): Promise<StreamState>;
  /** The next message of a subject from this number on; null when there is none. */
  next(subject: string, from: number): Promise<StreamMessage | null>;
  /** Resolves when the stream has it, and says where; not new: it was there already. */
  publish(subject: string, data: string, messageId: string): Promise<{ readonly seq: number; readonly isNew: boolean }>;
  /** The durable, made if it is missing: then it begins with what is published from now on. */
  bind(durable: Durable): Promise<DurableState>;
  /** Delivers what the durable has, until disposed. `failed` is called once, when nothing comes any more. */
  consume(
    name: string,
    hear: (message: StreamDelivery) => void,
    failed: (fault: Fault) => void,
  ): Promise<AsyncDisposable>;
  /** The durable is no more. */
  unbind(name: string): Promise<void>;
  /** One message is no more in the stream. */
  erase(seq: number): Promise<void>;
}
