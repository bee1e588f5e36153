import { Fault, type FaultCode, type Instant, type Scope } from '../../model/index.ts';
import type { Durable } from './wire.ts';

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

interface StreamState {
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

/** The scope of every failure of the server: one cause on the board, one banner. */
export const RELAY = { is: 'source', key: 'nats' } as const satisfies Scope;

/** Uses the name of the error, because its package is loaded late. */
const BY_NAME: Readonly<Record<string, readonly [FaultCode, string]>> = {
  AuthorizationError: ['relay-token', 'the server refused the token'],
  UserAuthenticationExpiredError: ['relay-token', 'the token has expired'],
  PermissionViolationError: ['relay-token', 'the token does not allow it'],
  TimeoutError: ['timeout', 'no answer in time'],
  JetStreamNotEnabled: ['relay-server', 'JetStream is not enabled there'],
  NoRespondersError: ['relay-stream', 'no stream takes it'],
  StreamNotFoundError: ['relay-stream', 'the stream is gone'],
  ConsumerNotFoundError: ['broken', 'the consumer is gone'],
  ClosedConnectionError: ['broken', 'the connection was closed'],
  DrainingConnectionError: ['broken', 'the connection was closed'],
};

const BY_CODE: readonly (readonly [pattern: RegExp, code: FaultCode, what: string])[] = [
  [/^ECONNREFUSED$/, 'refused', 'connection refused'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/, 'refused', 'host not reachable'],
  [/^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/, 'dns', 'the host name did not resolve'],
  [/^ETIMEDOUT$/, 'timeout', 'no connection in time'],
  [
    /^(ERR_TLS_.*|ERR_SSL_.*|CERT_.*|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|EPROTO)$/,
    'tls',
    'no trusted connection',
  ],
];

/** Turns whatever the client threw into a Fault that names the server and the attempted action. */
export function toRelayFault(error: unknown, display: string, doing: string): Fault {
  if (error instanceof Fault) return error;
  const fault = (code: FaultCode, problem: string): Fault =>
    new Fault(code, `${display}: ${doing}: ${problem}`, RELAY, { cause: error });
  const chain = listCauses(error);
  for (const { name, message } of chain) {
    const row = BY_NAME[name];
    if (row !== undefined) return fault(row[0], name === 'PermissionViolationError' ? message : row[1]);
  }
  for (const { code } of chain) {
    const row = BY_CODE.find(([pattern]) => pattern.test(code));
    if (row !== undefined) return fault(row[1], `${row[2]} (${code})`);
  }
  const text = error instanceof Error ? error.message : error === undefined ? 'it ended' : String(error);
  // The second text is what the current client says if a server requires TLS and the URL does not.
  if (/'tls'|'certFile'/.test(text))
    return fault('tls', 'the server and the URL do not agree on TLS: tls:// with it, nats:// without');
  if (chain.some(({ name }) => name === 'JetStreamApiError')) return fault('relay-stream', text);
  return fault('broken', text.slice(0, 200));
}

function listCauses(error: unknown): readonly { name: string; message: string; code: string }[] {
  if (!(error instanceof Error)) return [];
  const code = 'code' in error ? String(error.code) : '';
  return [{ name: error.name, message: error.message, code }, ...listCauses(error.cause)];
}
