import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { drain, enqueue, parseEnvelope } from '../../core/sources/garden/index.ts';
import { complaintsIn, gardenCli } from '../kit/garden-cli.ts';
import { doorbell, EXPECTED, findCitizenId, type Garden, garden, handAt } from '../kit/garden-store.ts';

const ORPHAN = '20260101T000000-0a0b0c';
const KILLER = import.meta.resolve('../kit/kill-at-step.mjs');

const signal = new AbortController().signal;

interface MailboxDrain {
  readonly gardenId: string;
  readonly messages: readonly { readonly file: string; readonly stem: string; readonly body: string }[];
  readonly readAt: string | null;
  readonly left: readonly { readonly filename: string; readonly message: string }[];
}

const own = (id: string): { env: Record<string, string> } => ({ env: { HIVEBAR_PERSONA: `garden-${id}` } });

function bodiesIn(store: Garden, id: string): readonly string[] {
  const names = (store.box(id) ?? []).filter((name) => name.includes('.msg'));
  return names.map((name) => readFileSync(join(store.places.mailbox, id, name), 'utf8')).sort();
}

describe('garden check 4: mail read', () => {
  for (const [label, expected] of Object.entries(EXPECTED.drainOfACopy)) {
    test(`of ${label} gives the bodies and leaves the files of the reference, and again it changes nothing`, async () => {
      using store = garden('store');
      const run = gardenCli(store);
      const id = findCitizenId(label);
      const first = await run(['mail', 'read', '--id', id, '--json'], own(id));
      const { messages, readAt, left } = first.json<MailboxDrain>();
      assert.deepEqual([first.code, first.err, left], [0, '', []]);
      assert.deepEqual(
        messages.map(({ file, body }) => ({ file, body })),
        expected.ok.messages,
      );
      assert.deepEqual(store.box(id), expected.filesAfter);
      const state = join(store.places.mailbox, id, 'state.json');
      const after = existsSync(state) ? readFileSync(state, 'utf8') : null;
      // The time of this reading stands where the reference has that of its own.
      const asTheirs = readAt === null ? after : (after?.replace(readAt, String(expected.ok.readAt)) ?? null);
      assert.equal(readAt === null, expected.ok.readAt === null);
      assert.equal(asTheirs, expected.stateAfter);
      const before = store.tree();
      const second = await run(['mail', 'read', '--id', id, '--json'], own(id));
      assert.deepEqual(second.json(), { gardenId: id, messages: [], readAt: null, left: [] });
      assert.equal(second.code, 0);
      assert.deepEqual(store.tree(), before);
    });
  }

  test('for people shows each message, and says that nothing is left the second time', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const id = findCitizenId('cc-enqueued');
    const first = await run(['mail', 'read', '--id', id], own(id));
    assert.match(first.out, /^2026-06-14T01-07-24-000Z-53c70b {2}from meta-session\/claude-code @ /);
    assert.match(first.out, /\n {2}plain body without an envelope\n/);
    assert.equal((await run(['mail', 'read', '--id', id], own(id))).out, `${id} has no unread mail\n`);
  });
});

describe('the box of another', () => {
  const id = findCitizenId('cc-mixed');

  test('is not read without a word, whether it is known who asks or not', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const other = findCitizenId('cc-read');
    const before = store.tree();
    const refused = async (args: readonly string[], env: Record<string, string>, reason: RegExp): Promise<void> => {
      const { code, out, err } = await run(['mail', 'read', '--id', id, ...args], { env });
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, reason);
      assert.match(err, /--not-mine to read it anyway$/m);
    };
    await refused([], {}, /cannot tell who you are/);
    await refused([], { HIVEBAR_PERSONA: 'ada' }, /cannot tell who you are/);
    await refused([], { HIVEBAR_PERSONA: `garden-${other}` }, new RegExp(`you are ${other}`));
    await refused(['--as', other], { HIVEBAR_PERSONA: `garden-${id}` }, new RegExp(`you are ${other}`));
    assert.deepEqual(store.tree(), before);
    const output = await run(['mail', 'read', '--id', id, '--not-mine', '--json']);
    assert.deepEqual([output.code, output.json<MailboxDrain>().messages.length], [0, 3]);
  });

  test('is one’s own with --as, and by the marker of a process above', async () => {
    for (const kind of ['as', 'sender', 'receiver']) {
      using store = garden('store');
      const run = gardenCli(store);
      const written = ['marker', 'write', kind, '--id', id, '--pid', `${process.pid}`];
      if (kind !== 'as') assert.equal((await run(written)).code, 0);
      const { code, json } = await run(['mail', 'read', '--id', id, '--json', ...(kind === 'as' ? ['--as', id] : [])]);
      assert.deepEqual([code, json<MailboxDrain>().messages.length], [0, 3], kind);
    }
  });

  test('is not one’s own by a marker whose process only has the number of one above', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    await run(['marker', 'write', 'sender', '--id', id, '--pid', `${process.pid}`]);
    const path = join(store.places.senders, 'claude-code', `${process.pid}.json`);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"(linux|ps):[^"]*"/, '"linux:1"'));
    const { code, err } = await run(['mail', 'read', '--id', id]);
    assert.equal(code, 1);
    assert.match(err, /cannot tell who you are/);
  });
});

