import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createJumpingClock, type JumpingClock } from '../../../test/conformance/source-rig.ts';
import { captureTree, createGuardedFiles } from '../../../test/conformance/source-store.ts';
import {
  createDelivered,
  listTexts,
  type SinkRecord,
  type WatchedPersona,
  watchPersona,
} from '../../../test/conformance/watch-source.ts';
import { AMQ_EXPECTED, type AmqQueue, amqQueue, formatAmqMessage } from '../../../test/kit/amq-queue.ts';
import { until } from '../../../test/kit/until.ts';
import { exactly, Fault } from '../../model/index.ts';
import { type Files, realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { MailFolderSource } from '../mail-folders/index.ts';
import type { Checkpoint, Persona, PollResult } from '../source.ts';
import { createAmqSource } from './source.ts';

const never = new AbortController().signal;
const UNSET: Checkpoint = { is: 'unset' };

interface QueueRig {
  readonly source: MailFolderSource;
  readonly clock: JumpingClock;
  /** Calls of the disk so far, as `CALL PATH`. */
  readonly calls: string[];
  poll(handle: string, from?: Checkpoint): Promise<PollResult>;
  find(handle: string): Promise<Persona>;
  watch(handle: string): Promise<WatchedPersona & { readonly record: SinkRecord }>;
}

function openRig({ queue }: Pick<AmqQueue, 'queue'>, realFiles?: Files): QueueRig {
  const clock = createJumpingClock(realClock);
  const calls: string[] = [];
  const disk = createRealDisk(silentLog);
  const inner = realFiles ?? disk.files;
  const note = (name: string, path: string): void => void calls.push(`${name} ${path.slice(queue.length + 1)}`);
  const files: Files = {
    ...inner,
    open: (path, flags, mode) => {
      note('open', path);
      return inner.open(path, flags, mode);
    },
    readdir: (path) => {
      note('readdir', path);
      return inner.readdir(path);
    },
  };
  const options = { id: 'amq', queue, suffix: '', clock, log: silentLog, contentChars: 220 };
  const source = createAmqSource({ ...options, disk: { ...disk, files } });
  const find = async (handle: string): Promise<Persona> =>
    (await source.personas(never)).find(({ address }) => address === handle) ?? assert.fail(`${handle} is not listed`);
  return {
    ...{ source, clock, calls, find },
    poll: async (handle, from = UNSET) => await source.poll(source.named(handle), from, never),
    async watch(handle) {
      const record = createDelivered();
      return { ...watchPersona(source, await find(handle), clock, record), record };
    },
  };
}

const listItems = ({ evidence }: PollResult) => (evidence.is === 'set' ? evidence.items : []);
const listEvents = ({ events }: SinkRecord): readonly string[] =>
  events.flatMap((event) => ('id' in event ? [`${event.event} ${event.id}`] : []));

test('amq 1: unread is the number of names in new, those that cannot be parsed included, and tmp is not counted', async () => {
  using store = amqQueue('data');
  const { source, poll } = openRig(store);
  const personas = await source.personas(never);
  assert.deepEqual(personas.map(({ address }) => address).sort(), Object.keys(AMQ_EXPECTED).sort());
  for (const [handle, expected] of Object.entries(AMQ_EXPECTED)) {
    const result = await poll(handle);
    assert.deepEqual(result.unread, exactly(expected.unread), handle);
    if (expected.urgent !== undefined) assert.deepEqual(result.urgent, exactly(expected.urgent), handle);
    const unparsable = listItems(result).filter(({ extra }) => extra.diagnostic === 'unparsable');
    assert.deepEqual(
      unparsable.map(({ key, content }) => [key, content]),
      (expected.unparsable ?? []).map((id) => [`${id}.md`, '']),
    );
  }
  assert.deepEqual(
    personas.filter(({ label }) => label === 'you').map(({ id }) => id),
    ['amq-user'],
  );
  assert.match(source.defects.join('\n'), /0000aa04\.md: cannot be parsed/);
  const items = listItems(await poll('claude')).filter(({ extra }) => extra.diagnostic === undefined);
  assert.deepEqual(
    items.map(({ appeared, from, created, content, extra }) => [appeared, from, created, content, extra.subject]),
    [
      ['handoff', 'codex', '2026-08-22T10:00:01.000000+00:00', 'Please look at send.go', 'Review send.go'],
      ['new', 'codex', '2026-08-22T10:00:02.500000+00:00', 'May I?', 'Drop table?'],
    ],
  );
});

test('amq 2: a rename from new to cur is read once, with the id of the message', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const rig = openRig(store);
  const { poll, record } = await rig.watch('ada');
  const name = store.send('ada', { header: { kind: 'todo', subject: 'do it' } });
  await poll();
  store.claim('ada', name);
  for (let round = 0; round < 3; round += 1) await poll();
  assert.deepEqual(listEvents(record), ['assigned 1', 'read 1']);
  assert.deepEqual(
    record.events.filter(({ event }) => event === 'read').map((event) => 'subject' in event && event.subject),
    ['do it'],
  );
  rmSync(store.at('ada', 'inbox', 'cur', name));
  for (let round = 0; round < 2; round += 1) await poll();
  assert.deepEqual(listEvents(record), ['assigned 1', 'read 1', 'gone 1']);
});

