import { join } from 'node:path';
import { type Board, createBoard } from '../../core/board/index.ts';
import { type History, openHistory } from '../../core/history/index.ts';
import { type LocalHive, openLocalHive, sealAll } from '../../core/inbox/index.ts';
import { Fault } from '../../core/model/index.ts';
import { type Outbox, openOutbox } from '../../core/sinks/outbox/index.ts';
import type { WatchedHive } from '../../core/sources/module.ts';
import {
  type Database,
  formatStoreReport,
  openRetentionClock,
  openStore,
  type RetentionClock,
  readStoreReport,
  refuseWrites,
  writeStoreReport,
} from '../../core/state/index.ts';
import type { Settings } from '../config/tray/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { createWorkMeter, type WorkMeter } from '../host/rest-service.ts';
import { createStoreCopy, type StoreCopy } from '../host/store-copy-service.node.ts';
import type { SavedTrayState } from '../sources/hive-watchers.ts';
import { DATABASE, JOURNAL, type StoreMode } from './store-modes.ts';
import { reconcileStore } from './store-reconciliation.ts';

/** The stores of the tray process, and the board that they report to. */
export interface TrayState extends Disposable {
  readonly board: Board;
  /** The truth; in read-only mode every write through it is refused. */
  readonly db: Database;
  readonly local: LocalHive;
  readonly work: WorkMeter;
  readonly outbox: Outbox<SavedTrayState>;
  readonly history: History;
  readonly retention: RetentionClock;
  /** Keeps a copy of the store; null in read-only mode. */
  readonly copy: StoreCopy | null;
  /** The folder of the event files. */
  readonly eventsDirectory: string;
  /** Brings ids and checkpoints of the local hive above what was delivered before the store went back. */
  reconcile(hive: WatchedHive): void;
}

/** The history. It is derived, so it may be deleted at any time. */
const HISTORY = 'history.sqlite';
/**
 * Facts are folded into the snapshot after this delay, or earlier when a reader asks. Events are written to their files first.
 */
const FOLD_AFTER_MS = 20;
const DAMAGED = { is: 'machine', key: 'damaged-messages' } as const;
const DAY_MS = 86_400_000;

/**
 * Opens everything that the tray process keeps.
 * @param state the state directory; in read-only mode the one with the copy
 * @throws Fault for whatever cannot be opened
 */
export function openTrayState(state: string, settings: Settings, mode: StoreMode, machine: Machine): TrayState {
  const { disk, clock, log } = machine;
  using opened = new DisposableStack();
  const onDamage = mode.is === 'whole' ? mode.onDamage : () => {};
  const path = join(state, DATABASE);
  const truth = opened.use(openStore(path, { checks: mode.is === 'whole', onDamage }));
  // The outbox may write to the copy, since nobody else reads that. All other writes would lose something that a person or an
  // agent entered.
  const db = mode.is === 'whole' ? truth : opened.use(refuseWrites(openStore(path), mode.fault));
  const board = createBoard(log, (run) => void clock.after(FOLD_AFTER_MS, run));
  // Opened after both stores, so that the last copy is made before either is closed.
  const copy =
    mode.is === 'whole' ? opened.use(createStoreCopy(truth, { clock, log, put: board.put, onDamage })) : null;
  const retention = openRetentionClock(truth, clock);
  const onDamaged = (count: number): void => {
    const fault = new Fault('store-damaged', `${count} messages in ${db.path} are damaged`, DAMAGED);
    board.put({ is: 'machine', at: clock.now(), key: DAMAGED.key, fault });
  };
  const local = opened.use(openLocalHive({ db, clock, log, contentChars: settings.contentChars, onDamaged }));
  if (mode.is === 'whole') sealAll(db);
  const report = readStoreReport(db.path);
  if (report !== null) {
    const fault = new Fault('store-damaged', formatStoreReport(db.path, report), { is: 'machine', key: 'store' });
    log.error(fault.explain());
    board.put({ is: 'machine', at: clock.now(), key: fault.scope.key, fault });
  }
  const history = opened.use(
    openHistory({
      path: join(state, HISTORY),
      files: disk.files,
      clock,
      log,
      keepDays: settings.historyDays,
      retentionNow: retention.now,
    }),
  );
  opened.use(board.facts(history.hear));
  opened.use(
    board.facts((fact) => {
      if (fact.is !== 'joined') return;
      const last = history.findLastState(fact.persona);
      if (last !== null) board.put({ is: 'remembered', at: fact.at, persona: fact.persona, ...last });
    }),
  );
  const work = createWorkMeter(machine);
  opened.use(board.facts((fact) => work.countWork(fact.is === 'counted' ? fact.counts.length : 1)));
  const eventsDirectory = join(state, 'events');
  const outbox = opened.use(
    openOutbox<SavedTrayState>({
      db: truth,
      disk,
      clock,
      clocks: machine.clocks,
      directory: eventsDirectory,
      journal: join(state, JOURNAL),
      retentionNow: retention.now,
      onTake: work.countBatch,
      rotation: { maxBytes: settings.eventsMaxBytes, keep: settings.eventsKeep },
      onBehind: (persona, fault) => {
        if (fault === null) log.info(`${persona}: its event file is up to date again`);
        else log.warn(`${persona}: its event file is behind; the events are safe: ${fault.explain()}`);
        board.put({ is: 'published', at: clock.now(), persona, fault });
      },
    }),
  );
  const all = opened.move();
  return {
    ...{ board, work, db, local, outbox, history, retention, copy, eventsDirectory },
    reconcile(hive) {
      if (mode.is !== 'whole') return;
      const { contentChars } = settings;
      const recoveredSince = report === null || report.isFilled ? null : clock.now() - settings.keepMailDays * DAY_MS;
      reconcileStore({ db, local, hive, outbox, state, contentChars, recoveredSince, machine });
      if (report !== null) writeStoreReport(db.path, { ...report, isFilled: true });
    },
    [Symbol.dispose]: () => all.dispose(),
  };
}
