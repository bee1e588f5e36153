import { Fault, type Instant, type PersonaId, type Scope, toFault } from '../model/index.ts';
import type { Clock, Files, Log } from '../ports/index.ts';
import { every } from '../services/index.ts';
import { isUnusable } from '../state/index.ts';
import { createTimeline, type History, type HistoryReader } from './history.ts';
import { createOutageLedger } from './ledger.ts';
import { createSlotReader } from './slots.ts';
import { type HistoryStore, type OpenHistoryStore, openHistoryStore, setFileAside } from './store.ts';
import { computeUptime, HOUR_MS, LONGEST_HOURS } from './uptime.ts';

export interface HistoryOptions {
  /** The path of the database; its directory is private. */
  readonly path: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  /** Older history is deleted. */
  readonly keepDays: number;
  /** Returns the time that decides the age of history; absent: the wall clock. */
  readonly retentionNow?: () => Instant;
}

/** Changes are collected for this many milliseconds and then written in one transaction. */
const GATHER_MS = 3000;
/** How often a sign of life is written, even when nothing changed. Far below `AWAY_MS`. */
const BEAT_MS = 60_000;
/** The number of waiting points that starts a write at once. */
const MOST_WAITING = 5000;
/** An outage of the previous run without a fact after this time, in milliseconds, is over. */
const UNHEARD_ENDS_MS = 600_000;
const DAY_MS = 86_400_000;
const SCOPE: Scope = { is: 'machine', key: 'history' };

/**
 * Opens the history of this process. It never stops Hivebar from running. An unusable file is moved aside. If nothing
 * can be written (a full disk), that is logged once, levels are lost, outages wait, and each beat tries again. Time
 * that nobody watched is unknown: between two runs, during sleep, and while nothing could be written.
 */
