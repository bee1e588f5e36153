import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openSettings } from '../../app/config/tray/index.ts';
import type { Machine } from '../../app/host/machine.node.ts';
import { createHiveWatchers, type SavedTrayState } from '../../app/sources/hive-watchers.ts';
import { createBoard, type Snapshot } from '../../core/board/index.ts';
import { type Clock, type Log, realClock, silentLog } from '../../core/ports/index.ts';
import { openOutbox } from '../../core/sinks/outbox/index.ts';
import {
  BOARD,
  type BrainclawOptions,
  type BrainclawSource,
  createBrainclawSource,
  type Project,
  parseCursor,
} from '../../core/sources/brainclaw/index.ts';
import { createRealDisk, openDatabase, toStem } from '../../core/state/index.ts';
import { fakeMachine } from './fake-machine.ts';
import type { EventLine } from './process.ts';
import type { Scratch } from './scratch.ts';
import { stillClocks } from './still-clocks.ts';
import { readLogLines } from './tray-process.ts';
import { until } from './until.ts';

export type ShownPersona = Snapshot['personas'][number];

/** A project that is watched as the tray process does it, in this process: watches, outbox and event files. */
export interface ProjectWatcher extends AsyncDisposable {
  readonly source: BrainclawSource;
  readonly snapshot: () => Snapshot;
  /** What a follower of a persona could have read, but for what concerns the watch. The board unless told otherwise. */
  events(address?: string): readonly EventLine[];
  /** Of these `EVENT THING`. */
  delivered(address?: string): readonly string[];
  persona(address?: string): ShownPersona | undefined;
  /** Waits until a persona is shown so. */
  until(goal: string, is: (shown: ShownPersona) => boolean, address?: string): Promise<ShownPersona>;
  poll(): void;
  stop(): Promise<void>;
}

export interface WatchSetting extends Partial<Pick<BrainclawOptions, 'mail' | 'seed' | 'statOnly' | 'contentChars'>> {
  /** Of a project that is seen for the first time everything is news. */
  readonly tellsAll?: boolean;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly pollSeconds?: number;
}

export const PROJECT = 'prj_lab0001';

/** @param root `.brainclaw` @param home keeps what is remembered from one watch to the next */
export async function watching(root: string, home: Scratch, setting: WatchSetting = {}): Promise<ProjectWatcher> {
  const { clock = realClock, log = silentLog } = setting;
  await using started = new AsyncDisposableStack();
  const disk = createRealDisk(log);
  const project: Project = { root: dirname(root), store: root, id: PROJECT };
  const cursor = home.at('cursor.json');
  const source = createBrainclawSource({
    ...{ project, disk, clock, log, mail: true, seed: null, contentChars: 220 },
    ...setting,
    cursor: {
      load: () => (existsSync(cursor) ? parseCursor(JSON.parse(readFileSync(cursor, 'utf8'))) : null),
      save: (value) => writeFileSync(cursor, JSON.stringify(value)),
    },
  });
  const stop = new AbortController();
  const spawn: Machine['spawn'] = {
    run: () => {
      throw new Error('a program was to be run');
    },
  };
  const machine = fakeMachine({ clock, disk, log, spawn, stop: stop.signal });
  const db = started.use(openDatabase(home.at('hivebar.sqlite')));
  const board = createBoard(log, (run) => void clock.after(0, run));
  const directory = home.at('events');
  const outbox = started.use(
    openOutbox<SavedTrayState>({
      ...{ db, disk, clock, clocks: stillClocks, directory, journal: home.at('outbox.journal') },
      onBehind: (persona, fault) => board.put({ is: 'published', at: clock.now(), persona, fault }),
    }),
  );
  const watches = createHiveWatchers({
    hive: {
      source,
      address: project.root,
      identity: ({ address }) => ['brainclaw', address, project.store],
      named: source.named,
      holdMs: null,
      kind: 'disk',
      deliversBacklog: setting.tellsAll === true,
    },
    settings: { ...openSettings(home.at('config')).settings, pollSeconds: setting.pollSeconds ?? 60 },
    ...{ outbox, directory, savedStates: outbox.readAllSaved(), board, machine },
    ...{ run: '00ff00ff00ff00ff', settling: () => false },
  });
  const running = watches.run(stop.signal);
  started.defer(async () => {
    stop.abort();
    await running;
    await source[Symbol.asyncDispose]();
  });
  const all = started.move();
  const toId = (address: string): string => source.named(address).id;
  const persona = (address = BOARD): ShownPersona | undefined =>
    board.snapshot().personas.find(({ id }) => id === toId(address));
  const events = (address = BOARD): readonly EventLine[] =>
    readLogLines(directory, `events.${toStem(toId(address))}.ndjson`)
      .map((text) => JSON.parse(text) as EventLine)
      .filter((event) => 'id' in event);
  return {
    source,
    snapshot: () => board.snapshot(),
    events,
    delivered: (address) => events(address).map((event) => `${event.event} ${event.item ?? event.message_id}`),
    persona,
    async until(goal, is, address = BOARD) {
      let found: ShownPersona | undefined;
      await until(`${basename(join(root, '..'))}/${address}: ${goal}`, () => {
        found = persona(address);
        return found !== undefined && is(found);
      });
      if (found === undefined) throw new Error('nobody');
      return found;
    },
    poll: () => watches.poll(),
    stop: () => all.disposeAsync(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** `3`, `>=3` or `unknown`. */
export function formatUnread({ unread }: ShownPersona): string {
  return unread.is === 'unknown' ? unread.is : `${unread.is === 'exact' ? '' : '>='}${unread.n}`;
}
