import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Board, createBoard, type Fact } from '../../core/board/index.ts';
import { type AgentState, exactly, Fault } from '../../core/model/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { type FakeClock, fakeClock } from '../../test/kit/fake-clock.ts';
import { createDecision } from '../../test/kit/notify-scene.ts';
import { openAnnouncementStore } from './announcement-store.node.ts';
import {
  type Channel,
  type ChannelListener,
  type ConfiguredChannel,
  createDesktopChannel,
  createOffBackend,
  type Notification,
  type NotificationAction,
  type NotificationKey,
} from './channels/index.ts';
import { type Notifications, startNotify } from './start-notify.ts';
import type { AnnouncementStore, SavedAnnouncements } from './state.ts';

const NOTHING_SAVED: SavedAnnouncements = { outages: {}, decisions: {}, waits: {} };
const AGENT_STATE = { is: 'unknown', why: 'not-reported' } as const;

/** A desktop that a test can break, hold up, and click on. */
class FakeDesktop implements ConfiguredChannel {
  readonly name: string;
  readonly place: ConfiguredChannel['place'];

  constructor(name = 'desktop', place: ConfiguredChannel['place'] = 'desktop') {
    this.name = name;
    this.place = place;
  }

  readonly calls: string[] = [];
  readonly titles = new Map<NotificationKey, string>();
  answer: 'at once' | 'refuses' | 'never' = 'at once';
  /** What a banner waits for. */
  hold: Promise<void> = Promise.resolve();
  /** Runs when a banner was taken, before the answer reaches us. */
  onShown: () => void = () => {};
  onBanner: (banner: Notification) => void = () => {};
  listener: ChannelListener | null = null;

  readonly open = (listener: ChannelListener): Channel => {
    this.listener = listener;
    listener.state({ is: 'ready', by: 'a fake' });
    return {
      name: this.name,
      can: { replace: true, withdraw: true, buttons: 3 },
      send: async (banner: Notification) => {
        await this.hold;
        if (this.listener !== listener) return new Promise(() => {}); // of a process that was killed
        this.calls.push(`show ${banner.title}`);
        this.onBanner(banner);
        if (this.answer === 'never') return new Promise(() => {});
        if (this.answer === 'refuses') throw new Error('no room on the wall');
        this.titles.set(banner.key, banner.title);
        this.onShown();
      },
      withdraw: async (key) => {
        this.calls.push(`withdraw ${key}`);
        this.titles.delete(key);
      },
      close: async () => void this.calls.push('closed'),
    };
  };
}

function createOff(why: string): ConfiguredChannel {
  const open = (listener: ChannelListener): Channel => createDesktopChannel(createOffBackend(why), listener);
  return { name: 'desktop', place: 'desktop', open };
}

interface Rig {
  readonly clock: FakeClock;
  readonly desktop: FakeDesktop;
  readonly board: Board;
  readonly clicks: NotificationAction[];
  readonly lines: string[];
  /** What `start` started last. */
  readonly running: Notifications;
  readonly path: string;
  /** A process: a board and a database connection of its own. `with` comes before the notifications start. */
  start(before?: (board: Board) => void, keep?: (saved: AnnouncementStore) => AnnouncementStore): Board;
  /** The end without a last word. */
  kill(): void;
  stop(): Promise<void>;
}

function rig(t: TestContext, ...others: readonly FakeDesktop[]): Rig {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hivebar-notify-'));
  const path = join(folder, 'hivebar.sqlite');
  const clock = fakeClock();
  const desktop = new FakeDesktop();
  const desktops = [desktop, ...others];
  const clicks: NotificationAction[] = [];
  const lines: string[] = [];
  const say =
    (level: string): Log['info'] =>
    (line, about) =>
      void lines.push(`${level} ${line}${about === undefined ? '' : ` ${JSON.stringify(about)}`}`);
  const log: Log = { info: say('info'), warn: say('warn'), error: say('error') };
  let board: Board | null = null;
  let running: Notifications | null = null;
  let db: Disposable | null = null;
  const stop = async (): Promise<void> => {
    await Promise.all([running?.[Symbol.asyncDispose](), clock.advance(200)]);
    running = null;
    db?.[Symbol.dispose]();
    db = null;
  };
  t.after(async () => {
    await stop();
    fs.rmSync(folder, { recursive: true });
    assert.equal(lines.filter((line) => line.startsWith('error')).length, 0, lines.join('\n'));
  });
  return {
    clock,
    desktop,
    clicks,
    lines,
    path,
    get board() {
      assert.ok(board !== null);
      return board;
    },
    get running() {
      assert.ok(running !== null);
      return running;
    },
    start: (before, keep = (saved) => saved) => {
      const connection = openDatabase(path);
      db = connection;
      board = createBoard(log);
      const facts: Fact[] = [];
      const early = board.facts((fact) => {
        if (fact.is === 'delivered') facts.push(fact);
      });
      before?.(board);
      early[Symbol.dispose]();
      const announcements = keep(openAnnouncementStore(connection));
      running = startNotify({
        board,
        delivered: facts,
        channels: desktops,
        announcements,
        act: (wanted) => void clicks.push(wanted),
        clock,
        log,
      });
      return board;
    },
    kill: () => {
      db?.[Symbol.dispose](); // whatever it still does, it can write nothing any more
      db = null;
      for (const each of desktops) each.listener = null;
      running = null;
    },
    stop,
  };
}