test('amq 3: while writers deliver and another drains, each name is new once and read once', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const rig = openRig(store);
  const { poll, record } = await rig.watch('ada');
  await poll();
  const bodies: string[] = [];
  let isOver = false;
  const work = async (): Promise<void> => {
    for (let n = 0; n < 300; n += 1) {
      const body = `message ${n}`;
      store.send('ada', { body });
      bodies.push(body);
      if (n % 3 === 0) store.drain('ada');
      if (n % 5 === 0) await sleep(0);
    }
    store.drain('ada');
    isOver = true;
  };
  const working = work();
  while (!isOver) {
    await poll();
    await sleep(0);
  }
  await working;
  for (let round = 0; round < 12; round += 1) await poll();
  assert.deepEqual(listTexts(record).toSorted(), bodies.toSorted());
  assert.equal(new Set(listEvents(record)).size, 600);
  assert.equal(listEvents(record).filter((event) => event.startsWith('read ')).length, 300);
});

test('amq 4: a rename between the two listings of a poll is neither gone nor a second new', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const { files } = createGuardedFiles();
  let between: (() => void) | null = null;
  const moved: Files = {
    ...files,
    readdir(path) {
      const names = files.readdir(path);
      if (path.endsWith('/new')) {
        between?.();
        between = null;
      }
      return names;
    },
  };
  const rig = openRig(store, moved);
  const { poll, record } = await rig.watch('ada');
  const first = store.send('ada', { body: 'one' });
  await poll();
  between = () => store.claim('ada', first); // it was known
  await poll();
  const second = store.send('ada', { body: 'two' });
  between = () => store.claim('ada', second); // it was never seen before
  await poll();
  for (let round = 0; round < 3; round += 1) await poll();
  between = () => renameSync(store.at('ada', 'inbox', 'cur', first), store.at('ada', 'inbox', 'new', first)); // and back
  await poll();
  await poll();
  assert.deepEqual(listEvents(record), ['new 1', 'read 1', 'new 2', 'read 2']);
});

test('amq 5: looking writes, renames, removes and touches nothing', async () => {
  using store = amqQueue('data');
  const before = captureTree(store.project);
  const rig = openRig(store);
  using _ = rig.source.hints?.(() => {});
  for (const handle of Object.keys(AMQ_EXPECTED)) for (let round = 0; round < 3; round += 1) await rig.poll(handle);
  await rig.source[Symbol.asyncDispose]();
  assert.deepEqual(captureTree(store.project), before);
  assert.ok(!rig.calls.some((call) => call.includes('tmp') || call.includes('receipts')), 'they are not even listed');
});

test('amq 6: a symlink in new is never opened: it counts, and is a diagnostic', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const target = join(store.project, 'secret.md');
  writeFileSync(target, formatAmqMessage({ body: 'secret' }));
  symlinkSync(target, store.at('ada', 'inbox', 'new', 'link.md'));
  mkdirSync(store.at('ada', 'inbox', 'new', 'folder.md'));
  const rig = openRig(store);
  const result = await rig.poll('ada');
  assert.deepEqual(result.unread, exactly(2));
  assert.deepEqual(
    listItems(result).map(({ key, content, extra }) => [key, content, extra.diagnostic]),
    [
      ['folder.md', '', 'not-a-file'],
      ['link.md', '', 'symlink'],
    ],
  );
  assert.deepEqual(
    rig.calls.filter((call) => call.startsWith('open ') && !call.endsWith('presence.json')),
    [],
  );
  assert.match(rig.source.defects.join('\n'), /link\.md: is a symlink, which is never opened/);
});

test('amq 7: a file over 10 MiB is unread with empty content and is not opened', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const huge = store.deliver(
    'ada',
    Buffer.concat([Buffer.from(formatAmqMessage({ body: 'x' })), Buffer.alloc(10_485_760)]),
  );
  const large = store.deliver('ada', formatAmqMessage({ body: 'y'.repeat(1_000_000) }));
  const rig = openRig(store);
  const result = await rig.poll('ada');
  assert.deepEqual(result.unread, exactly(2));
  const items = new Map(listItems(result).map((item) => [item.key, item]));
  assert.deepEqual([items.get(huge)?.content, items.get(huge)?.extra.diagnostic], ['', 'too-large']);
  assert.equal(items.get(large)?.content, 'y'.repeat(220));
  assert.ok(!rig.calls.includes(`open agents/ada/inbox/new/${huge}`));
});

