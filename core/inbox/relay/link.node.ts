import type { ConsumerInfo, JetStreamClient, JetStreamManager, JsMsg, StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Fault } from '../../model/index.ts';
import type { Dialer } from './dial.node.ts';
import { RELAY, relayFault } from './faults.ts';
import type { Incoming, Link, Stored } from './link.ts';
import { type Durable, isAtLeast, STREAM, SUBJECTS } from './names.ts';
import { instantOf } from './wire.ts';

const NANOS = 1_000_000;
const OLDEST = [2, 9] as const;
/** A durable nobody asks of for so long belongs to a machine that is no more. */
const INACTIVE_MS = 30 * 86_400_000;

/** As the contract has it (inbox and gates 7), and with a window in which a repetition is known by its id. */
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
export async function openLink(dialer: Dialer): Promise<Link> {
  const connection = await dialer.connect();
  try {
    return await linkOn(connection, dialer);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function linkOn(connection: NatsConnection, { shown, deadlineMs }: Dialer): Promise<Link> {
  const { version = '0', max_payload: maxPayload = 0 } = connection.info ?? {};
  if (!isAtLeast(version, OLDEST)) throw new Fault('relay-server', `${shown} runs version ${version}`, RELAY);
  const tried = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw relayFault(error, shown, doing);
    }
  };
  const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
  const manager = await tried('JetStream', () => jetstreamManager(connection, { timeout: deadlineMs }));
  const client: JetStreamClient = jetstream(connection, { timeout: deadlineMs });
  const gone = connection.closed().then((error) => relayFault(error ?? undefined, shown, 'the connection'));

  return {
    serverVersion: version,
    maxPayload,
    gone,
    stream: () =>
      tried(`stream ${STREAM}`, async () => {
        const known = await orNull('StreamNotFoundError', () => manager.streams.info(STREAM));
        const { created, state } = known ?? (await manager.streams.add(STREAM_CONFIG));
        return { created, lastSeq: state.last_seq, isNew: known === null };
      }),
    next: (subject, from) => tried('reading the stream', () => nextOf(manager, subject, from)),
    publish: (subject, data, messageId) =>
      tried(`publishing to ${subject}`, async () => {
        const { seq, duplicate } = await client.publish(subject, data, {
          msgID: messageId,
          timeout: deadlineMs,
          expect: { streamName: STREAM },
        });
        return { seq, isNew: !duplicate };
      }),
    bind: (durable) =>
      tried(`consumer ${durable.name}`, async () => {
        const { created, ack_floor, delivered } = await bound(manager, durable);
        return { created, ackFloor: ack_floor.stream_seq, delivered: delivered.stream_seq };
      }),
    async consume(name, hear, failed) {
      const messages = await tried(`consumer ${name}`, async () => {
        const consumer = await client.consumers.get(STREAM, name);
        return await consumer.consume({
          max_messages: 200,
          expires: 30_000,
          abort_on_missing_resource: true,
          callback: (message) => hear(incomingOf(message)),
        });
      });
      let isLeft = false;
      void messages.closed().then((error) => {
        if (!isLeft) failed(relayFault(error ?? undefined, shown, `consumer ${name}`));
      });
      return {
        async [Symbol.asyncDispose]() {
          isLeft = true;
          await messages.close();
        },
      };
    },
    unbind: (name) => tried(`consumer ${name}`, async () => void (await manager.consumers.delete(STREAM, name))),
    erase: (seq) => tried('cleaning up', async () => void (await manager.streams.deleteMessage(STREAM, seq, false))),
    async [Symbol.asyncDispose]() {
      await connection.close();
      await gone;
    },
  };
}

async function bound(manager: JetStreamManager, { name, subjects }: Durable): Promise<ConsumerInfo> {
  const [subject, ...more] = subjects;
  const filter = more.length === 0 ? { filter_subject: subject } : { filter_subjects: [...subjects] };
  const known = await orNull('ConsumerNotFoundError', () => manager.consumers.info(STREAM, name));
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
  if (has.length === subjects.length && subjects.every((one) => has.includes(one))) return known;
  return await manager.consumers.update(STREAM, name, filter);
}

/** `next_by_subj` is in the API of every server we take; the client's types have it for a newer way to ask only. */
async function nextOf(manager: JetStreamManager, subject: string, from: number): Promise<Stored | null> {
  const query = { seq: from, next_by_subj: subject };
  const found = await manager.streams.getMessage(STREAM, query);
  if (found === null) return null;
  return { subject: found.subject, data: found.data, seq: found.seq, time: instantOf(found.timestamp) ?? 0 };
}

function incomingOf(message: JsMsg): Incoming {
  return {
    subject: message.subject,
    data: message.data,
    seq: message.seq,
    time: Math.floor(message.info.timestampNanos / NANOS),
    ack: () => message.ack(),
    again: (ms) => message.nak(ms),
  };
}

async function orNull<T>(name: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && error.name === name) return null;
    throw error;
  }
}