function join_(board: Board, clock: FakeClock, ...personas: string[]): void {
  for (const persona of personas) {
    board.put({
      is: 'joined',
      at: clock.now(),
      persona,
      source: 'kijito',
      address: persona,
      label: persona,
      stem: persona,
      eventsFile: null,
      lastEventId: null,
      staleAfterMs: 60_000,
    });
  }
}

function toPolled(board: Board, clock: FakeClock, persona: string, unread = 0): void {
  const at = clock.now();
  const levels = { unread: exactly(unread), urgent: exactly(0), agentState: AGENT_STATE, cursor: 0 };
  board.put({ is: 'polled', at, persona, health: { is: 'up', since: at }, ...levels });
}

function mail(board: Board, clock: FakeClock, persona: string, id: number): void {
  toPolled(board, clock, persona, id);
  const event = { event: 'new', source: 'kijito-inbox', ts: '', persona, event_id: `${persona}:new:${id}` } as const;
  const delivered = { ...event, wake_class: 'mail', id, from: 'bob', created: '', content: `mail ${id}` } as const;
  board.put({ is: 'delivered', at: clock.now(), persona, events: [delivered] });
}

function down(clock: FakeClock, persona: string): Fact {
  const fault = new Fault('refused', 'http://127.0.0.1:7474 refused', { is: 'source', key: 'kijito' });
  const at = clock.now();
  return { is: 'failed', at, persona, health: { is: 'down', since: at, failures: 3, why: 'refused' }, fault };
}

test('mail on the board is a banner; a click opens its persona, with the token, and takes the banner down', async (t) => {
  const { clock, desktop, clicks, start } = rig(t);
  const board = start();
  join_(board, clock, 'ada');
  mail(board, clock, 'ada', 1);
  await clock.advance(10);
  assert.deepEqual(desktop.calls, ['show ada: 1 new']);
  desktop.listener?.clicked('mail:ada', 'banner', 'token-1');
  await clock.advance(10);
  assert.equal(desktop.calls.at(-1), 'withdraw mail:ada');
  assert.deepEqual(clicks, [{ name: 'open', params: { persona: 'ada', activationToken: 'token-1' } }]);
  await clock.advance(40_000);
  mail(board, clock, 'ada', 2);
  await clock.advance(10);
  assert.equal(desktop.calls.at(-1), 'show ada: 1 new', 'what was clicked is not counted again');
});

test('counts that a pending list repeats count again once something else came of the persona', async (t) => {
  const { clock, desktop, start } = rig(t);
  const board = start();
  const read = [{ persona: 'ada', unread: exactly(0), urgent: exactly(0) }];
  const repeatList = async (): Promise<void> => {
    board.put({ is: 'counted', at: clock.now(), counts: read });
    await clock.advance(10);
  };
  join_(board, clock, 'ada');
  mail(board, clock, 'ada', 1);
  await clock.advance(10);
  await repeatList();
  assert.deepEqual(desktop.calls, ['show ada: 1 new', 'withdraw mail:ada']);
  await repeatList();
  await clock.advance(40_000);
  mail(board, clock, 'ada', 2);
  await clock.advance(10);
  await repeatList();
  assert.deepEqual(desktop.calls.slice(2), ['show ada: 1 new', 'withdraw mail:ada']);
});

