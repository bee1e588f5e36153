import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openSettings, type Settings } from '../../app/config/tray/index.ts';
import type { ConfiguredChannel, Notification } from '../../app/notify/channels/index.ts';
import { openAnnouncementStore, startNotify } from '../../app/notify/index.ts';
import { catchUpAfterInterruptions, createHiveWatchers, type SavedTrayState } from '../../app/sources/hive-watchers.ts';
import { renderTray, type TrayModel } from '../../app/tray/index.ts';
import { type Board, createBoard, type Snapshot } from '../../core/board/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import { supervise } from '../../core/services/index.ts';
import { openOutbox } from '../../core/sinks/outbox/index.ts';
import { createKijitoSource, toKijitoPersona } from '../../core/sources/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';
import { detectInterruptions } from '../../core/watcher/index.ts';
import { type FakeClock, fakeClock } from '../kit/fake-clock.ts';
import { fakeMachine } from '../kit/fake-machine.ts';
import { stillClocks } from '../kit/still-clocks.ts';
import { readLogLines } from '../kit/tray-process.ts';
import { type HiveInMemory, hiveInMemory } from './hive-in-memory.ts';

const HOLD_MS = 50_000;
/** As the tray process has it. */
const FOLD_AFTER_MS = 20;

/** What a long run must not gather. */
export interface Burden {
  /** Handles and requests of the process, by kind. */
  readonly handles: Readonly<Record<string, number>>;
  /** On the board, on the signal that ends everything, and on the process. */
  readonly listeners: number;
  /** Timers and sleeps on the fake clock. */
  readonly timers: number;
  /** Questions to the hive without an answer. */
  readonly questions: number;
  /** Used JavaScript heap after a collection, in MiB. */
  readonly heapMib: number;
}

/** The tray process without its server: watches, board, outbox, notifications and tray, on a clock that is moved by hand. */
export interface TrayOnAFakeClock extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly hive: HiveInMemory;
  snapshot(): Snapshot;
  /** The tray's newest drawing. */
  readonly drawn: TrayModel | null;
  /** Every banner the desktop took since the last call. */
  banners(): readonly Notification[];
  /** The kinds of the events in a persona's file, oldest first. */
  events(persona: string): readonly string[];
  burden(): Burden;
}

export interface TrayOnAFakeClockOptions {
  readonly personas: readonly string[];
  readonly settings?: Partial<Settings>;
  /** How the hive does at the start. */
  readonly weather?: HiveInMemory['weather'];
}

export async function trayOnAFakeClock(options: TrayOnAFakeClockOptions): Promise<TrayOnAFakeClock> {
  const { personas } = options;
  const folder = mkdtempSync(join(tmpdir(), 'hivebar-soak-'));
  await using started = new AsyncDisposableStack();
  started.defer(() => rmSync(folder, { recursive: true, force: true }));
  const clock = fakeClock();
  const log = silentLog;
  const disk = createRealDisk(log);
  const settings: Settings = { ...openSettings(join(folder, 'config')).settings, ...options.settings };
  const stop = new AbortController();
  const machine = fakeMachine({ clock, disk, log, stop: stop.signal });
  const db = started.use(openDatabase(join(folder, 'hivebar.sqlite')));
  const { board, listening } = counted(createBoard(log, (run) => void clock.after(FOLD_AFTER_MS, run)));
  const directory = join(folder, 'events');
  const outbox = started.use(
    openOutbox<SavedTrayState>({
      db,
      disk,
      clock,
      clocks: stillClocks,
      directory,
      journal: join(folder, 'outbox.journal'),
      onBehind: (persona, fault) => board.put({ is: 'published', at: clock.now(), persona, fault }),
    }),
  );
  const hive = hiveInMemory(personas, clock);
  if (options.weather !== undefined) hive.weather = options.weather;
  const wakefulness = detectInterruptions(clock);
  const services = started.use(supervise({ clock, log, report: () => {} }));
  services.add(wakefulness.service);
  const members = { is: 'directory', prefix: '', reserved: [] } as const;
  const watches = createHiveWatchers({
    hive: {
      source: createKijitoSource({ id: 'kijito', client: hive.client, clock, members }),
      address: 'in memory',
      identity: (persona) => ['http', 'hive.test', 80, '/api/inbox', [['persona', persona.address]]],
      named: (address) => toKijitoPersona(address, members),
      holdMs: HOLD_MS,
      kind: 'remote',
      deliversBacklog: false,
    },
    settings,
    outbox,
    directory,
    savedStates: outbox.readAllSaved(),
    board,
    machine,
    run: '00ff00ff00ff00ff',
    settling: wakefulness.isSettling,
  });
  started.use(catchUpAfterInterruptions({ interruptions: wakefulness, watchers: [watches], put: board.put, log }));

  let banners: Notification[] = [];
  const desktop: ConfiguredChannel = {
    name: 'desktop',
    place: 'desktop',
    open: () => ({
      name: 'desktop',
      can: { replace: true, withdraw: true, buttons: 3 },
      send: async (banner) => void banners.push(banner),
      withdraw: async () => {},
    }),
  };
  const announcements = openAnnouncementStore(db);
  started.use(startNotify({ board, delivered: [], channels: [desktop], announcements, act: () => {}, clock, log }));
  let drawn: TrayModel | null = null;
  const icon = {
    show: (model: TrayModel) => {
      drawn = model;
    },
    [Symbol.asyncDispose]: async () => {},
  };
  started.use(renderTray(board, icon, clock));

  const running = watches.run(stop.signal);
  started.defer(async () => {
    stop.abort();
    await running;
  });
  await clock.advance(1000);
  const all = started.move();
  return {
    clock,
    hive,
    snapshot: () => board.snapshot(),
    get drawn() {
      return drawn;
    },
    banners() {
      const accepted = banners;
      banners = [];
      return accepted;
    },
    events: (persona) =>
      readLogLines(directory, `events.${persona}.ndjson`).map((line) =>
        String((JSON.parse(line) as { event: string }).event),
      ),
    burden: () => ({
      handles: Object.fromEntries(
        Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (kind) => kind)).map(
          ([kind, resources = []]) => [kind, resources.length],
        ),
      ),
      listeners:
        listening() +
        getEventListeners(stop.signal, 'abort').length +
        process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
      timers: clock.waiting,
      questions: hive.asked,
      heapMib: heapMib(),
    }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** The board, and how many listen to it. */
function counted(inner: Board): { readonly board: Board; readonly listening: () => number } {
  let listeners = 0;
  const count = (subscription: Disposable): Disposable => {
    listeners += 1;
    return {
      [Symbol.dispose]() {
        listeners -= 1;
        subscription[Symbol.dispose]();
      },
    };
  };
  const board: Board = {
    ...inner,
    facts: (listener) => count(inner.facts(listener)),
    changes: (listener) => count(inner.changes(listener)),
  };
  return { board, listening: () => listeners };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapMib(): number {
  for (let n = 0; n < 3; n++) collect(); // what ends in one collection may free more in the next
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
