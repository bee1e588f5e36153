import type { Fault, Instant } from '../../model/index.ts';
import type { Durable } from './names.ts';

/** A message that the stream delivers to us. */
export interface StreamDelivery {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Its number in the stream. */
  readonly seq: number;
  readonly time: Instant;
  /** Acknowledges the message, which is then never delivered again. */
  ack(): void;
  /** Asks for the message again in this many milliseconds. */
  again(ms: number): void;
}

/** A message as the stream stores it. */
export type StreamMessage = Omit<StreamDelivery, 'ack' | 'again'>;

export interface StreamState {
  /** When the stream was created. It distinguishes this stream from a later one with the same name. */
  readonly created: string;
  readonly lastSeq: number;
  /** The stream was missing and has just been created. */
  readonly isNew: boolean;
}

/** The position of a durable. */
export interface DurableState {
  /** When the durable was created, as with a stream. */
  readonly created: string;
  /** Everything delivered up to here was acknowledged. */
  readonly ackFloor: number;
  /** Everything up to here was delivered. */
  readonly delivered: number;
}

/** One connection to one server. Each failure rejects with a Fault, and mostly ends the connection too. */
export interface RelayLink extends AsyncDisposable {
  readonly serverVersion: string;
  /** The largest message that the server accepts, in bytes. */
  readonly maxPayload: number;
  /** Resolves when the connection has ended, whoever ended it; never rejects. */
  readonly closed: Promise<Fault>;
  /** Returns the stream, and creates it if it is missing. */
  stream(): Promise<StreamState>;
  /** The next message of a subject from this number on; null: there is none. */
  next(subject: string, from: number): Promise<StreamMessage | null>;
  /** Resolves with the message's number when the stream stores it. Not new: the stream had it already. */
  publish(subject: string, data: string, messageId: string): Promise<{ readonly seq: number; readonly isNew: boolean }>;
  /** Returns the durable, and creates it if it is missing. A new one begins with what is published from now on. */
  bind(durable: Durable): Promise<DurableState>;
  /** Delivers the messages of the durable until disposed. `failed` is called once, when no more messages come. */
  consume(
    name: string,
    hear: (message: StreamDelivery) => void,
    failed: (fault: Fault) => void,
  ): Promise<AsyncDisposable>;
  /** Deletes the durable. */
  unbind(name: string): Promise<void>;
  /** Deletes one message from the stream. */
  erase(seq: number): Promise<void>;
}