test('what the desktop says of itself is on the board', async (t) => {
  const { clock, desktop, lines, start } = rig(t);
  const board = start();
  assert.equal(board.snapshot().notifications, 'a fake');
  desktop.listener?.state({ is: 'unavailable', why: 'no notification daemon' });
  assert.equal(board.snapshot().notifications, 'unavailable (no notification daemon)');
  desktop.answer = 'refuses';
  join_(board, clock, 'ada');
  for (let i = 1; i <= 50; i += 1) {
    mail(board, clock, 'ada', i);
    await clock.advance(10_000);
  }
  assert.deepEqual(lines, ['warn notifications: unavailable (no notification daemon)'], 'S19 one warning, not 50');
  desktop.answer = 'at once';
  desktop.listener?.state({ is: 'ready', by: 'a daemon' });
  await clock.advance(10);
  assert.equal(desktop.calls.at(-1), 'show ada: 50 new');
});

test('without any desktop all goes on, with one line', async (t) => {
  const lines: string[] = [];
  const clock = fakeClock();
  const board = createBoard();
  const log: Log = { info: (line) => void lines.push(line), warn: (line) => void lines.push(line), error: () => {} };
  const announcements: AnnouncementStore = { load: () => NOTHING_SAVED, save: () => {} };
  const running = startNotify({
    board,
    delivered: [],
    channels: [createOff('no session bus')],
    announcements,
    act: () => {},
    clock,
    log,
  });
  join_(board, clock, 'ada');
  for (let i = 1; i <= 50; i += 1) {
    mail(board, clock, 'ada', i);
    await clock.advance(5000);
  }
  assert.deepEqual(lines, ['notifications: off (no session bus)']);
  assert.equal(board.snapshot().notifications, 'off (no session bus)');
  await Promise.all([running[Symbol.asyncDispose](), clock.advance(200)]);
  assert.equal(clock.waiting, 0, t.name);
});

test('S3: announced, killed, started, still down: nothing; recovered while away: told', async (t) => {
  const { clock, desktop, start, kill } = rig(t);
  let board = start();
  join_(board, clock, 'ada', 'bo');
  board.put(down(clock, 'ada'));
  board.put(down(clock, 'bo'));
  await clock.advance(5000);
  assert.deepEqual(desktop.calls, ['show kijito down: 2 personas']);
  kill();
  board = start();
  join_(board, clock, 'ada', 'bo');
  board.put(down(clock, 'ada'));
  board.put(down(clock, 'bo'));
  await clock.advance(60_000);
  assert.deepEqual(desktop.calls, ['show kijito down: 2 personas']);
  kill();
  board = start();
  join_(board, clock, 'ada', 'bo');
  toPolled(board, clock, 'ada');
  toPolled(board, clock, 'bo');
  await clock.advance(5000);
  assert.deepEqual(desktop.calls, ['show kijito down: 2 personas', 'show kijito is back: 2 personas']);
  kill();
  board = start();
  join_(board, clock, 'ada', 'bo');
  board.put(down(clock, 'ada'));
  await clock.advance(5000);
  assert.equal(desktop.calls[2], 'show kijito down: ada', 'and the next outage is news again');
});

test('killed between banner and database: the banner comes once more, and is never lost', async (t) => {
  const { clock, desktop, start, kill } = rig(t);
  let board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  desktop.onShown = kill;
  await clock.advance(5000);
  desktop.onShown = () => {};
  board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  await clock.advance(5000);
  assert.deepEqual(desktop.calls, ['show kijito down: ada', 'show kijito down: ada']);
});

test('a refused outage is not taken as announced: it is told when the desktop is there, also after a restart', async (t) => {
  const { clock, desktop, lines, start, kill } = rig(t);
  desktop.answer = 'refuses';
  let board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  await clock.advance(5000);
  assert.match(lines[0] ?? '', /^warn a notification could not be shown.*no room on the wall/);
  kill();
  desktop.answer = 'at once';
  board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  await clock.advance(5000);
  assert.deepEqual([...desktop.titles.values()], ['kijito down: ada']);
});

test('a storm is left alone until its lines are written, then it is five banners, and one for the rest', async (t) => {
  const { clock, desktop, start } = rig(t);
  const board = start();
  const personas = Array.from({ length: 100 }, (_, i) => `p${i}`);
  join_(board, clock, ...personas);
  for (const p of personas) mail(board, clock, p, 1);
  await clock.advance(30);
  assert.deepEqual(desktop.calls, []);
  await clock.advance(30);
  assert.equal(desktop.calls.length, 5);
  await clock.advance(1000);
  assert.deepEqual(desktop.calls.slice(5), ['show 95 more messages for 95 personas']);
});

