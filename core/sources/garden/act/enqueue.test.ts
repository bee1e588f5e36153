import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EXPECTED, findCitizenId, garden, handAt } from '../../../../test/kit/garden-store.ts';
import { readReceipt, readRecord } from '../read/index.ts';
import { drain } from './drain.ts';
import { enqueue } from './enqueue.ts';

const WORKER = fileURLToPath(import.meta.resolve('../../../../test/kit/garden-worker.ts'));
const BODY = `whole ${'x'.repeat(5000)} body\n`;
const signal = new AbortController().signal;

/** How it ended. */
function worker(...args: readonly string[]): { status: number | null; signal: string | null; stderr: string } {
  return spawnSync(process.execPath, [WORKER, ...args], { encoding: 'utf8', timeout: 60_000 });
}

describe('garden check 5: sending', () => {
  const refused: readonly (readonly [keyof typeof EXPECTED.enqueueErrors, string, string])[] = [
    ['orphan', '20260101T000000-0a0b0c', 'for nobody'],
    ['emptyBody', findCitizenId('cc-enqueued'), ''],
  ];
  for (const [label, id, body] of refused) {
    test(`${label}: says what the reference says, and changes nothing`, () => {
      using store = garden('store');
      const before = store.tree();
      const message = store.toPlainMessage(EXPECTED.enqueueErrors[label].error);
      assert.throws(() => enqueue(handAt(), store.places, id, body), { code: 'garden', message });
      assert.deepEqual(store.tree(), before);
    });
  }

  test('to an id that leads out of the store changes nothing', () => {
    using store = garden('store');
    const before = store.tree();
    for (const id of [
      '../../etc/passwd',
      '..',
      '',
      `${findCitizenId('cc-read')}/../x`,
      findCitizenId('cc-enqueued').toUpperCase(),
    ]) {
      assert.throws(() => enqueue(handAt(), store.places, id, 'x'), { code: 'garden' });
    }
    assert.deepEqual(store.tree(), before);
  });

  test('to a box, a signal or a receipt that is none is refused before anything is written', () => {
    const id = findCitizenId('cc-never-armed');
    const cases: readonly (readonly [(box: string, store: string) => void, RegExp])[] = [
      [(box, at) => symlinkSync(at, box), /is a symlink, which is never followed; nothing was sent$/],
      [(box) => writeFileSync(box, ''), /is not a directory/],
      [(box) => inBox(box, () => symlinkSync('/nowhere', join(box, 'inbox.signal'))), /inbox\.signal is a symlink/],
      [(box) => inBox(box, () => execFileSync('mkfifo', [join(box, 'inbox.signal')])), /is a pipe, socket or device/],
      [
        (box) => inBox(box, () => writeFileSync(join(box, 'state.json'), '{}')),
        /^mailbox receipt state "schemaVersion"/,
      ],
    ];
    for (const [make, why] of cases) {
      using store = garden('store');
      const box = join(store.places.mailbox, id);
      make(box, store.at());
      const before = readdirSync(store.dir, { recursive: true });
      assert.throws(() => enqueue(handAt(), store.places, id, 'x'), { code: 'garden', message: why });
      assert.deepEqual(readdirSync(store.dir, { recursive: true }), before);
    }
  });

  test('draws another name when a message has it', () => {
    using store = garden('store');
    const id = findCitizenId('cc-enqueued');
    const hand = handAt({ now: '2026-06-14T01:07:24.000Z', hex: ['53c70b', '123456'] });
    const { stem } = enqueue(hand, store.places, id, 'second');
    assert.equal(stem, '2026-06-14T01-07-24-000Z-123456');
    assert.match(
      readFileSync(join(store.places.mailbox, id, '2026-06-14T01-07-24-000Z-53c70b.msg'), 'utf8'),
      /^\[entw/,
    );
  });

  test('rewrites the signal in its place, for who watches the file', () => {
    using store = garden('store');
    const id = findCitizenId('cc-read');
    const path = join(store.places.mailbox, id, 'inbox.signal');
    const watched = openSync(path, 'r');
    enqueue(handAt(), store.places, id, 'x');
    assert.equal(readFileSync(watched, 'utf8'), '2026-06-14T06:00:00.000Z\n');
    closeSync(watched);
    assert.equal(readFileSync(path, 'utf8'), '2026-06-14T06:00:00.000Z\n');
  });

  test('that fails anywhere never leaves a signal without a body, nor half a body', async () => {
    const id = findCitizenId('cc-never-armed');
    let steps = 0;
    for (let isDone = false; !isDone; steps += 1) {
      using store = garden('store');
      const ended = worker('enqueue', store.store, id, String(steps));
      isDone = ended.status === 0;
      assert.ok(isDone || ended.signal === 'SIGKILL', `step ${steps}: ${ended.stderr}`);
      const names = store.box(id) ?? [];
      const bodies = names.filter((name) => name.includes('.msg'));
      for (const name of bodies) assert.equal(readFileSync(join(store.places.mailbox, id, name), 'utf8'), BODY);
      assert.ok(bodies.every((name) => name.endsWith('.msg')));
      const receipt = readReceipt(handAt().disk, store.places.mailbox, id);
      if (names.includes('inbox.signal')) assert.equal(bodies.length, 1, `step ${steps}: ${names.join()}`);
      if (receipt.lastEnqueuedAt !== null) assert.equal(bodies.length, 1, `step ${steps}: ${names.join()}`);
      enqueue(handAt({ now: '2026-06-14T06:00:01.000Z' }), store.places, id, 'after');
      const { messages, left } = await drain(handAt(), store.places, id, signal);
      assert.deepEqual(
        messages.map(({ body }) => body),
        [...bodies.map(() => BODY), 'after'],
      );
      assert.deepEqual(left, []);
    }
    assert.ok(steps > 12, `only ${steps} steps`);
  });
});

describe('an upsert that is killed anywhere', () => {
  test('leaves a record that is whole, and one citizen', () => {
    const id = findCitizenId('v1-claude');
    const session = '0f3c9d1e-77aa-4b10-9c55-000000000021';
    let steps = 0;
    for (let isDone = false; !isDone; steps += 1) {
      using store = garden('store');
      const ended = worker('upsert', store.store, session, String(steps));
      isDone = ended.status === 0;
      assert.ok(isDone || ended.signal === 'SIGKILL', ended.stderr);
      const { disk } = handAt();
      const record = readRecord(disk, store.places.sessions, id);
      const { lastEnqueuedAt } = readReceipt(disk, store.places.mailbox, id);
      if (record.schemaVersion === 2) assert.equal(lastEnqueuedAt, '2026-06-01T08:00:00.000Z', `step ${steps}`);
      else assert.ok(record.schemaVersion === 1 && record.delivery.lastEnqueuedAt !== null);
    }
    assert.ok(steps > 8, `only ${steps} steps`);
  });
});

function inBox(box: string, make: () => void): void {
  mkdirSync(box);
  make();
}
