import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { programFiles, sourceFile } from './source-file.ts';
import { findOwnTimers } from './timers.ts';

/** Timers outside `core/services`, each with what it is instead of background work. */
const EXCEPTIONS: readonly { readonly why: string; readonly timers: readonly string[] }[] = [
  {
    why: 'the work of a command, which runs no services and ends with this work',
    timers: [
      'app/cli/follow.ts next sets itself again',
      'app/cli/service-run.ts waitForHive sleeps in a loop',
      'app/cli/tray-stream.node.ts streamTray sleeps in a loop',
      'app/follow/fifo.node.ts deliver sleeps in a loop',
      'app/follow/follow-inbox.ts followInbox sleeps in a loop',
      'app/follow/follow-inbox.ts handOver sleeps in a loop',
      'core/events/file-changes.node.ts watchFile repeats by setInterval',
      'core/inbox/decisions/decisions.ts waitForDecision sleeps in a loop',
      'core/inbox/relay/check.ts within sleeps in a loop',
      'core/sources/brainclaw/commands/run.ts appendContinuously sleeps in a loop',
      'core/sources/brainclaw/commands/tail.ts next sets itself again',
    ],
  },
  {
    why: 'a step of one operation, with an end or a deadline',
    timers: [
      'app/cli/daemon/install.ts waitForAnswer sleeps in a loop',
      'app/cli/daemon/simple-requests.ts waitForEnd sleeps in a loop',
      'app/cli/nonblocking-io.node.ts write sleeps in a loop',
      'app/cli/running-tray.node.ts waitUntil sleeps in a loop',
      'app/follow/fifo.node.ts put sleeps in a loop',
      'app/service/daemon-service.ts ask sleeps in a loop',
      'app/service/daemon-service.ts isGoneWithin sleeps in a loop',
      'core/link/server.node.ts acquireLock sleeps in a loop',
      'core/ports/files.ts renamePatientlyAsync sleeps in a loop',
      'core/sinks/stdout.node.ts write sleeps in a loop',
      'core/state/sqlite-peek.node.ts peekSqlite sleeps in a loop',
    ],
  },
  {
    why: 'the retry of one connection, process or file, with waits of its own',
    timers: [
      'app/desktop/open-session-bus.node.ts #lost sets itself again',
      'app/sources/hive-watchers.ts retryUntilListed sleeps in a loop',
      'app/tray/systray2.node.ts #died sets itself again',
      'core/daemon/daemon-log.ts fallBack sets itself again',
      'core/daemon/shim.ts step sets itself again',
      'core/inbox/relay/relay.ts run sleeps in a loop',
      'core/sinks/outbox/publisher.ts markBehind sets itself again',
    ],
  },
  {
    why: 'the time limits of open connections; it ends with the last one',
    timers: ['app/status/connections.node.ts add repeats by setInterval'],
  },
  {
    why: 'one timer for the next moment that a state names, which every change of the state moves',
    timers: [
      'app/notify/announcer.ts #sleepUntil sets itself again',
      'app/tray/render.ts changed sets itself again',
      'app/tray/render.ts waitForTime sets itself again',
      'core/daemon/run.ts arm sets itself again',
      'core/watcher/inbox-poller.ts retryLater sets itself again',
    ],
  },
  {
    why: 'the schedule of the polls, which a service runs and which an interruption cuts',
    timers: [
      'core/watcher/initial-state.ts rescan sleeps in a loop',
      'core/watcher/pending-list.ts rest sleeps in a loop',
    ],
  },
  {
    why: 'what is left of a write; closing the store finishes it in the same turn, which no service can',
    timers: [
      'core/sinks/outbox/journal.ts schedule sets itself again',
      'core/sinks/outbox/publisher.ts schedule sets itself again',
      'core/sinks/outbox/publisher.ts slice sets itself again',
    ],
  },
  {
    why: 'a short wait that gathers what came; it ends when nothing new comes',
    timers: [
      'core/sources/brainclaw/source.ts doubt sets itself again',
      'core/sources/brainclaw/source.ts saveLater sets itself again',
    ],
  },
  { why: 'the clock itself', timers: ['core/ports/clock.node.ts next sets itself again'] },
];

const find = (text: string): readonly string[] => findOwnTimers([sourceFile('core/a.ts', text)]);

describe('timers of background work', () => {
  test('are owned by core/services, and every exception is still one', () => {
    // The page runs in the browser, which has no services.
    const files = programFiles().filter(({ path }) => /^(app|core)\//.test(path));
    const allowed = EXCEPTIONS.flatMap(({ timers }) => timers);
    assert.deepEqual([...new Set(findOwnTimers(files))].toSorted(), allowed.toSorted());
  });

  const bad: readonly (readonly [string, string])[] = [
    ['setInterval(look, 1000);', '(top) repeats by setInterval'],
    ['function beat() { timer = clock.after(5, beat); }', 'beat sets itself again'],
    ['const beat = () => { timer ??= options.clock.after(5, () => beat()); };', 'beat sets itself again'],
    ['function beat() { clock.after(5, next); } function next() { beat(); }', 'beat sets itself again'],
    [
      'function beat() { clock.after(5, () => void probe()); } async function probe() { beat(); }',
      'beat sets itself again',
    ],
    [
      'class A { #lost() { this.#clock.after(5, () => this.#join()); } #join() { this.#lost(); } }',
      '#lost sets itself again',
    ],
    ['function beat() { timers.schedule(5, key, () => beat()); }', 'beat sets itself again'],
    ['const a = { beat() { clock.after(5, () => this.beat()); } };', 'beat sets itself again'],
    ['const beat = () => { setTimeout(beat, 5).unref(); };', 'beat sets itself again'],
    ['async function run() { while (!stop.aborted) await clock.sleep(5, stop); }', 'run sleeps in a loop'],
    ['async function run() { for (;;) { if (a) { await clock.sleep(wait(), stop); } } }', 'run sleeps in a loop'],
    ['async function run() { for (; ; await clock.sleep(5, stop)) if (a()) return; }', 'run sleeps in a loop'],
    ['const a = { async run() { do { await sleep(5); } while (b); } };', 'run sleeps in a loop'],
  ];
  for (const [text, label] of bad) {
    test(`are found in: ${text}`, () => assert.deepEqual(find(text), [`core/a.ts ${label}`]));
  }

  const good: readonly string[] = [
    'function ask() { const limit = clock.after(5, () => fail(late)); }',
    'function draw() { soon ??= clock.after(5, () => { soon = null; write(); }); } function write() { done(); }',
    'const a = { look: () => clock.after(5, () => look.refresh()) };',
    'async function run() { await clock.sleep(5, stop); work(); }',
    'async function run() { while (a) { work(); await clock.sleep(0, stop); } }',
    'function run() { for (const a of all) a.on(async () => { await clock.sleep(5, stop); }); }',
    'const service = every({ name, ms: 5, round, clock });',
  ];
  for (const text of good) {
    test(`are not found in: ${text}`, () => assert.deepEqual(find(text), []));
  }

  test('may be in core/services', () => {
    assert.deepEqual(findOwnTimers([sourceFile('core/services/a.ts', 'setInterval(look, 1000);')]), []);
  });
});