test('mail that was told before it listened is shown, but not what was read meanwhile', async (t) => {
  const { clock, desktop, start } = rig(t);
  start((board) => {
    join_(board, clock, 'ada', 'bo');
    mail(board, clock, 'ada', 1);
    mail(board, clock, 'bo', 1);
    toPolled(board, clock, 'bo', 0);
  });
  await clock.advance(2000);
  assert.deepEqual(desktop.calls, ['show ada: 1 new']);
});

test('a desktop that never answers has refused after 10 s, and holds nothing up', async (t) => {
  const { clock, desktop, lines, start } = rig(t);
  desktop.answer = 'never';
  const board = start();
  join_(board, clock, 'ada');
  mail(board, clock, 'ada', 1);
  await clock.advance(10_020);
  assert.match(lines[0] ?? '', /the desktop did not answer within 10 s/);
  desktop.answer = 'at once';
  await clock.advance(60_000);
  assert.deepEqual(desktop.calls, ['show ada: 1 new', 'show ada: 1 new']);
});

test('what is read is withdrawn, never before its banner was shown', async (t) => {
  const { clock, desktop, start } = rig(t);
  const board = start();
  join_(board, clock, 'ada');
  const gate = Promise.withResolvers<void>();
  desktop.hold = gate.promise;
  mail(board, clock, 'ada', 1);
  await clock.advance(10);
  toPolled(board, clock, 'ada', 0);
  await clock.advance(10);
  assert.deepEqual(desktop.calls, []);
  gate.resolve();
  await clock.advance(10);
  assert.deepEqual(desktop.calls, ['show ada: 1 new', 'withdraw mail:ada']);
});

test('it does not matter whether the board or the notifications were there first', async (t) => {
  const { clock, desktop, start } = rig(t);
  const board = start((early) => {
    early.put({ is: 'muted', at: clock.now(), persona: 'cy', until: { is: 'forever' } });
    join_(early, clock, 'ada', 'bo');
    toPolled(early, clock, 'ada', 7);
    early.put(down(clock, 'bo'));
  });
  join_(board, clock, 'cy');
  mail(board, clock, 'cy', 1);
  await clock.advance(5000);
  assert.deepEqual(desktop.calls, ['show kijito down: bo'], 'cy was muted before anybody listened');
  mail(board, clock, 'ada', 8);
  await clock.advance(10);
  assert.equal(desktop.calls.at(-1), 'show ada: 1 new');
});

test('a full disk costs the memory of what was announced, nothing else', async (t) => {
  const { clock, desktop, lines, start } = rig(t);
  const board = start(undefined, ({ load }) => ({
    load,
    save: () => {
      throw new Fault('no-space', 'no space left', { is: 'machine', key: 'database' });
    },
  }));
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  await clock.advance(5000);
  toPolled(board, clock, 'ada');
  await clock.advance(5000);
  assert.deepEqual(desktop.calls, ['show kijito down: ada', 'show kijito is back: ada']);
  assert.match(lines[0] ?? '', /^warn announcements could not be saved, so a restart may repeat them/);
  assert.equal(lines.filter((line) => line.startsWith('warn announcements')).length, 1, 'the same cause is told once');
});

test('a button asks for its action, and takes the banner down', async (t) => {
  const { clock, desktop, clicks, start } = rig(t);
  const board = start();
  join_(board, clock, 'ada');
  mail(board, clock, 'ada', 1);
  await clock.advance(10);
  desktop.listener?.clicked('mail:ada', 'mute', null);
  desktop.listener?.clicked('mail:ada', 'read', null);
  desktop.listener?.clicked('mail:nobody', 'banner', null);
  await clock.advance(10);
  assert.deepEqual(clicks, [{ name: 'mute', params: { persona: 'ada', minutes: 60 } }], 'and only for what it has');
  assert.equal(desktop.calls.at(-1), 'withdraw mail:ada');
});

test('hidden personas and quiet hours are known from the board, whoever was there first', async (t) => {
  const { clock, desktop, start } = rig(t);
  const board = start((early) => {
    early.put({ is: 'hidden', at: clock.now(), persona: 'cy', hidden: true });
    early.put({ is: 'hidden', at: clock.now(), persona: 'ada', hidden: true });
    early.put({ is: 'quiet', at: clock.now(), on: true, until: { is: 'at', at: clock.now() + 60_000 } });
    join_(early, clock, 'ada', 'bo');
  });
  join_(board, clock, 'cy');
  for (const p of ['ada', 'bo', 'cy']) mail(board, clock, p, 1);
  await clock.advance(50_000);
  assert.deepEqual(desktop.calls, []);
  await clock.advance(20_000);
  assert.deepEqual(desktop.calls, ['show bo: 1 new']);
});

