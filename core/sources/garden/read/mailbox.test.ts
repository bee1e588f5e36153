import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  EXPECTED,
  EXPECTED_V3,
  findCitizenId,
  type Garden,
  garden,
  handAt,
} from '../../../../test/kit/garden-store.ts';
import { needs } from '../../../../test/kit/require.ts';
import { parseEnvelope, parseSender } from './capabilities.ts';
import {
  type Box,
  findMessages,
  findStrays,
  isAnnounced,
  mergeReceipt,
  parseCreated,
  peek,
  readBox,
  readReceipt,
} from './mailbox.ts';
import { listRecords, readRecord } from './store.ts';

const { disk } = handAt();
const ALPHA = ['', 'home', 'user', 'repos', 'alpha'].join('/'); // a folder of the data
const poll = (store: Garden, id: string): Box | null => {
  const box = readBox(disk, store.places.mailbox, id);
  assert.notEqual(box.is, 'refused');
  return box.is === 'box' ? box : null;
};
const readBody = (store: Garden, id: string, file: string): string =>
  peek(disk, store.places.mailbox, id, file, 10_000)?.text ?? '';

describe('garden check 2: every citizen has what the reference says', () => {
  for (const [label, citizen] of Object.entries(EXPECTED.citizens)) {
    test(label, () => {
      using store = garden('store');
      const box = poll(store, citizen.gardenId);
      assert.equal(box === null, citizen.mailboxFiles === null);
      const count = (stage: string): number => box?.messages.filter((message) => message.stage === stage).length ?? 0;
      const { fresh, delivered, read, unread, signal } = citizen;
      assert.deepEqual([count('fresh'), count('delivered'), count('read')], [fresh, delivered, read]);
      assert.equal(box?.unread.length ?? 0, unread);
      assert.equal(box?.signal ?? null, signal);
      assert.deepEqual(box?.errors ?? [], []);
      const receipt = (): unknown => readReceipt(disk, store.places.mailbox, citizen.gardenId);
      if (citizen.receipt.error === undefined) assert.deepEqual(receipt(), citizen.receipt.ok);
      else assert.throws(receipt, { code: 'garden', message: store.toPlainMessage(citizen.receipt.error) });
    });
  }

  test('seven messages wait in all, and one in the box of nobody', () => {
    using store = garden('store');
    const { records } = listRecords(disk, store.places.sessions);
    const waiting = records.map(({ gardenId }) => poll(store, gardenId)?.unread.length ?? 0);
    assert.equal(
      waiting.reduce((sum, n) => sum + n, 0),
      7,
    );
    const strays = findStrays(disk, store.places.mailbox, new Set(records.map(({ gardenId }) => gardenId)));
    assert.deepEqual(strays, { boxes: ['20260101T000000-0a0b0c'], others: ['lost+found'] });
    assert.equal(poll(store, '20260101T000000-0a0b0c')?.unread.length, 1);
  });

  test('also in the newer generation', () => {
    using store = garden('store-v3');
    for (const { gardenId, unread, receipt } of Object.values(EXPECTED_V3.citizens)) {
      assert.equal(poll(store, gardenId)?.unread.length ?? 0, unread);
      assert.deepEqual(readReceipt(disk, store.places.mailbox, gardenId), receipt);
    }
  });

  test('and looking changed nothing', () => {
    using store = garden('store');
    const before = store.tree();
    for (const id of Object.values(EXPECTED.labels)) {
      for (const { file } of poll(store, id)?.messages ?? []) readBody(store, id, file);
    }
    assert.deepEqual(store.tree(), before);
  });
});

describe('the receipt that is shown', () => {
  test('is inside a record of v1 until there is another, time by time', () => {
    using store = garden('store');
    const id = findCitizenId('v1-claude');
    const record = readRecord(disk, store.places.sessions, id);
    const shown = (): unknown => {
      const { lastEnqueuedAt, lastDeliveredAt, lastReadAt } = mergeReceipt(
        readReceipt(disk, store.places.mailbox, id),
        record,
      );
      return [lastEnqueuedAt, lastDeliveredAt, lastReadAt];
    };
    assert.deepEqual(shown(), ['2026-06-01T08:00:00.000Z', '2026-06-01T08:00:05.000Z', null]);
    const state = { schemaVersion: 1, gardenId: id, lastEnqueuedAt: 'new', lastDeliveredAt: null, lastReadAt: 'read' };
    mkdirSync(join(store.places.mailbox, id));
    writeFileSync(join(store.places.mailbox, id, 'state.json'), JSON.stringify(state));
    assert.deepEqual(shown(), ['new', '2026-06-01T08:00:05.000Z', 'read']);
  });

  test('is none through a symlink', () => {
    using store = garden('store');
    const id = findCitizenId('cc-armed-empty');
    symlinkSync(join('..', findCitizenId('cc-read'), 'state.json'), join(store.places.mailbox, id, 'state.json'));
    assert.throws(() => readReceipt(disk, store.places.mailbox, id), { code: 'garden', message: /is a symlink/ });
  });
});