test('amq 7: with 20,000 files in cur a poll costs one listing of new', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const { files } = createGuardedFiles();
  const names = Array.from({ length: 20_000 }, (_, n) => `2026-08-21T11-00-00.000Z_pid1_${n}.md`);
  const readdir: Files['readdir'] = (path) => (path.endsWith('/cur') ? names : files.readdir(path));
  const rig = openRig(store, { ...files, readdir });
  const { poll, watcher } = await rig.watch('ada');
  await poll();
  rig.clock.jump(2000);
  await poll();
  rig.calls.length = 0;
  for (let round = 0; round < 5; round += 1) {
    await poll();
    assert.deepEqual(rig.calls.splice(0), ['readdir agents/ada/inbox/new']);
  }
  store.send('ada');
  await poll();
  rig.clock.jump(2000);
  await poll();
  assert.equal(rig.calls.filter((call) => call.startsWith('readdir agents/ada/inbox/cur')).length, 0);
  const { checkpoint } = watcher.state;
  assert.equal(checkpoint.is === 'known' ? checkpoint.keys.length : -1, 1, 'what was read before is not remembered');
});

test('amq 8: CRLF and U+2028 are parsed, and the subject is cleaned', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const text = formatAmqMessage({
    header: { subject: 'one\u2028two\nthree\u0007', from: 'c\u0000y' },
    body: 'first\u2028line\nsecond',
  });
  store.deliver('ada', text.replaceAll('\n', '\r\n'));
  const [item] = listItems(await openRig(store).poll('ada'));
  assert.deepEqual(
    [item?.extra.subject, item?.from, item?.content, item?.extra.diagnostic],
    ['one two three', 'cy', 'first\u2028line\r\nsecond', undefined],
  );
});

test('amq 9: a queue that is made anew is another set, and nothing that is known is delivered again', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const rig = openRig(store);
  const { poll, record } = await rig.watch('ada');
  const both = store.send('ada', { body: 'in both' });
  store.send('ada', { body: 'old' });
  await poll();
  const bytes = readFileSync(store.at('ada', 'inbox', 'new', both));
  const before = await rig.poll('ada');
  rmSync(store.queue, { recursive: true });
  store.addAgent('ada');
  writeFileSync(store.at('ada', 'inbox', 'new', both), bytes);
  store.send('ada', { body: 'of the new queue' });
  const after = await rig.poll('ada');
  assert.ok(before.evidence.is === 'set' && after.evidence.is === 'set');
  assert.notEqual(after.evidence.epoch, before.evidence.epoch);
  await poll();
  await poll();
  assert.deepEqual(listTexts(record), ['in both', 'old']);
  assert.ok(!listEvents(record).some((event) => event.startsWith('gone')));
  store.send('ada', { body: 'later' });
  await poll();
  assert.deepEqual(listTexts(record), ['in both', 'old', 'later']);
});

test('amq 10: a half-written presence.json makes the agent unknown and nothing DOWN; agents without permission is DOWN', async () => {
  using store = amqQueue('data');
  const { files, deny } = createGuardedFiles();
  const rig = openRig(store, files);
  const path = store.at('claude', 'presence.json');
  const whole = readFileSync(path, 'utf8');
  for (let size = 0; size < whole.length; size += 7) {
    writeFileSync(path, whole.slice(0, size));
    const { agentState, unread } = await rig.poll('claude');
    assert.deepEqual([agentState.is, unread], ['unknown', exactly(3)]);
  }
  deny(join(store.queue, 'agents'));
  for (const call of [() => rig.source.personas(never), () => rig.poll('claude')])
    await assert.rejects(call, (error) => error instanceof Fault && error.scope.is === 'source');
  deny();
  assert.deepEqual((await rig.poll('claude')).unread, exactly(3));
});

test('presence says what the agent does: seen within 2 minutes it is live, with its status as the reason', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const rig = openRig(store);
  const write = (presence: object): void => writeFileSync(store.at('ada', 'presence.json'), JSON.stringify(presence));
  const woken: string[] = [];
  using _ = rig.source.hints?.((address) => void woken.push(address));
  assert.deepEqual((await rig.poll('ada')).agentState, { is: 'unknown', why: 'not-reported' });
  const seen = new Date(rig.clock.now()).toISOString();
  write({ schema: 1, status: 'reviewing\nsend.go', last_seen: seen });
  assert.deepEqual((await rig.poll('ada')).agentState, { is: 'live', why: 'reviewing send.go' });
  rig.clock.jump(120_001);
  assert.deepEqual((await rig.poll('ada')).agentState, { is: 'unknown', why: 'reviewing send.go' });
  write({ schema: 1, status: 'idle', last_seen: seen, doorbell_parked: true, doorbell_attempts: 7 });
  assert.deepEqual((await rig.poll('ada')).agentState, { is: 'stalled', why: 'doorbell-parked' });
});