test('back in a mute is remembered over a restart, with the time it took', async (t) => {
  const { clock, desktop, start, kill } = rig(t);
  const mute = (board: Board, ms: number): void =>
    board.put({ is: 'muted', at: clock.now(), persona: 'ada', until: { is: 'at', at: clock.now() + ms } });
  let board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  await clock.advance(60_000);
  mute(board, 3600_000);
  toPolled(board, clock, 'ada');
  await clock.advance(600_000);
  assert.deepEqual(desktop.calls, ['show kijito down: ada', 'withdraw outage:kijito']);
  kill();
  const bodies: string[] = [];
  desktop.onBanner = ({ body }) => void bodies.push(body);
  board = start((early) => mute(early, 3000_000));
  join_(board, clock, 'ada');
  toPolled(board, clock, 'ada');
  await clock.advance(2000_000);
  assert.equal(desktop.calls.length, 2);
  await clock.advance(1100_000);
  assert.equal(desktop.calls[2], 'show kijito is back: ada');
  assert.deepEqual(bodies, ['Down for 1 min, back for 59 min.']);
});

test('a banner to try it out: what the desktop answered, never that it was seen', async (t) => {
  const made = rig(t);
  const { clock, desktop, clicks, lines } = made;
  const board = made.start();
  const notify = (): Notifications => made.running;
  assert.deepEqual(await notify().test(), { taken: true, by: 'a fake', channels: ['desktop'], silent: null });
  assert.deepEqual(desktop.calls, ['show Hivebar test']);
  desktop.listener?.clicked('test', 'banner', null);
  assert.deepEqual(clicks, [{ name: 'page', params: {} }]);
  board.put({ is: 'quiet', at: clock.now(), on: true, until: { is: 'forever' } });
  assert.deepEqual(await notify().test(), { taken: true, by: 'a fake', channels: ['desktop'], silent: 'quiet-hours' });
  board.put({ is: 'muted', at: clock.now(), persona: null, until: { is: 'forever' } });
  desktop.answer = 'refuses';
  assert.deepEqual(await notify().test(), {
    taken: false,
    by: 'a fake',
    channels: ['desktop'],
    silent: 'paused',
    why: 'no room on the wall',
  });
  desktop.answer = 'never';
  const late = notify().test();
  await clock.advance(10_001);
  assert.match(JSON.stringify(await late), /did not answer within 10 s/);
  assert.deepEqual(lines, [], 'who asked is told; the log is not');
});

test('a click that came to nothing: why, in one banner, also while all is quiet; nothing where no banner can be shown', async (t) => {
  const made = rig(t);
  const { clock, desktop, lines } = made;
  const board = made.start();
  board.put({ is: 'muted', at: clock.now(), persona: null, until: { is: 'forever' } });
  made.running.failed('decide', 'decision 3 is answered: see hivebar decision show 3');
  await clock.advance(0);
  assert.deepEqual(desktop.calls, ['show Your answer was not accepted']);
  made.running.failed('quit', 'it <b>can</b> not');
  await clock.advance(0);
  assert.deepEqual(desktop.calls.slice(1), ['show quit failed']);
  desktop.answer = 'refuses';
  made.running.failed('open', 'no terminal');
  await clock.advance(0);
  assert.equal(lines.length, 1, 'the log says that none can be shown');
});

test('a banner to try it out, without a desktop, says why there is none', async () => {
  const clock = fakeClock();
  const board = createBoard();
  const log: Log = { info: () => {}, warn: () => {}, error: () => {} };
  await using running = startNotify({
    board,
    delivered: [],
    channels: [createOff('no session bus')],
    announcements: { load: () => NOTHING_SAVED, save: () => {} },
    act: () => {},
    clock,
    log,
  });
  assert.deepEqual(await running.test(), {
    taken: false,
    by: 'off (no session bus)',
    channels: ['desktop'],
    silent: null,
    why: 'no session bus',
  });
});

