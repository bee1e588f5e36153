import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Database } from '../../core/state/index.ts';

export function rows(db: Database): number {
  return db.prepare<{ n: number }>('SELECT count(*) AS n FROM inbox').get()?.n ?? 0;
}

export function count(db: Database, table: 'relay_came'): number {
  return db.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0;
}

/** How many of the machine's messages the stream confirmed. */
export function published(db: Database): number {
  return db.prepare<{ n: number }>('SELECT coalesce(published, 0) AS n FROM relay').get()?.n ?? 0;
}

interface Client {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await connect({ servers: url, token: 'secret', tls: null });
  try {
    return await work({ js: jetstream(connection), jsm: await jetstreamManager(connection) });
  } finally {
    await connection.close();
  }
}

export async function deleteDurables(url: string): Promise<void> {
  await withClient(url, async ({ jsm }) => {
    for await (const { name } of jsm.consumers.list('INBOX_EVENTS')) await jsm.consumers.delete('INBOX_EVENTS', name);
  });
}

export async function deleteStream(url: string): Promise<void> {
  await withClient(url, async ({ jsm }) => void (await jsm.streams.delete('INBOX_EVENTS')));
}

/** Waits until no durable has anything to deliver, or anything that was not acknowledged. */
export async function untilAcked(url: string): Promise<void> {
  await withClient(url, async ({ jsm }) => {
    for (const end = performance.now() + 60_000; ; await sleep(20)) {
      let left = 0;
      for await (const each of jsm.consumers.list('INBOX_EVENTS')) left += each.num_pending + each.num_ack_pending;
      if (left === 0) return;
      if (performance.now() > end) throw new Error(`${left} messages are not acknowledged`);
    }
  });
}