describe('mail peek', () => {
  test('shows what waits and changes nothing', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const before = store.tree();
    for (const [label, { gardenId, unread }] of Object.entries(EXPECTED.citizens)) {
      if (unread === 0) continue;
      const { code, json } = await run(['mail', 'peek', '--id', gardenId, '--json']);
      const { messages } = json<{ messages: readonly { file: string; body: string; isWhole: boolean }[] }>();
      assert.equal(code, 0);
      assert.deepEqual(
        messages.map(({ file, body }) => ({ file, body })),
        EXPECTED.drainOfACopy[label]?.ok.messages,
      );
      assert.ok(messages.every(({ isWhole }) => isWhole));
    }
    assert.deepEqual(store.tree(), before);
  });

  test('shows the mail in a box of nobody, and says so', async () => {
    using store = garden('store');
    const { code, err, json } = await gardenCli(store)(['mail', 'peek', '--id', ORPHAN, '--json']);
    assert.equal(code, 0);
    assert.equal(json<{ messages: readonly unknown[] }>().messages.length, 1);
    assert.match(err, /not a garden citizen/);
  });
});

describe('garden check 5: mail send', () => {
  test('to a box of nobody says what the reference says, and changes nothing', async () => {
    using store = garden('store');
    const before = store.tree();
    for (const more of [[], ['--queue'], ['--force', '--json']]) {
      const { code, out, err } = await gardenCli(store)(['mail', 'send', '--id', ORPHAN, ...more, 'for nobody']);
      assert.deepEqual([code, out], [1, '']);
      assert.deepEqual(complaintsIn(err), [store.toPlainMessage(EXPECTED.enqueueErrors.orphan.error)]);
    }
    assert.deepEqual(store.tree(), before);
  });

  test('of nothing says what the reference says, and changes nothing', async () => {
    using store = garden('store');
    const before = store.tree();
    for (const words of [[], ['']]) {
      const { code, err } = await gardenCli(store)([
        'mail',
        'send',
        '--id',
        findCitizenId('cc-enqueued'),
        '--queue',
        ...words,
      ]);
      assert.equal(code, 1);
      assert.deepEqual(complaintsIn(err), [store.toPlainMessage(EXPECTED.enqueueErrors.emptyBody.error)]);
    }
    assert.deepEqual(store.tree(), before);
  });

  test('puts body, receipt and signal, from the line or from stdin as it is', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const id = findCitizenId('cc-never-armed');
    const text = 'zeile 1\r\n\tZwei — 한글 🌱\n\n';
    const first = await run(['mail', 'send', '--id', id, '--queue', '--json', 'two', 'words']);
    const second = await run(['mail', 'send', '--id', id, '--queue'], { input: text });
    assert.deepEqual([first.code, second.code], [0, 0]);
    const { stem, messagePath, signalPath } = first.json<Record<string, string>>();
    assert.equal(messagePath, join(store.places.mailbox, id, `${stem}.msg`));
    assert.match(second.out, new RegExp(`^sent \\S+ to ${id}\\n$`));
    assert.deepEqual(bodiesIn(store, id), ['two words', text].sort());
    const state = JSON.parse(readFileSync(join(store.places.mailbox, id, 'state.json'), 'utf8')) as object;
    assert.deepEqual(
      `${(state as { lastEnqueuedAt: string }).lastEnqueuedAt}\n`,
      readFileSync(signalPath ?? '', 'utf8'),
    );
    const { messages } = (await run(['mail', 'read', '--id', id, '--as', id, '--json'])).json<MailboxDrain>();
    assert.deepEqual(
      messages.map(({ body }) => body),
      ['two words', text],
    );
  });

  test('D6 has the envelope of its sender where that is known, so that its reader can answer', async () => {
    using store = garden('store');
    const [from, to] = [findCitizenId('cc-enqueued'), findCitizenId('cc-never-armed')];
    for (const [flags, env] of [
      [['--as', from], {}],
      [[], { HIVEBAR_PERSONA: `garden-${from}` }],
    ] as const) {
      const sent = await gardenCli(store)(['mail', 'send', '--id', to, '--queue', ...flags, 'two\nlines'], { env });
      assert.equal(sent.code, 0, sent.err);
    }
    const bodies = bodiesIn(store, to);
    assert.equal(bodies.length, 2);
    for (const body of bodies) {
      const envelope = parseEnvelope(body);
      assert.match(envelope?.session ?? '', new RegExp(`^${from} `));
      assert.match(envelope?.from ?? '', /^claude-code @ /);
      assert.match(envelope?.at ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d KST$/);
      assert.deepEqual([envelope?.wantsReply, envelope?.text], [true, 'two\nlines']);
    }
    const nobody = await gardenCli(store)([
      'mail',
      'send',
      '--id',
      to,
      '--queue',
      '--as',
      '20200101T000000-abcdef',
      'x',
    ]);
    assert.equal(nobody.code, 1);
    assert.match(nobody.err, /no meta-record for garden id "20200101T000000-abcdef"/);
  });

  test('D6 without a body is read as such once nobody writes to it any more', async () => {
    using store = garden('store');
    const id = findCitizenId('cc-never-armed');
    mkdirSync(join(store.places.mailbox, id), { recursive: true });
    writeFileSync(join(store.places.mailbox, id, '2026-06-14T01-07-24-000Z-53c70b.msg'), '', { mode: 0o600 });
    const later = (ms: number) => handAt({ now: new Date(Date.now() + ms).toISOString() });
    const early = await drain(later(0), store.places, id, signal);
    assert.deepEqual([early.messages, early.left.map(({ message }) => message)], [[], ['is still being written']]);
    const late = await drain(later(11_000), store.places, id, signal);
    assert.deepEqual([late.messages.map(({ body }) => body), late.left], [[''], []]);
    assert.deepEqual(
      store.box(id)?.filter((name) => name.endsWith('.msg')),
      [],
    );
  });

  test('to who reads no mailbox needs --force, to who is not active --queue, to an active receiver nothing', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const send = async (label: string, ...flags: readonly string[]): Promise<readonly [number | null, string]> => {
      const { code, err } = await run(['mail', 'send', '--id', findCitizenId(label), ...flags, 'x']);
      return [code, err];
    };
    const before = store.tree();
    for (const label of ['agy-direct', 'codex-plain', 'pi-child', 'v1-codex']) {
      for (const flags of [[], ['--queue']]) {
        const [code, err] = await send(label, ...flags);
        assert.equal(code, 1);
        assert.match(err, /reads no mailbox: .*use --force to send it anyway$/m);
      }
    }
    for (const [label, why] of [
      ['cc-never-armed', 'unknown, not-armed'],
      ['cc-delivered', 'gone, owner-dead'],
      ['cc-read', 'unknown, owner-implausible'],
    ] as const) {
      for (const flags of [[], ['--force']]) {
        const [code, err] = await send(label, ...flags);
        assert.equal(code, 1);
        assert.match(
          err,
          new RegExp(`has no active receiver \\(${why}\\): .*use --queue to let the message wait$`, 'm'),
        );
      }
    }
    assert.deepEqual(store.tree(), before);
    assert.deepEqual(await send('codex-plain', '--force'), [0, '']);
    assert.deepEqual(await send('cc-delivered', '--queue'), [0, '']);
    await run(['marker', 'write', 'receiver', '--id', findCitizenId('cc-enqueued'), '--pid', `${process.pid}`]);
    assert.deepEqual(await send('cc-enqueued'), [0, '']);
    assert.deepEqual(
      ['codex-plain', 'cc-delivered', 'cc-enqueued'].map((label) => bodiesIn(store, findCitizenId(label)).length),
      [1, 2, 3],
    );
  });

  test('that is killed before any of its calls never leaves a signal without a body, nor half a body', async () => {
    const id = findCitizenId('cc-never-armed');
    const body = `whole ${'x'.repeat(5000)} body`;
    let steps = 0;
    for (let isDone = false; !isDone; steps += 1) {
      using store = garden('store');
      const env = { NODE_OPTIONS: `--import=${KILLER}`, KILL_AT: `${steps}`, KILL_BELOW: store.store };
      const ended = await gardenCli(store)(['mail', 'send', '--id', id, '--queue', body], { env });
      isDone = ended.code === 0;
      assert.ok(isDone || ended.signal === 'SIGKILL', `step ${steps}: ${ended.code} ${ended.err}`);
      const names = store.box(id) ?? [];
      const bodies = bodiesIn(store, id);
      for (const text of bodies) assert.equal(text, body);
      if (names.includes('inbox.signal')) assert.equal(bodies.length, 1, `step ${steps}: ${names.join()}`);
      if (names.includes('state.json')) assert.equal(bodies.length, 1, `step ${steps}: ${names.join()}`);
      if (isDone) continue;
      enqueue(handAt({ now: '2099-01-01T00:00:00.000Z' }), store.places, id, 'after');
      const { messages } = await drain(handAt(), store.places, id, signal);
      assert.deepEqual(
        messages.map((message) => message.body),
        [...bodies, 'after'],
      );
    }
    assert.ok(steps > 16, `only ${steps} steps`);
  });
});