test('a flood of 10,000 mails, one after the other or all at once, is a handful of banners', async (t) => {
  const { clock, desktop, start } = rig(t);
  const board = start();
  join_(board, clock, 'ada');
  for (let i = 1; i <= 5000; i += 1) {
    mail(board, clock, 'ada', i);
    if (i % 50 === 0) await clock.advance(100);
  }
  const personas = Array.from({ length: 50 }, (_, i) => `p${i}`);
  join_(board, clock, ...personas);
  for (let i = 1; i <= 100; i += 1) for (const p of personas) mail(board, clock, p, i);
  await clock.advance(60_000);
  assert.ok(desktop.calls.length <= 10, desktop.calls.join('\n'));
  assert.ok(desktop.calls.includes('show ada: 5000 new'));
});

test('at the end no timer is left', async (t) => {
  const { clock, desktop, start, stop } = rig(t);
  const board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  mail(board, clock, 'ada', 1);
  await clock.advance(900);
  board.put(down(clock, 'ada'));
  await stop();
  assert.equal(clock.waiting, 0);
  assert.equal(desktop.calls.at(-1), 'closed');
});

test('a banner on its way at the end is waited for, and then it is known', async (t) => {
  const { clock, desktop, start, stop } = rig(t);
  let board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  const gate = Promise.withResolvers<void>();
  desktop.hold = gate.promise;
  await clock.advance(2000);
  const stopped = stop();
  gate.resolve();
  await stopped;
  board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  await clock.advance(5000);
  assert.deepEqual(desktop.calls, ['show kijito down: ada', 'closed']);
});

function asked(board: Board, clock: FakeClock, ...ids: number[]): void {
  board.put({ is: 'decisions', at: clock.now(), decisions: ids.map((id) => createDecision(id)) });
}

test('a decision: a click on a button answers it, once; a click on the banner opens its persona', async (t) => {
  const { clock, desktop, clicks, start } = rig(t);
  const board = start();
  join_(board, clock, 'ada');
  asked(board, clock, 7, 8);
  await clock.advance(10);
  assert.deepEqual([...desktop.titles.keys()], ['decision:7', 'decision:8']);
  desktop.listener?.clicked('decision:7', 'answer-2', 'token');
  desktop.listener?.clicked('decision:7', 'answer-1', 'token');
  desktop.listener?.clicked('decision:7', 'answer-2', 'token');
  desktop.listener?.clicked('decision:8', 'answer-3', null);
  desktop.listener?.clicked('decision:8', 'banner', 'token');
  await clock.advance(10);
  assert.deepEqual(clicks, [
    { name: 'decide', params: { decision: 7, select: 'no' } },
    { name: 'page', params: { persona: 'ada', activationToken: 'token' } },
  ]);
  assert.deepEqual([...desktop.titles.keys()], []);
  asked(board, clock);
  await clock.advance(10);
  assert.equal(desktop.calls.filter((line) => line.startsWith('show')).length, 2);
});

test('a decision that is answered elsewhere is withdrawn, never before its banner was shown', async (t) => {
  const { clock, desktop, start } = rig(t);
  const board = start();
  join_(board, clock, 'ada');
  const go = Promise.withResolvers<void>();
  desktop.hold = go.promise;
  asked(board, clock, 7);
  await clock.advance(10);
  asked(board, clock);
  await clock.advance(10);
  assert.deepEqual(desktop.calls, []);
  go.resolve();
  await clock.advance(10);
  assert.deepEqual(desktop.calls, ['show ada asks', 'withdraw decision:7']);
});

test('over stops and kills a decision is announced once; killed before it is saved, once more, and never lost', async (t) => {
  const { clock, desktop, start, stop, kill } = rig(t);
  const again = (board: Board, ...ids: number[]): void => {
    join_(board, clock, 'ada');
    asked(board, clock, ...ids);
  };
  again(start(), 1);
  await clock.advance(10);
  await stop();
  again(start(), 1, 2);
  await clock.advance(10);
  kill();
  // The notifications listen to a board that has it already.
  const third = start((board) => again(board, 1, 2));
  await clock.advance(2000);
  const shows = (): string[] => desktop.calls.filter((line) => line.startsWith('show'));
  assert.deepEqual(shows(), ['show ada asks', 'show ada asks']);
  desktop.onShown = kill;
  asked(third, clock, 1, 2, 3);
  await clock.advance(20);
  desktop.onShown = () => {};
  again(start(), 1, 2, 3);
  await clock.advance(10);
  assert.equal(shows().length, 4);
  await stop();
  again(start(), 1, 2, 3);
  await clock.advance(2000);
  assert.equal(shows().length, 4);
});

