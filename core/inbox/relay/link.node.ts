import { lookup } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import type { ConsumerInfo, JetStreamClient, JetStreamManager, JsMsg, StreamConfig } from '@nats-io/jetstream';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { Fault } from '../../model/index.ts';
import { type Admission, admit, LOCAL_ADDRESSES, type NatsTarget } from '../../net/index.ts';
import { RELAY, type RelayLink, type StreamDelivery, type StreamMessage, toRelayFault } from './link.ts';
import { type Durable, isAtLeast, parseInstant, STREAM, SUBJECTS } from './wire.ts';

const NANOS = 1_000_000;
const OLDEST = [2, 9] as const;
/** A durable that is not used for this long belongs to a machine that no longer exists. */
const INACTIVE_MS = 30 * 86_400_000;

/** The stream of the contract (inbox and gates 7), with a window in which a repetition is recognised by its id. */
const STREAM_CONFIG = {
  name: STREAM,
  subjects: [SUBJECTS],
  storage: 'file',
  retention: 'limits',
  discard: 'old',
  max_msgs: 10_000,
  max_bytes: 100 * 1024 * 1024,
  duplicate_window: 120_000 * NANOS,
} satisfies Partial<StreamConfig>;

/** @throws Fault `relay-token`, `relay-server`, and those of the network */
export async function openRelayLink(dialer: Dialer): Promise<RelayLink> {
  const connection = await dialer.connect();
  try {
    return await createRelayLink(connection, dialer);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function createRelayLink(connection: NatsConnection, { display, deadlineMs }: Dialer): Promise<RelayLink> {
  const { version = '0', max_payload: maxPayload = 0 } = connection.info ?? {};
  if (!isAtLeast(version, OLDEST)) throw new Fault('relay-server', `${display} runs version ${version}`, RELAY);
  const attempt = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw toRelayFault(error, display, doing);
    }
  };
  // The library is CommonJS. In the package only its `default` is exported.
  const { default: library } = await import('@nats-io/jetstream');
  const { jetstream, jetstreamManager } = library;
  const manager = await attempt('JetStream', () => jetstreamManager(connection, { timeout: deadlineMs }));
  const client: JetStreamClient = jetstream(connection, { timeout: deadlineMs });
  const closed = connection.closed().then((error) => toRelayFault(error ?? undefined, display, 'the connection'));

  return {
    serverVersion: version,
    maxPayload,
    closed,
    stream: () =>
      attempt(`stream ${STREAM}`, async () => {
        const known = await catchMissing('StreamNotFoundError', () => manager.streams.info(STREAM));
        const { created, state } = known ?? (await manager.streams.add(STREAM_CONFIG));
        return { created, lastSeq: state.last_seq, isNew: known === null };
      }),
    next: (subject, from) => attempt('reading the stream', () => fetchNext(manager, subject, from)),
    publish: (subject, data, messageId) =>
      attempt(`publishing to ${subject}`, async () => {
        const { seq, duplicate } = await client.publish(subject, data, {
          msgID: messageId,
          timeout: deadlineMs,
          expect: { streamName: STREAM },
        });
        return { seq, isNew: !duplicate };
      }),
    bind: (durable) =>
      attempt(`consumer ${durable.name}`, async () => {
        const { created, ack_floor, delivered } = await bindDurable(manager, durable);
        return { created, ackFloor: ack_floor.stream_seq, delivered: delivered.stream_seq };
      }),
    async consume(name, hear, failed) {
      const messages = await attempt(`consumer ${name}`, async () => {
        const consumer = await client.consumers.get(STREAM, name);
        return await consumer.consume({
          max_messages: 200,
          expires: 30_000,
          abort_on_missing_resource: true,
          callback: (message) => hear(toDelivery(message)),
        });
      });
      let isLeft = false;
      void messages.closed().then((error) => {
        if (!isLeft) failed(toRelayFault(error ?? undefined, display, `consumer ${name}`));
      });
      return {
        async [Symbol.asyncDispose]() {
          isLeft = true;
          await messages.close();
        },
      };
    },
    unbind: (name) => attempt(`consumer ${name}`, async () => void (await manager.consumers.delete(STREAM, name))),
    erase: (seq) => attempt('cleaning up', async () => void (await manager.streams.deleteMessage(STREAM, seq, false))),
    async [Symbol.asyncDispose]() {
      await connection.close();
      await closed;
    },
  };
}