export function openHistory({
  path,
  files,
  clock,
  log,
  keepDays,
  retentionNow = () => clock.now(),
}: HistoryOptions): History {
  const glance = createPresence(() => clock.now());
  const timeline = createTimeline();
  const ledger = createOutageLedger();
  let opened: OpenHistoryStore | null = null;
  /** The inode of the open file, because somebody may delete the file. */
  let inode: number | null = null;
  /** Why nothing can be written now; null: writing works. */
  let trouble: Fault | null = null;
  /** The record ended or the clock moved, so the next write begins with an unknown state. */
  let resumes = true;
  let hasEndedUnheard = false;
  const openedAt = clock.monotonic();
  let gathering: Disposable | null = null;
  let started = false;
  let closed = false;
  const reader = createSlotReader();

  /** Returns the current time. If the clock jumped or nobody watched, that is written first. */
  function now(): Instant {
    const moment = glance();
    if (moment.is !== 'steady') {
      write(moment.last);
      if (moment.is === 'away') timeline.forget();
      resumes = true;
      write(moment.at);
    }
    return moment.at;
  }

  function write(at: Instant): void {
    gathering?.[Symbol.dispose]();
    gathering = null;
    attempt((store) => {
      const begins = resumes;
      const points = begins ? timeline.takeAll(at) : timeline.take();
      store.write(points, ledger.unsaved, at, begins ? () => store.resume(at) : undefined);
      ledger.saved();
      resumes = false;
      if (begins) reader.startAnew();
    });
  }

  /** Runs `work` on the store. A failure is handled here and not thrown. */
  function attempt(work: (store: HistoryStore) => void): void {
    try {
      work(requireStore());
      if (trouble !== null) log.info('history is recorded again');
      trouble = null;
    } catch (error) {
      timeline.take(); // the points are dropped, because they could grow without end
      resumes = true;
      fail(error);
    }
  }

  function fail(error: unknown): void {
    const fault = toFault(error, SCOPE);
    if (isUnusable(fault) && opened !== null) discard(() => setFileAside(path, files, log, fault));
    else {
      if (trouble === null) log.warn(`history is not recorded: ${fault.message}; it is retried`);
      trouble = fault;
    }
  }

  /** Moves the file away. The next write goes to a new file, with everything that this process knows. */
  function discard(moveAway: () => void): void {
    opened?.[Symbol.dispose]();
    opened = null;
    ledger.startAnew();
    resumes = true;
    try {
      moveAway();
    } catch (error) {
      fail(error);
    }
  }

  /** @throws Fault when no store can be opened now */
  function requireStore(): HistoryStore {
    if (closed) throw new Fault('database', 'the history is closed', SCOPE);
    if (opened !== null) return opened.store;
    opened = openHistoryStore(path, files, log);
    inode = files.lstat(path)?.ino ?? null;
    const { store } = opened;
    const lastSeen = store.getLastSeen();
    if (lastSeen !== null) {
      if (!started) ledger.inherit(store.openAlerts(), lastSeen);
      else store.closeAlerts(lastSeen); // opened late: this run knows what is open
    }
    reader.startAnew();
    return store;
  }

  function beat(): void {
    if (closed) return;
    const at = now();
    if (opened !== null && files.lstat(path)?.ino !== inode) {
      discard(() => log.info('the history was deleted, and a new one was started'));
    }
    if (!hasEndedUnheard && clock.monotonic() - openedAt >= UNHEARD_ENDS_MS) {
      hasEndedUnheard = true;
      ledger.endUnheard(timeline.has);
    }
    write(at);
    if (trouble === null) attempt((store) => store.prune(Math.min(at, retentionNow()) - keepDays * DAY_MS));
  }

  function read<T>(from: (store: HistoryStore, at: Instant) => T): T {
    const at = now();
    const isDue = timeline.waiting > 0 || ledger.waiting > 0 || resumes || opened?.store.isClockBehind() === true;
    if (trouble === null && isDue) write(at);
    if (trouble !== null) throw trouble;
    try {
      return from(requireStore(), at);
    } catch (error) {
      fail(error);
      throw error;
    }
  }

  const limitHours = (hours: number): number => Math.min(hours, keepDays * 24);
  const reading: HistoryReader = {
    overview: (hours) => read((store, at) => reader.overview(store, timeline.personas, limitHours(hours), at)),
    findPersona: (persona: PersonaId, hours) =>
      read((store, at) => reader.findPersona(store, timeline.has(persona), persona, limitHours(hours), at)),
    findUptime: (persona) =>
      read((store, at) => {
        const stored = store.findPersona(persona);
        if (stored !== null) return computeUptime(stored.listStates(at - limitHours(LONGEST_HOURS) * HOUR_MS, at), at);
        return timeline.has(persona) ? computeUptime([], at) : null;
      }),
    alerts: (limit) => read((store) => store.alerts(limit)),
  };

  write(now());
  started = true;
  return {
    ...reading,
    service: every({ name: 'history', ms: BEAT_MS, firstMs: BEAT_MS, round: beat, clock }),
    findLastState(persona) {
      try {
        return requireStore().findPersona(persona)?.findState() ?? null;
      } catch (error) {
        fail(error);
        return null;
      }
    },
    hear(fact) {
      if (closed) return;
      const at = now();
      timeline.hear(fact, at);
      ledger.hear(fact, at);
      if (timeline.waiting >= MOST_WAITING) write(at);
      else if (timeline.waiting + ledger.waiting > 0) gathering ??= clock.after(GATHER_MS, () => write(now()));
    },
    [Symbol.dispose]() {
      if (closed) return;
      write(now());
      closed = true;
      opened?.[Symbol.dispose]();
      opened = null;
    },
  };
}

/** A reading of the wall clock, in whole milliseconds that rise. */
type Glance =
  | { readonly is: 'steady'; readonly at: Instant }
  /** There was no reading for long: the machine slept, the process hung, or the clock was set forward. */
  | { readonly is: 'away'; readonly last: Instant; readonly at: Instant }
  /** The clock was set back. */
  | { readonly is: 'back'; readonly last: Instant; readonly at: Instant };

/** Milliseconds without a reading after which the time between counts as unwatched. */
const AWAY_MS = 150_000;
/** A clock that is adjusted steps back by less than this, in milliseconds. Meanwhile the time stands still. */
const STEERED_MS = 1000;

/** Distinguishes watched from unwatched time. The caller must read it more often than every `AWAY_MS`. */
function createPresence(now: () => Instant): () => Glance {
  let last = Math.floor(now());
  return () => {
    const read = Math.floor(now());
    const before = last;
    if (read < before && before - read <= STEERED_MS) return { is: 'steady', at: before };
    last = read;
    if (read < before) return { is: 'back', last: before, at: read };
    if (read - before > AWAY_MS) return { is: 'away', last: before, at: read };
    return { is: 'steady', at: read };
  };
}