test('what was announced is kept while a board has not looked yet, and forgotten when it is not open any more', async (t) => {
  const { clock, desktop, path, start, stop } = rig(t);
  const saved = (): unknown => {
    using db = openDatabase(path);
    const rows = db.prepare<{ id: number }>('SELECT id FROM announced_decisions ORDER BY id').all();
    return rows.map(({ id }) => id);
  };
  const first = start();
  join_(first, clock, 'ada');
  asked(first, clock, 1, 2);
  await clock.advance(10);
  await stop();
  const second = start((board) => join_(board, clock, 'ada'));
  await clock.advance(2000);
  assert.deepEqual(saved(), [1, 2]);
  asked(second, clock, 2);
  await clock.advance(10);
  assert.deepEqual(saved(), [2]);
  await stop();
  const third = start();
  asked(third, clock);
  await clock.advance(10);
  assert.deepEqual(saved(), []);
  assert.equal(desktop.calls.filter((line) => line.startsWith('show')).length, 2);
});

test('the same decisions, and what waits for personas, cost not even a timer', async (t) => {
  const { clock, start } = rig(t);
  const board = start();
  join_(board, clock, 'ada');
  asked(board, clock, 1, 2);
  await clock.advance(5000);
  const before = clock.waiting;
  asked(board, clock, 1, 2);
  board.put({ is: 'reported', at: clock.now(), persona: 'ada', values: { pending: [0, 0, 1, 0, 0], gates: [] } });
  assert.equal(clock.waiting, before);
});

test('given two channels, when one refuses an outage, then it is tried again on that channel only, also after a restart', async (t) => {
  const phone = new FakeDesktop('phone', 'away');
  const { clock, desktop, start, kill } = rig(t, phone);
  desktop.answer = 'refuses';
  let board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  await clock.advance(5000);
  assert.deepEqual([desktop.titles.size, [...phone.titles.values()]], [0, ['kijito down: ada']]);
  await clock.advance(60_000);
  assert.equal(desktop.calls.length, 2, 'tried again');
  kill();
  board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  await clock.advance(5000);
  assert.equal(desktop.calls.length, 3, 'and after the restart');
  desktop.answer = 'at once';
  await clock.advance(60_000);
  assert.deepEqual([...desktop.titles.values()], ['kijito down: ada']);
  kill();
  board = start();
  join_(board, clock, 'ada');
  board.put(down(clock, 'ada'));
  await clock.advance(5000);
  toPolled(board, clock, 'ada');
  await clock.advance(5000);
  assert.deepEqual(phone.calls, ['show kijito down: ada', 'show kijito is back: ada'], 'once each');
  assert.deepEqual(desktop.calls.slice(3), ['show kijito down: ada', 'show kijito is back: ada']);
});

test('given two channels and a decision, when one refuses it, then the other announces it once over restarts', async (t) => {
  const phone = new FakeDesktop('phone', 'away');
  const { clock, desktop, start, kill } = rig(t, phone);
  phone.answer = 'refuses';
  for (const answer of ['refuses', 'at once', 'at once'] as const) {
    phone.answer = answer;
    const board = start();
    join_(board, clock, 'ada');
    asked(board, clock, 1);
    await clock.advance(100);
    kill();
  }
  assert.deepEqual(desktop.calls, ['show ada asks']);
  assert.deepEqual(phone.calls, ['show ada asks', 'show ada asks'], 'refused, then accepted, then not again');
});

test('given a channel that never answers, then the other shows all mail at once', async (t) => {
  const phone = new FakeDesktop('phone', 'away');
  const { clock, desktop, start } = rig(t, phone);
  phone.answer = 'never';
  const board = start();
  join_(board, clock, 'ada', 'bo', 'cy');
  for (const p of ['ada', 'bo', 'cy']) mail(board, clock, p, 1);
  await clock.advance(10);
  assert.deepEqual(desktop.calls, ['show ada: 1 new', 'show bo: 1 new', 'show cy: 1 new']);
  await clock.advance(30_000);
  mail(board, clock, 'ada', 2);
  await clock.advance(10);
  assert.equal(desktop.calls.at(-1), 'show ada: 2 new');
});

test('given a channel that refuses, then the board has a cause with its name and the next step, until it accepts one', async (t) => {
  const phone = new FakeDesktop('phone', 'away');
  const { clock, lines, start } = rig(t, phone);
  phone.answer = 'refuses';
  const board = start();
  assert.equal(board.snapshot().notifications, 'desktop: a fake; phone: a fake');
  join_(board, clock, 'ada');
  mail(board, clock, 'ada', 1);
  await clock.advance(10);
  const causes = (): readonly string[] => board.snapshot().causes.map(({ message }) => message);
  assert.deepEqual(causes(), [
    'the channel phone refuses notifications: no room on the wall: hivebar notify test tries it again; hivebar doctor says what this machine lacks',
  ]);
  await clock.advance(61_000);
  assert.equal(lines.length, 1, 'one line while it lasts');
  phone.answer = 'at once';
  await clock.advance(61_000);
  assert.deepEqual(causes(), []);
});

