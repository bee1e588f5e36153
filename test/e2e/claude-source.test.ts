import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { captureTree } from '../conformance/source-store.ts';
import { type ClaudeStore, claudeStore } from '../kit/claude-store.ts';
import { type ClaudeWatcher, type DeliveredEvent, watchClaude } from '../kit/claude-watcher.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { CHANGES, hasStrace, LOCKS, OPENS_TO_WRITE, STARTS, straced } from '../kit/strace.ts';
import { until } from '../kit/until.ts';

const ADA = 'aaaaaaaa';
const BO = `${ADA}-bo`;

let ids = 0;
function mail(text: string, more: object = {}): object {
  ids += 1;
  const id = `20000000-0000-4000-8000-${String(ids).padStart(12, '0')}`;
  return {
    from: 'team-lead',
    text,
    timestamp: new Date().toISOString(),
    msgV: 1,
    msg_id: id,
    type: 'message',
    read: false,
    ...more,
  };
}

/** A lead and a member of its team, and a process that watches them. */
async function open(): Promise<
  AsyncDisposable & {
    readonly store: ClaudeStore;
    readonly watcher: ClaudeWatcher;
    readonly session: ReturnType<ClaudeStore['addSession']>;
  }
> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(claudeStore());
  const session = store.addSession(ADA, { status: 'busy' });
  store.addTeam(ADA, ['bo']);
  const watcher = stack.use(await watchClaude(store.root, store.readProcess));
  await until('both are watched', () => watcher.addresses.length === 2 && watcher.pollMs.length >= 2);
  const all = stack.move();
  return { store, watcher, session, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

const list = (events: readonly DeliveredEvent[]): readonly string[] =>
  events.map(({ event, content }) => (content === null ? event : `${event} ${content}`));

test('claude 2: inbox files that are replaced 250 ms apart give their events in order, and what was taken is read', async () => {
  await using rig = await open();
  const { store, watcher } = rig;
  const texts = ['one', 'two', 'three', 'four', 'five', 'six'];
  for (const text of texts) {
    store.replaceInbox(ADA, 'bo', [mail(text)]);
    await sleep(250);
  }
  store.take(ADA, 'bo');
  await until('the last one is read', () => watcher.events.length === 12);
  const [first, ...rest] = texts;
  assert.deepEqual(list(watcher.events), [`new ${first}`, ...rest.flatMap((text) => [`new ${text}`, 'read']), 'read']);
});

test('claude 3: messages that lie for 150 ms are new once, and then read', async () => {
  await using rig = await open();
  const { store, watcher } = rig;
  const texts = Array.from({ length: 10 }, (_, n) => `message ${n}`);
  for (const text of texts) {
    store.deliver(ADA, 'bo', mail(text));
    await sleep(150);
    store.take(ADA, 'bo');
    await sleep(30);
  }
  await until('the last one is read', () => watcher.events.length === 20);
  assert.deepEqual(
    list(watcher.events),
    texts.flatMap((text) => [`new ${text}`, 'read']),
  );
});

test('claude 4: a session that waits is one action, and cleared within 1 s when it is busy again', async () => {
  await using rig = await open();
  const { watcher, session } = rig;
  session.set({ status: 'waiting', waitingFor: 'permission prompt', statusUpdatedAt: Date.now() });
  await until('the action', () => watcher.events.length === 1);
  const before = performance.now();
  session.set({ status: 'busy', waitingFor: undefined, statusUpdatedAt: Date.now() + 1 });
  await until('it is cleared', () => watcher.events.length === 2);
  assert.deepEqual(list(watcher.events), ['action permission prompt', 'cleared']);
  const ms = (watcher.events[1]?.at ?? Number.POSITIVE_INFINITY) - before;
  assert.ok(ms < 1000, `${ms} ms`);
});

test('claude 10: an inbox of 1.8 MB that is rewritten 10 times per second loses no event and doubles none', async () => {
  await using rig = await open();
  const { store, watcher } = rig;
  const old = Array.from({ length: 1065 }, (_, n) =>
    mail(`old ${n} ${'x'.repeat(1700)}`, { read: true, msg_id: undefined }),
  );
  store.replaceInbox(ADA, 'bo', old);
  const path = join(store.root, 'teams', `session-${ADA}`, 'inboxes', 'bo.json');
  assert.ok(lstatSync(path).size > 1_800_000);
  await until('the old ones are delivered', () => watcher.events.length === 2 * old.length);
  const begun = watcher.events.length;
  const polls = watcher.pollMs.length;
  const all = [...old];
  const texts = Array.from({ length: 30 }, (_, n) => `fresh ${n}`);
  for (const text of texts) {
    // As older versions did: what was noticed stays, with another flag.
    const last = all.at(-1);
    if (last !== undefined) all[all.length - 1] = { ...last, read: true };
    all.push(mail(text, { msg_id: undefined }));
    store.replaceInbox(ADA, 'bo', all);
    await sleep(100);
  }
  store.replaceInbox(
    ADA,
    'bo',
    all.map((entry) => ({ ...entry, read: true })),
  );
  await until('the last one is read', () => watcher.events.length === begun + 60);
  const events = list(watcher.events.slice(begun));
  assert.deepEqual(
    events.filter((event) => event !== 'read'),
    texts.map((text) => `new ${text}`),
  );
  const times = watcher.pollMs.slice(polls).toSorted((a, b) => a - b);
  const usual = times[Math.floor(times.length * 0.9)] ?? Number.POSITIVE_INFINITY;
  assert.ok(usual < 5, `${usual} ms: ${times.join(' ')}`);
});

test('claude 7: while others write, the watcher opens nothing for writing, makes nothing, holds no lock, and no writer fails', async (t) => {
  if (needs(t, hasStrace() ? null : 'strace: apt-get install strace')) return;
  using store = claudeStore();
  using apart = scratch();
  const stat = readFileSync(`/proc/${process.pid}/stat`, 'latin1');
  const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  const session = store.addSession(ADA, { status: 'busy', pid: process.pid, procStart });
  store.addTeam(ADA, ['bo']);
  store.write(`sessions/${process.pid}.0123456789abcdef.key`, 'secret');
  const before = captureTree(store.root);
  const log = apart.at('strace');
  const program = fileURLToPath(import.meta.resolve('../kit/claude-watcher.ts'));
  await using watcher = straced(log, [process.execPath, program, store.root]);
  await until('the watcher', () => watcher.stdout().includes('ready'));
  await sleep(200);
  assert.deepEqual(captureTree(store.root), before, 'reading it all changed nothing');
  const inboxes = join(store.root, 'teams', `session-${ADA}`, 'inboxes');
  let failed = 0;
  for (let n = 0; n < 20; n += 1) {
    const lock = join(inboxes, 'bo.json.lock');
    try {
      mkdirSync(lock);
    } catch {
      failed += 1; // somebody else holds it
    }
    if (n % 2 === 0) store.deliver(ADA, 'bo', mail(`mail ${n}`));
    else store.take(ADA, 'bo');
    session.set({
      status: n % 4 < 2 ? 'busy' : 'waiting',
      waitingFor: 'permission prompt',
      statusUpdatedAt: 1_795_943_472_000 + n,
    });
    rmdirSync(lock);
    await sleep(100);
  }
  assert.equal(failed, 0);
  const quiet = captureTree(store.root);
  await sleep(500);
  assert.deepEqual(captureTree(store.root), quiet);
  await watcher.end();
  const events = JSON.parse(watcher.stdout().split('\n').at(-2) ?? '[]') as readonly DeliveredEvent[];
  const texts = events.filter(({ address }) => address === BO).map(({ event, content }) => `${event} ${content}`);
  assert.deepEqual(
    texts,
    range(10).flatMap((n) => [`new mail ${2 * n}`, 'read null']),
  );
  const calls = readFileSync(log, 'utf8').split('\n');
  const below = calls.filter((call) => call.includes(store.root));
  assert.ok(
    below.some((call) => call.includes('bo.json')),
    'the trace saw how it was read',
  );
  const isChange = (call: string): boolean => CHANGES.test(call) || OPENS_TO_WRITE.test(call) || LOCKS.test(call);
  assert.deepEqual(below.filter(isChange).slice(0, 5), []);
  assert.deepEqual(
    below.filter((call) => /open/.test(call) && /\.key"|\.lock"/.test(call)),
    [],
    'neither keys nor locks are opened',
  );
  assert.ok(calls.some(isChange), 'the trace sees changes where there are some');
  assert.deepEqual(calls.filter((call) => STARTS.test(call)).slice(1, 5), [], 'no program but itself');
});

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
