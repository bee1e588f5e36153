import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { doorbell, EXPECTED, findCitizenId, garden, handAt } from '../../../../test/kit/garden-store.ts';
import { drain } from './drain.ts';
import type { WriteContext } from './write-context.ts';

const WORKER = fileURLToPath(import.meta.resolve('../../../../test/kit/garden-worker.ts'));
const signal = new AbortController().signal;

describe('garden check 4: draining a copy', () => {
  for (const [label, expected] of Object.entries(EXPECTED.drainOfACopy)) {
    test(`${label} gives the bodies and leaves the files of the reference, and a second drain changes nothing`, async () => {
      using store = garden('store');
      const id = findCitizenId(label);
      const run = () => drain(handAt(), store.places, id, signal);
      const state = join(store.places.mailbox, id, 'state.json');
      const { messages, readAt, left } = await run();
      assert.deepEqual(
        messages.map(({ file, body }) => ({ file, body })),
        expected.ok.messages,
      );
      assert.equal(readAt, expected.ok.readAt);
      assert.deepEqual(left, []);
      assert.deepEqual(store.box(id), expected.filesAfter);
      assert.equal(existsSync(state) ? readFileSync(state, 'utf8') : null, expected.stateAfter);
      const before = store.tree();
      assert.deepEqual(await run(), { gardenId: id, messages: [], readAt: null, left: [] });
      assert.deepEqual(store.tree(), before);
    });
  }

  test('of nobody throws, and leaves the mail that is there', async () => {
    using store = garden('store');
    const before = store.tree();
    for (const id of ['20260101T000000-0a0b0c', '../meta-sessions', findCitizenId('cc-enqueued').toUpperCase()]) {
      await assert.rejects(drain(handAt(), store.places, id, signal), { code: 'garden' });
    }
    assert.deepEqual(store.tree(), before);
  });
});

describe('what cannot be read is left, said, and in nobody else’s way', () => {
  const id = findCitizenId('cc-enqueued');
  const first = '2026-06-14T01-07-00-000Z-000000.msg';

  const cases: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    ['a symlink', (path) => symlinkSync('/etc/hostname', path), /^is a symlink/],
    ['a pipe', (path) => execFileSync('mkfifo', [path]), /^is a pipe/],
    ['an empty body', (path) => writeFileSync(path, ''), /^is still being written$/],
    [
      'a body too long',
      (path) => writeFileSync(path, Buffer.alloc(16 * 1024 * 1024 + 1, 'x')),
      /^is 16777217 bytes long/,
    ],
  ];
  for (const [label, make, why] of cases) {
    test(label, async () => {
      using store = garden('store');
      make(join(store.places.mailbox, id, first));
      const { messages, left } = await drain(handAt(), store.places, id, signal);
      assert.equal(messages.length, 2);
      assert.deepEqual(
        left.map(({ filename }) => filename),
        [first],
      );
      assert.match(left[0]?.message ?? '', why);
      assert.ok(store.box(id)?.includes(first));
    });
  }

  test('a box that is a symlink', async () => {
    using store = garden('store');
    symlinkSync(id, join(store.places.mailbox, findCitizenId('cc-never-armed')));
    const before = store.tree();
    const drained = drain(handAt(), store.places, findCitizenId('cc-never-armed'), signal);
    await assert.rejects(drained, { code: 'garden', message: /is a symlink, which is never followed$/ });
    assert.deepEqual(store.tree(), before);
  });

  test('an archive is never written over', async () => {
    using store = garden('store');
    const box = join(store.places.mailbox, id);
    writeFileSync(join(box, first), 'again');
    writeFileSync(join(box, `${first}.read`), 'archived');
    const { messages } = await drain(handAt(), store.places, id, signal);
    assert.equal(messages.length, 2);
    assert.equal(readFileSync(join(box, `${first}.read`), 'utf8'), 'archived');
    assert.equal(readFileSync(join(box, first), 'utf8'), 'again');
  });

  test('nor is one that appears while a message is opened', async () => {
    using store = garden('store');
    const archived = join(store.places.mailbox, id, '2026-06-14T01-08-01-000Z-33f351.msg.read');
    const hand = handAt();
    const open = (path: string, flags: number, mode: number): number => {
      if (`${path}.read` === archived) writeFileSync(archived, 'archived');
      return hand.disk.files.open(path, flags, mode);
    };
    const disk = { ...hand.disk, files: { ...hand.disk.files, open } };
    const { messages, left } = await drain({ ...hand, disk }, store.places, id, signal);
    assert.equal(messages.length, 1);
    assert.match(left[0]?.message ?? '', /^would overwrite /);
    assert.equal(readFileSync(archived, 'utf8'), 'archived');
  });

  test('a receipt that is none stops a drain before anything is moved', async () => {
    using store = garden('store');
    const spoilt = findCitizenId('state-badjson');
    writeFileSync(join(store.places.mailbox, spoilt, '2026-06-14T01-07-00-000Z-000000.msg'), 'x');
    const before = store.tree();
    await assert.rejects(drain(handAt(), store.places, spoilt, signal), { code: 'garden', message: /not valid JSON/ });
    assert.deepEqual(store.tree(), before);
  });

  test('a disk that fails at the receipt, or at one message, takes no body from the reader', async () => {
    for (const [at, bodies, readAt] of [
      ['state.json', 2, null],
      ['33f351.msg.read', 1, '2026-06-14T06:00:00.000Z'],
    ] as const) {
      using store = garden('store');
      const hand = handAt();
      const rename = (from: string, to: string): void => {
        if (to.endsWith(at)) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
        renameSync(from, to);
      };
      const failing: WriteContext = { ...hand, disk: { ...hand.disk, files: { ...hand.disk.files, rename } } };
      const drained = await drain(failing, store.places, id, signal);
      assert.equal(drained.messages.length, bodies);
      assert.equal(drained.readAt, readAt);
      assert.equal(drained.left.length, 1);
    }
  });
});

