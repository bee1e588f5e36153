import type { ConsumerInfo, JetStreamClient, JetStreamManager, JsMsg, StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Fault } from '../../model/index.ts';
import type { Dialer } from './dial.node.ts';
import { RELAY, toRelayFault } from './faults.ts';
import type { RelayLink, StreamDelivery, StreamMessage } from './link.ts';
import { type Durable, isAtLeast, STREAM, SUBJECTS } from './names.ts';
import { parseInstant } from './wire.ts';

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
  const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
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
