import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  doorbell,
  EXPECTED,
  EXPECTED_V3,
  findCitizenId,
  type Garden,
  garden,
  handAt,
  type Op,
} from '../../../../test/kit/garden-store.ts';
import { listRecords } from '../read/index.ts';
import { drain } from './drain.ts';
import { enqueue, type UpsertResult, upsert, type WritableSchema } from './enqueue.ts';

const signal = new AbortController().signal;
/** In what the reference left behind a message has its last name; its bytes are those it was sent with. */
function readBody(made: Garden, op: Op): string {
  const box = join(made.places.mailbox, op.gardenId);
  const name = readdirSync(box).find((filename) => filename.startsWith(op.file)) ?? '';
  return readFileSync(join(box, name), 'utf8');
}

const parseHex = (name: string): string => /-([0-9a-f]{6})(\.msg)?$/.exec(name)?.[1] ?? '';

function upserted(store: Garden, op: Op, input: Op['input'], schema: WritableSchema = 2): UpsertResult {
  const hand = handAt({ now: op.now, hex: [parseHex(String(op.record.gardenId))] });
  const done = upsert(hand, store.places, input, schema);
  assert.equal(done.action, op.action, op.label);
  assert.deepEqual(done.record, op.record, op.label);
  return done;
}

describe('garden check 7: what the reference was asked to do, done here', () => {
  test('leaves the same files with the same bytes, operation by operation', async () => {
    using made = garden('store');
    using store = garden();
    const v1 = (op: Op): string => readFileSync(join(made.places.sessions, `${op.gardenId}.meta.json`), 'utf8');
    for (const op of EXPECTED.ops) {
      switch (op.op) {
        case 'upsert':
          upserted(store, op, op.input);
          break;
        case 'write-v1':
          writeFileSync(
            join(store.places.sessions, `${op.gardenId}.meta.json`),
            op.label === 'v1-migrated' ? V1_BEFORE : v1(op),
          );
          break;
        case 'enqueue': {
          const hand = handAt({ now: op.now, hex: [parseHex(op.file)] });
          const { messagePath } = enqueue(hand, store.places, op.gardenId, readBody(made, op));
          assert.equal(messagePath, join(store.places.mailbox, op.gardenId, op.file));
          assert.equal(statSync(messagePath).mode & 0o777, 0o600);
          break;
        }
        case 'doorbell':
          assert.equal(doorbell(store.places, op.gardenId).exit, op.exit);
          break;
        case 'readInbox': {
          const done = await drain(handAt({ now: op.now }), store.places, op.gardenId, signal);
          assert.deepEqual(
            done.messages.map(({ file }) => file),
            op.files,
          );
          assert.equal(done.readAt, op.readAt);
          break;
        }
      }
    }
    const records = listRecords(handAt().disk, store.places.sessions);
    assert.deepEqual(records.errors, []);
    for (const id of Object.values(EXPECTED.labels)) {
      const name = `${id}.meta.json`;
      assert.equal(
        readFileSync(join(store.places.sessions, name), 'utf8'),
        readFileSync(join(made.places.sessions, name), 'utf8'),
      );
    }
    assert.deepEqual(
      readdirSync(store.places.sessions).sort(),
      Object.values(EXPECTED.labels)
        .map((id) => `${id}.meta.json`)
        .sort(),
    );
    for (const [label, { gardenId, receipt }] of Object.entries(EXPECTED.citizens)) {
      if (receipt.error !== undefined || label === 'cc-armed-empty') continue; // spoilt and armed by hand
      const expected = made.box(gardenId)?.filter((name) => name !== 'hook.log') ?? null;
      assert.deepEqual(store.box(gardenId), expected, label);
      for (const name of expected ?? []) {
        const path = join(gardenId, name);
        assert.equal(
          readFileSync(join(store.places.mailbox, path), 'utf8'),
          readFileSync(join(made.places.mailbox, path), 'utf8'),
          path,
        );
      }
    }
  });

  test('in the third schema as well', () => {
    using made = garden('store-v3');
    using store = garden();
    for (const op of EXPECTED_V3.ops.filter((entry) => entry.op === 'upsert')) {
      const { backend, nativeSessionId, cwd, model, transcriptPath } = op.record as unknown as Op['input'] &
        Record<'model' | 'transcriptPath', string | null>;
      const { path } = upserted(store, op, { backend, nativeSessionId, cwd, ...{ model, transcriptPath } }, 3);
      if (op.label === 'pi' && op.action === 'create') continue; // attached to later
      const expected = join(made.places.sessions, `${String(op.record.gardenId)}.meta.json`);
      assert.equal(readFileSync(path, 'utf8'), readFileSync(expected, 'utf8'));
    }
  });
});

/** The record before it was attached to: only its receipt and its bytes afterwards are in the data. */
const V1_BEFORE = JSON.stringify({
  ...{ schemaVersion: 1, gardenId: findCitizenId('v1-migrated'), backend: 'claude-code' },
  nativeSessionId: '0f3c9d1e-77aa-4b10-9c55-000000000022',
  transcriptPath: EXPECTED.ops.find(({ label, op }) => label === 'v1-migrated' && op === 'upsert')?.record
    .transcriptPath,
  ...{ cwd: '/c', createdAt: '2026-06-14T01:18:30.000Z', lastSeen: '2026-06-14T01:18:30.000Z' },
  delivery: {
    ...{ wakeMode: 'self-fetch', deliveryLevel: 'D6', lastEnqueuedAt: '2026-06-02T08:00:00.000Z' },
    ...{ lastDeliveredAt: '2026-06-02T08:00:05.000Z', lastReadAt: '2026-06-02T08:01:00.000Z' },
  },
});