describe('a mail read that is killed before any of its calls', () => {
  test('leaves every body, unread or archived, and what is unread is read by the next', async () => {
    const id = findCitizenId('cc-mixed');
    let steps = 0;
    for (let isDone = false; !isDone; steps += 1) {
      using store = garden('store');
      const run = gardenCli(store);
      const before = bodiesIn(store, id);
      const env = { NODE_OPTIONS: `--import=${KILLER}`, KILL_AT: `${steps}`, KILL_BELOW: store.store };
      const ended = await run(['mail', 'read', '--id', id, '--as', id], { env });
      isDone = ended.code === 0;
      assert.ok(isDone || ended.signal === 'SIGKILL', `step ${steps}: ${ended.code} ${ended.err}`);
      assert.deepEqual(bodiesIn(store, id), before);
      const unread = (store.box(id) ?? []).filter((name) => /\.msg(\.delivered)?$/.test(name));
      const { messages } = await drain(handAt(), store.places, id, signal);
      assert.deepEqual(
        messages.map(({ file }) => file),
        unread,
      );
    }
    assert.ok(steps > 6, `only ${steps} steps`);
  });
});

describe('garden check 9: a doorbell and readers at once', () => {
  test('every one of 1,000 messages is read exactly once and whole', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const id = findCitizenId('cc-armed-empty');
    const box = join(store.places.mailbox, id);
    const sent = new Map<string, string>();
    let isSent = false;
    const sending = async (): Promise<void> => {
      for (let n = 0; n < 1000; n += 1) {
        const time = new Date(Date.UTC(2026, 5, 14) + n).toISOString();
        const stem = `${time.replaceAll(/[:.]/g, '-')}-${n.toString(16).padStart(6, '0')}`;
        sent.set(stem, `${n} ${'y'.repeat(n)}`);
        writeFileSync(join(box, `${stem}.msg`), sent.get(stem) ?? '');
        writeFileSync(join(box, 'inbox.signal'), `${time}\n`);
        if (n % 4 === 0) await pause(20);
      }
      isSent = true;
    };
    let rang = 0;
    const ringing = async (): Promise<void> => {
      while (!isSent) {
        if (doorbell(store.places, id).exit === 2) rang += 1;
        await pause(7);
      }
    };
    const read: MailboxDrain['messages'][number][] = [];
    const reading = async (): Promise<void> => {
      for (let isLast = false; ; ) {
        const { code, err, json } = await run(['mail', 'read', '--id', id, '--as', id, '--json']);
        const { messages, left } = json<MailboxDrain>();
        assert.ok(code === 0 || left.length > 0, err);
        read.push(...messages);
        if (isLast && messages.length === 0 && left.length === 0) return;
        isLast = isSent;
      }
    };
    await Promise.all([sending(), ringing(), reading(), reading()]);
    assert.equal(read.length, 1000);
    assert.deepEqual(new Map(read.map(({ stem, body }) => [stem, body])), sent);
    assert.ok(rang > 0, 'the bell never rang');
    const names = readdirSync(box).filter((name) => name.includes('.msg'));
    assert.equal(names.length, 1000);
    assert.ok(names.every((name) => name.endsWith('.read')));
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