describe('a body that is still being written', () => {
  const id = findCitizenId('cc-enqueued');
  const file = '2026-06-14T01-09-00-000Z-000000.msg'; // after the signal

  test('is left until it stands still', async () => {
    using store = garden('store');
    const path = join(store.places.mailbox, id, file);
    writeFileSync(path, 'first half, ');
    const sleep = async (): Promise<void> => appendFileSync(path, 'second half');
    const early = await drain(handAt({ sleep }), store.places, id, signal);
    assert.deepEqual(early.left, [{ filename: file, message: 'is still being written' }]);
    assert.equal(early.messages.length, 2);
    const late = await drain(handAt(), store.places, id, signal);
    assert.deepEqual(
      late.messages.map(({ body }) => body),
      ['first half, second half'],
    );
  });

  test('is whole although its sender goes on while it is archived', async () => {
    using store = garden('store');
    const path = join(store.places.mailbox, id, file);
    const fd = openSync(path, 'a');
    writeSync(fd, 'first half, ');
    const hand = handAt();
    const rename = (from: string, to: string): void => {
      renameSync(from, to);
      if (from === path) writeSync(fd, 'second half');
    };
    const slow: WriteContext = { ...hand, disk: { ...hand.disk, files: { ...hand.disk.files, rename } } };
    const { messages } = await drain(slow, store.places, id, signal);
    closeSync(fd);
    assert.equal(messages.at(-1)?.body, 'first half, second half');
  });
});

describe('a doorbell between two steps of a drain', () => {
  test('costs no message and no receipt (trap 5)', async () => {
    for (const step of ['open', 'rename'] as const) {
      using store = garden('store');
      const id = findCitizenId('cc-enqueued');
      const hand = handAt();
      let isRung = false;
      const ring = (path: string): void => {
        if (isRung || !path.endsWith('33f351.msg')) return;
        isRung = true;
        doorbell(store.places, id);
      };
      const files = {
        ...hand.disk.files,
        open: (path: string, flags: number, mode: number) => {
          if (step === 'open') ring(path);
          return hand.disk.files.open(path, flags, mode);
        },
        rename: (from: string, to: string) => {
          if (step === 'rename') ring(from);
          renameSync(from, to);
        },
      };
      const { messages, readAt, left } = await drain(
        { ...hand, disk: { ...hand.disk, files } },
        store.places,
        id,
        signal,
      );
      assert.ok(isRung);
      assert.deepEqual(
        messages.map(({ file }) => file),
        ['2026-06-14T01-07-24-000Z-53c70b.msg', '2026-06-14T01-08-01-000Z-33f351.msg.delivered'],
      );
      assert.equal(readAt, '2026-06-14T06:00:00.000Z');
      assert.deepEqual(left, []);
    }
  });
});