async function bindDurable(manager: JetStreamManager, { name, subjects }: Durable): Promise<ConsumerInfo> {
  const [subject, ...otherSubjects] = subjects;
  const filter = otherSubjects.length === 0 ? { filter_subject: subject } : { filter_subjects: [...subjects] };
  const known = await catchMissing('ConsumerNotFoundError', () => manager.consumers.info(STREAM, name));
  if (known === null) {
    // No metadata and no pause: servers below 2.10 know neither (substrate E).
    return await manager.consumers.add(STREAM, {
      durable_name: name,
      ...filter,
      ack_policy: 'explicit',
      deliver_policy: 'new',
      ack_wait: 30_000 * NANOS,
      inactive_threshold: INACTIVE_MS * NANOS,
    });
  }
  const has = known.config.filter_subjects ?? [known.config.filter_subject];
  if (has.length === subjects.length && subjects.every((entry) => has.includes(entry))) return known;
  return await manager.consumers.update(STREAM, name, filter);
}

/**
 * `next_by_subj` is in the API of every server we accept, although the client's types have it only for a newer kind of request.
 */
async function fetchNext(manager: JetStreamManager, subject: string, from: number): Promise<StreamMessage | null> {
  const query = { seq: from, next_by_subj: subject };
  const stored = await manager.streams.getMessage(STREAM, query);
  if (stored === null) return null;
  return { subject: stored.subject, data: stored.data, seq: stored.seq, time: parseInstant(stored.timestamp) ?? 0 };
}

function toDelivery(message: JsMsg): StreamDelivery {
  return {
    subject: message.subject,
    data: message.data,
    seq: message.seq,
    time: Math.floor(message.info.timestampNanos / NANOS),
    ack: () => message.ack(),
    again: (ms) => message.nak(ms),
  };
}

async function catchMissing<T>(name: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && error.name === name) return null;
    throw error;
  }
}

export interface DialOptions {
  readonly server: NatsTarget;
  /** Called for each connection, so that a new token counts at once; null: the server needs none. @throws Fault */
  readonly token: () => string | null;
  /** Limit for a name lookup, a connection, and each request, in milliseconds. Default 5000. */
  readonly deadlineMs?: number;
  /** Default: the resolver of the system. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

/** Connects to one server, each time only to addresses that were just checked. */
export interface Dialer {
  readonly display: string;
  readonly deadlineMs: number;
  /** The addresses of the name now. @throws Fault `dns`, `blocked`, `timeout` */
  addresses(): Promise<readonly string[]>;
  /** @throws Fault */
  connect(): Promise<NatsConnection>;
}

const DEADLINE_MS = 5000;
/** More often than the server's own ping. With `maxPingOut`, a connection without answers ends after three intervals. */
const PING_MS = 10_000;

export function createDialer({
  server,
  token,
  deadlineMs = DEADLINE_MS,
  resolve = resolveBySystem,
}: DialOptions): Dialer {
  const { target, port, tls, display } = server;
  /** Which addresses a name may resolve to: as with a hive, the class of its first answer. */
  let admission: Admission = target.admission;
  let admitted: Admission = admission;

  async function addresses(): Promise<readonly string[]> {
    const { host, url } = target;
    try {
      const resolved =
        host.is === 'literal'
          ? [host.address]
          : host.is === 'local'
            ? LOCAL_ADDRESSES
            : await limitTime(resolve(host.name), deadlineMs);
      admitted = admit(admission, url.hostname, resolved, RELAY);
      return resolved;
    } catch (error) {
      throw toRelayFault(error, display, 'its name');
    }
  }

  async function connectTo(address: string, secret: string | null): Promise<NatsConnection> {
    // Loaded with the first connection, so that the client is not loaded without a server in the settings.
    const { default: transport } = await import('@nats-io/transport-node');
    const { connect } = transport;
    const options: ConnectionOptions = {
      servers: [isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`],
      name: 'hivebar',
      timeout: deadlineMs,
      pingInterval: PING_MS,
      maxPingOut: 2,
      // The relay's own loop reconnects: with the current token and addresses, through the same checks.
      reconnect: false,
      resolve: false,
      ignoreClusterUpdates: true,
      noAsyncTraces: true,
      tls: tls ? toTlsOptions(target.url.hostname) : null,
      ...(secret === null ? {} : { token: secret }),
    };
    return await connect(options);
  }

  return {
    display,
    deadlineMs,
    addresses,
    async connect() {
      const resolved = await addresses();
      const secret = token();
      let first: unknown;
      for (const address of resolved.slice(0, 4)) {
        try {
          const connection = await connectTo(address, secret);
          admission = admitted;
          return connection;
        } catch (error) {
          first ??= error;
        }
      }
      throw toRelayFault(first, display, 'connecting');
    },
  };
}

/** The certificate must be for the host as written, because we look up the address ourselves. */
function toTlsOptions(servername: string): NonNullable<ConnectionOptions['tls']> {
  return { servername } as NonNullable<ConnectionOptions['tls']>;
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  const records = await lookup(name, { all: true, order: 'verbatim' });
  return records.map(({ address }) => address);
}

function limitTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Fault('timeout', `no address within ${ms} ms`, RELAY)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