describe('the names in a box', () => {
  test('are four for one message, whose stem stays; a later stage wins, and other names are none', () => {
    const messages = findMessages([
      ...['c.msg', 'a.msg.delivered', 'b.msg.read', 'd.msg.delivered.read', 'a.msg', 'd.msg'],
      ...['inbox.signal', 'state.json', 'x.msg.tmp', '.msg', 'x.msg.read.delivered', 'hook.log'],
    ]);
    assert.deepEqual(
      messages.map(({ stem, stage, file }) => `${stem} ${stage} ${file}`),
      ['a delivered a.msg.delivered', 'b read b.msg.read', 'c fresh c.msg', 'd read d.msg.delivered.read'],
    );
  });

  test('are in the order of their time, and say it', () => {
    const names = ['2026-06-14T01-08-01-000Z-33f351.msg', '2026-06-14T01-07-24-000Z-53c70b.msg.delivered'];
    const stems = findMessages(names).map(({ stem }) => stem);
    assert.deepEqual(stems.map(parseCreated), ['2026-06-14T01:07:24.000Z', '2026-06-14T01:08:01.000Z']);
    assert.equal(parseCreated('by hand'), null);
  });
});

describe('what has the name of a message and is none is named, and the others wait on', () => {
  const cases: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    ['a symlink', (path) => symlinkSync('/etc/hostname', path), /^is a symlink, which is never followed$/],
    ['a pipe', (path) => execFileSync('mkfifo', [path]), /^is a pipe, socket or device/],
    ['a directory', (path) => mkdirSync(path), /^is a directory/],
  ];
  for (const [label, make, why] of cases) {
    test(label, () => {
      using store = garden('store');
      const id = findCitizenId('cc-enqueued');
      const file = '2026-06-14T01-07-30-000Z-000000.msg';
      make(join(store.places.mailbox, id, file));
      const box = poll(store, id);
      assert.equal(box?.unread.length, 2);
      assert.deepEqual(
        box?.errors.map(({ filename }) => filename),
        [file],
      );
      assert.match(box?.errors[0]?.message ?? '', why);
      assert.equal(peek(disk, store.places.mailbox, id, file, 100), null);
    });
  }

  test('a message of another user', (t) => {
    if (needs(t, process.getuid?.() === 0 ? null : 'only root can give a file away')) return;
    using store = garden('store');
    const id = findCitizenId('cc-enqueued');
    chownSync(join(store.places.mailbox, id, '2026-06-14T01-07-24-000Z-53c70b.msg'), 4242, 4242);
    assert.match(poll(store, id)?.errors[0]?.message ?? '', /^belongs to user 4242/);
    assert.equal(poll(store, id)?.unread.length, 1);
  });

  test('a box that is a symlink, or a file, or cannot be entered: nothing is said of its mail', () => {
    using store = garden('store');
    symlinkSync(findCitizenId('cc-enqueued'), join(store.places.mailbox, findCitizenId('cc-never-armed')));
    writeFileSync(join(store.places.mailbox, findCitizenId('codex-plain')), '');
    const readdir = (path: string): string[] => {
      if (path.endsWith(findCitizenId('cc-read'))) throw Object.assign(new Error('no'), { code: 'EACCES' });
      return disk.files.readdir(path);
    };
    const closed = { ...disk, files: { ...disk.files, readdir } };
    for (const [label, why] of [
      ['cc-never-armed', 'is a symlink, which is never followed'],
      ['codex-plain', 'is not a directory'],
      ['cc-read', 'permission denied'],
    ] as const) {
      assert.deepEqual(readBox(closed, store.places.mailbox, findCitizenId(label)), { is: 'refused', why });
    }
    assert.equal(readBox(closed, store.places.mailbox, findCitizenId('cc-mixed')).is, 'box');
    const file = '2026-06-14T01-07-24-000Z-53c70b.msg';
    assert.equal(peek(disk, store.places.mailbox, findCitizenId('cc-never-armed'), file, 100), null);
    assert.throws(() => readReceipt(disk, store.places.mailbox, findCitizenId('cc-never-armed')), {
      message: /the box is a symlink/,
    });
  });

  test('a box that another user put there, with what is in it', (t) => {
    if (needs(t, process.getuid?.() === 0 ? null : 'only root can give a file away')) return;
    using store = garden('store');
    const id = findCitizenId('cc-enqueued');
    chownSync(join(store.places.mailbox, id), 4242, 4242);
    const why = 'belongs to user 4242, whose files are not trusted';
    assert.deepEqual(readBox(disk, store.places.mailbox, id), { is: 'refused', why });
    chownSync(store.places.mailbox, 4242, 4242);
    assert.equal(poll(store, id)?.unread.length, 2);
  });

  test('an id that leads out of the store', () => {
    using store = garden('store');
    for (const id of ['..', '../meta-sessions', '/etc', `${findCitizenId('cc-read')}/..`]) {
      assert.throws(() => poll(store, id), { code: 'garden', message: /must match/ });
    }
    assert.equal(peek(disk, store.places.mailbox, findCitizenId('cc-read'), '../x.msg', 1), null);
    assert.equal(peek(disk, store.places.mailbox, findCitizenId('cc-read'), 'state.json', 1), null);
  });
});