describe('garden check 9: two drains and a doorbell at once', () => {
  test('read each of 1,000 messages exactly once and whole', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-armed-empty');
    const stop = store.at('stop');
    const start = (act: string): { child: ChildProcess; lines: () => readonly string[] } => {
      const child = spawn(process.execPath, [WORKER, act, store.store, id, stop], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      return { child, lines: () => text.split('\n').slice(0, -1) };
    };
    const bell = start('doorbell');
    const drains = [start('drain'), start('drain')];
    const closed = [bell, ...drains].map(({ child }) => once(child, 'close'));
    const box = join(store.places.mailbox, id);
    const sent = new Map<string, string>();
    for (let n = 0; n < 1000; n += 1) {
      const time = new Date(Date.UTC(2026, 5, 14) + n).toISOString();
      const stem = `${time.replaceAll(/[:.]/g, '-')}-${n.toString(16).padStart(6, '0')}`;
      const body = `${n} ${'y'.repeat(n)}`;
      sent.set(stem, body);
      writeFileSync(join(box, `${stem}.msg`), body);
      writeFileSync(join(box, 'inbox.signal'), `${time}\n`);
      if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    writeFileSync(stop, '');
    const codes = await Promise.all(closed);
    assert.deepEqual(
      codes.map(([code]) => code),
      [0, 0, 0],
    );
    const read = drains.flatMap(({ lines }) => lines().map((line) => JSON.parse(line) as [string, string]));
    assert.equal(read.length, 1000);
    assert.deepEqual(new Map(read), sent);
    assert.ok(bell.lines().length > 0, 'the bell never rang');
    const names = store.box(id)?.filter((name) => name.includes('.msg')) ?? [];
    assert.ok(names.every((name) => name.endsWith('.read')));
    assert.ok(
      names.some((name) => name.endsWith('.msg.delivered.read')),
      'no message met both',
    );
    const state = JSON.parse(readFileSync(join(box, 'state.json'), 'utf8')) as Record<string, unknown>;
    assert.notEqual(state.lastReadAt, null);
  });
});

describe('a drain that is killed anywhere', () => {
  test('leaves every body, unread or archived', () => {
    const id = findCitizenId('cc-mixed');
    const bodies = (store: ReturnType<typeof garden>): readonly string[] =>
      (store.box(id) ?? [])
        .filter((name) => name.includes('.msg'))
        .map((name) => readFileSync(join(store.places.mailbox, id, name), 'utf8'))
        .sort();
    let steps = 0;
    for (let isDone = false; !isDone; steps += 1) {
      using store = garden('store');
      const before = bodies(store);
      const ended = spawnSync(process.execPath, [WORKER, 'drain-once', store.store, id, String(steps)], {
        encoding: 'utf8',
      });
      isDone = ended.status === 0;
      assert.ok(isDone || ended.signal === 'SIGKILL', ended.stderr);
      assert.deepEqual(bodies(store), before);
    }
    assert.ok(steps > 6, `only ${steps} steps`);
  });
});

test('a stem that is read already is not read again under an earlier name', async () => {
  using store = garden('store');
  const id = findCitizenId('cc-read');
  const box = join(store.places.mailbox, id);
  copyFileSync(
    join(box, '2026-06-14T01-09-15-000Z-18676b.msg.delivered.read'),
    join(box, '2026-06-14T01-09-15-000Z-18676b.msg'),
  );
  assert.deepEqual((await drain(handAt(), store.places, id, signal)).messages, []);
});