test('given two channels, when a person clicks on one, then the other withdraws, and the answer to a failed click stays at the desktop', async (t) => {
  const phone = new FakeDesktop('phone', 'away');
  const made = rig(t, phone);
  const { clock, desktop, clicks, start } = made;
  const board = start();
  join_(board, clock, 'ada');
  asked(board, clock, 7);
  await clock.advance(10);
  phone.listener?.clicked('decision:7', 'answer-1', null);
  desktop.listener?.clicked('decision:7', 'answer-2', null);
  await clock.advance(10);
  assert.deepEqual(clicks, [{ name: 'decide', params: { decision: 7, select: 'yes' } }], 'answered once');
  assert.deepEqual([desktop.titles.size, phone.titles.size], [0, 0]);
  made.running.failed('decide', 'it is answered');
  await clock.advance(10);
  assert.deepEqual(
    [desktop.calls.at(-1), phone.calls.at(-1)],
    ['show Your answer was not accepted', 'withdraw decision:7'],
  );
});

test('given two channels, when one refuses a test, then the answer names it', async (t) => {
  const phone = new FakeDesktop('phone', 'away');
  const made = rig(t, phone);
  made.start();
  const by = 'desktop: a fake; phone: a fake';
  const channels = ['desktop', 'phone'];
  assert.deepEqual(await made.running.test(), { taken: true, by, channels, silent: null });
  phone.answer = 'refuses';
  assert.deepEqual(await made.running.test(), {
    taken: false,
    by,
    channels,
    silent: null,
    why: 'phone: no room on the wall',
  });
});

/** Puts what one reporter says an agent does. */
function report(board: Board, clock: FakeClock, reporter: 'hook' | 'session', state: AgentState | null): void {
  board.put({ is: 'agent', at: clock.now(), persona: 'ada', reporter, state });
}

test('of several reporters the board chooses; a poll that knows nothing hides no wait, and an end of it is seen', async (t) => {
  const { clock, desktop, clicks, start } = rig(t);
  const board = start();
  join_(board, clock, 'ada');
  toPolled(board, clock, 'ada');
  const since = clock.now();
  report(board, clock, 'session', { is: 'waiting', why: 'permission', since });
  toPolled(board, clock, 'ada');
  await clock.advance(10);
  assert.deepEqual(desktop.calls, ['show ada waits at a permission prompt']);
  report(board, clock, 'hook', { is: 'waiting', why: 'permission', since: since + 5 });
  toPolled(board, clock, 'ada');
  await clock.advance(1000);
  assert.equal(desktop.calls.length, 1, 'two reporters of one wait are one banner');
  desktop.listener?.clicked('wait:ada', 'banner', null);
  assert.deepEqual(clicks, [{ name: 'open', params: { persona: 'ada' } }]);
  await clock.advance(20_000);
  report(board, clock, 'hook', { is: 'working', since: clock.now() });
  report(board, clock, 'session', { is: 'waiting', why: 'input', since: clock.now() + 1 });
  await clock.advance(10);
  assert.equal(desktop.calls.at(-1), 'show ada waits for your input');
  report(board, clock, 'session', null);
  await clock.advance(10);
  assert.equal(desktop.calls.at(-1), 'withdraw wait:ada');
});

test('a wait that was there before notifications began is announced; after a kill it is not announced again', async (t) => {
  const { clock, desktop, start, kill } = rig(t);
  const since = clock.now();
  const before = (board: Board): void => {
    join_(board, clock, 'ada');
    toPolled(board, clock, 'ada');
    report(board, clock, 'session', { is: 'waiting', why: 'permission', since });
  };
  start(before);
  await clock.advance(10);
  assert.deepEqual(desktop.calls, ['show ada waits at a permission prompt']);
  kill();
  const board = start(before);
  await clock.advance(60_000);
  assert.equal(desktop.calls.length, 1);
  report(board, clock, 'session', { is: 'gone', why: 'ended' });
  await clock.advance(10);
  assert.equal(desktop.calls.at(-1), 'withdraw wait:ada');
});