describe('a body that may still be written', () => {
  const message = { stem: '2026-06-14T01-08-00-000Z-000000', file: '', size: 5 } as const;
  const cases: readonly (readonly [string, Parameters<typeof isAnnounced>, boolean])[] = [
    ['is whole when the signal came after it', [{ ...message, stage: 'fresh' }, '2026-06-14T01:08:00.000Z\n'], true],
    [
      'is not known to be when the signal is older',
      [{ ...message, stage: 'fresh' }, '2026-06-14T01:07:59.999Z\n'],
      false,
    ],
    ['nor when the signal is only armed', [{ ...message, stage: 'fresh' }, ''], false],
    ['nor without a signal', [{ ...message, stage: 'fresh' }, null], false],
    ['nor because a doorbell took it with another', [{ ...message, stage: 'delivered' }, ''], false],
    ['is never whole when it is empty', [{ ...message, stage: 'fresh', size: 0 }, '2099\n'], false],
    ['is not known to be under a name of its own', [{ ...message, stage: 'fresh', stem: 'by hand' }, '2099\n'], false],
  ];
  for (const [label, given, whole] of cases) test(label, () => assert.equal(isAnnounced(...given), whole));
});

describe('peeking', () => {
  test('gives so many bytes in whole characters, and says how many there are', () => {
    using store = garden('store');
    const id = findCitizenId('cc-enqueued');
    const file = '2026-06-14T01-08-01-000Z-33f351.msg';
    const whole = readFileSync(join(store.places.mailbox, id, file));
    const at = whole.indexOf(Buffer.from('한'));
    assert.deepEqual(peek(disk, store.places.mailbox, id, file, at + 2), {
      text: whole.subarray(0, at).toString(),
      size: 69,
    });
    assert.equal(readBody(store, id, file), whole.toString());
    assert.equal(readBody(store, id, 'gone.msg'), '');
  });

  test('the envelope names the sender, in the data as in a text by hand', () => {
    using store = garden('store');
    const body = readBody(store, findCitizenId('cc-enqueued'), '2026-06-14T01-07-24-000Z-53c70b.msg');
    assert.deepEqual(parseEnvelope(body), {
      from: `meta-session/claude-code @ ${ALPHA}`,
      session: '20260614T100114-9abadd (meta-session, replyable — reply with entwurf_send to this sessionId)',
      at: '2026-06-14 10:06:47 KST',
      wantsReply: true,
      text: 'Please review src/parser.ts lines 10-40.\n',
    });
    const external = readBody(store, findCitizenId('cc-delivered'), '2026-06-14T01-08-38-000Z-e1c190.msg.delivered');
    assert.equal(parseSender(external), `external-mcp/unknown-host @ ${ALPHA}`);
    assert.equal(
      parseSender(readBody(store, findCitizenId('cc-enqueued'), '2026-06-14T01-08-01-000Z-33f351.msg')),
      null,
    );
    for (const [from, to] of [
      ['[entwurf', ' [entwurf'],
      ['  from:', '  From:'],
      ['wants reply: yes', 'wants reply: perhaps'],
      ['─'.repeat(40), '─'.repeat(39)],
      ['  at:', '  and:\n  at:'],
    ] as const) {
      assert.equal(parseSender(body.replace(from, to)), null, to);
    }
    const hostile = body.replace('meta-session/', `\u001b[31m\u202e${'x'.repeat(300)}`);
    assert.equal(parseSender(hostile), `[31m${'x'.repeat(196)}`);
  });
});