test('a message to the person that asks something is a question and urgent, whatever its priority', async () => {
  using store = amqQueue('empty');
  store.addAgent('user');
  for (const kind of ['question', 'decision', 'status']) store.send('user', { header: { kind } });
  store.send('user', { header: { kind: 'status', priority: 'urgent' } });
  const result = await openRig(store).poll('user');
  assert.deepEqual([result.unread, result.urgent], [exactly(4), exactly(3)]);
  assert.deepEqual(
    listItems(result).map(({ appeared, extra }) => `${appeared} ${extra.kind}`),
    ['question question', 'question decision', 'new status', 'new status'],
  );
});

test('messages that come together are ordered by created to the nanosecond, then by name', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const times = ['00.000000002Z', '00.000000001Z', '00Z', '00.000000001Z'];
  for (const [n, time] of times.entries())
    store.send('ada', { header: { created: `2026-08-22T11:00:${time}` }, body: `${n}` });
  store.send('ada', { header: { created: '2026-08-22T12:59:00+02:00' }, body: 'with an offset' });
  const result = await openRig(store).poll('ada');
  assert.deepEqual(
    listItems(result).map(({ content }) => content),
    ['with an offset', '2', '1', '3', '0'],
  );
});

test('a message that AMQ moved to its dead letter queue is gone, and the reason is named', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const rig = openRig(store);
  const { poll, record } = await rig.watch('ada');
  const name = store.deliver('ada', '---json\n{ "schema": 1');
  await poll();
  mkdirSync(store.at('ada', 'dlq', 'new'), { recursive: true });
  const envelope = {
    schema: 'amq/dlq/v1',
    original_file: name,
    failure_reason: 'parse_error',
    failure_detail: 'no end',
  };
  writeFileSync(store.at('ada', 'dlq', 'new', 'dlq_1_2_ab.md'), `---\n${JSON.stringify(envelope)}\n---\nold`);
  rmSync(store.at('ada', 'inbox', 'new', name));
  await poll();
  await poll();
  assert.deepEqual(listEvents(record), ['new 1', 'gone 1']);
  assert.deepEqual(rig.source.defects, [`${name}: is in the dead letter queue: parse_error: no end`]);
});

test('a name in new and in cur counts as unread once, with a diagnostic', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const rig = openRig(store);
  const { poll, record } = await rig.watch('ada');
  const name = store.send('ada');
  writeFileSync(store.at('ada', 'inbox', 'cur', name), 'x');
  await poll();
  await poll();
  assert.deepEqual(listEvents(record), ['new 1']);
  assert.deepEqual((await rig.poll('ada')).unread, exactly(1));
  assert.match(rig.source.defects.join('\n'), /is unread and read at the same time/);
});

test('after 1,000 read messages the oldest leave the set without an event', async () => {
  using store = amqQueue('empty');
  store.addAgent('ada');
  const rig = openRig(store);
  const { poll, record, watcher } = await rig.watch('ada');
  await poll();
  for (let n = 0; n < 1040; n += 1) store.send('ada', { body: `${n}` });
  for (let round = 0; round < 12; round += 1) await poll();
  store.drain('ada');
  for (let round = 0; round < 20; round += 1) await poll();
  const { checkpoint } = watcher.state;
  assert.equal(checkpoint.is === 'known' ? checkpoint.keys.length : -1, 1000);
  const counts = new Map<string, number>();
  for (const { event } of record.events) counts.set(event, (counts.get(event) ?? 0) + 1);
  assert.deepEqual([counts.get('new'), counts.get('read'), counts.get('gone')], [1040, 1040, undefined]);
});

test('an agent whose folders are made one after the other is watched as soon as they are there', async () => {
  using store = amqQueue('empty');
  const rig = openRig(store);
  const woken: string[] = [];
  using _ = rig.source.hints?.((address) => void woken.push(address));
  const pollWhenWoken = async (): Promise<void> => {
    if (woken.splice(0).includes('ada')) await rig.poll('ada');
  };
  for (const parts of [[], ['inbox'], ['inbox', 'new'], ['inbox', 'cur'], ['inbox', 'tmp']]) {
    mkdirSync(store.at('ada', ...parts));
    await sleep(50);
    await pollWhenWoken();
  }
  await sleep(300);
  await pollWhenWoken();
  await sleep(50);
  woken.length = 0;
  const sent = performance.now();
  store.send('ada');
  await until('the hint', () => woken.includes('ada'), 1000);
  assert.ok(performance.now() - sent < 1000);
  assert.deepEqual((await rig.poll('ada')).unread, exactly(1));
});
