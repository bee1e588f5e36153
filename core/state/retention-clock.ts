import type { Instant } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import { type Database, migrate, runLaterTransaction } from './database.node.ts';

/** The time by which mail may be deleted, as it was saved last. */
export interface ClockTrust {
  /** Never further ahead of the real time than a wrong wall clock that was believed. */
  readonly trusted: Instant;
  /** The wall clock at the last beat, believed or not. */
  readonly lastWall: Instant;
  /** For how long, in milliseconds of running, a wall clock that is not believed has advanced normally. */
  readonly confirmedMs: number;
}

/** How far the wall clock may be ahead of the trusted time: a machine may be off over a weekend. */
export const TOLERATED_MS = 3 * 86_400_000;
/** A wall clock that is further ahead is believed after this much running time. */
export const CONFIRM_MS = 86_400_000;

/**
 * The next state of the trusted time. A wall clock that is further ahead than the last beat explains may be wrong, for one start
 * or for good, and deleted mail does not come back. So the trusted time advances by the measured time, until the new wall clock
 * has advanced normally for a day of running.
 * A wall clock that goes back is believed at once, because it deletes less.
 *
 * @param elapsedMs measured since the last beat of this process, 0 at its first
 */
export function advanceTrust(
  { trusted, lastWall, confirmedMs }: ClockTrust,
  wall: Instant,
  elapsedMs: number,
): ClockTrust {
  if (wall <= trusted + elapsedMs + TOLERATED_MS) return { trusted: wall, lastWall: wall, confirmedMs: 0 };
  const goesOn = Math.abs(wall - (lastWall + elapsedMs)) <= TOLERATED_MS;
  const confirmed = goesOn ? confirmedMs + elapsedMs : 0;
  if (confirmed >= CONFIRM_MS) return { trusted: wall, lastWall: wall, confirmedMs: 0 };
  return { trusted: trusted + elapsedMs, lastWall: wall, confirmedMs: confirmed };
}

/** The time by which mail is too old. It is stored in the database, so it survives the process. */
export interface RetentionClock {
  /** Reads the clocks and saves what is believed. @throws Fault `database` or `no-space` */
  beat(): void;
  now(): Instant;
  /** By how many milliseconds the wall clock is ahead without being believed; 0 when it is believed. */
  doubtedMs(): number;
}

const SCHEMA: readonly string[] = [
  `CREATE TABLE retention_clock (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    trusted INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    confirmed_ms INTEGER NOT NULL
  ) STRICT;`,
];

interface RetentionRow {
  readonly trusted: number;
  readonly seen: number;
  readonly confirmed_ms: number;
}

const SELECT = 'SELECT trusted, seen, confirmed_ms FROM retention_clock';

export function openRetentionClock(db: Database, clock: Pick<Clock, 'now' | 'monotonic'>): RetentionClock {
  migrate(db, 'retention', SCHEMA);
  const write = db.prepare(
    `INSERT INTO retention_clock (one, trusted, seen, confirmed_ms) VALUES (1, ?, ?, ?)
     ON CONFLICT (one) DO UPDATE SET trusted = excluded.trusted, seen = excluded.seen, confirmed_ms = excluded.confirmed_ms`,
  );
  const row = db.prepare<RetentionRow>(SELECT).get();
  let at = clock.monotonic();
  const wall = Math.floor(clock.now());
  let trust: ClockTrust =
    row === undefined
      ? { trusted: wall, lastWall: wall, confirmedMs: 0 }
      : advanceTrust({ trusted: row.trusted, lastWall: row.seen, confirmedMs: row.confirmed_ms }, wall, 0);

  function update(): void {
    const now = clock.monotonic();
    trust = advanceTrust(trust, Math.floor(clock.now()), Math.floor(now - at));
    at = now;
  }

  return {
    beat() {
      update();
      runLaterTransaction(db, () => write.run(trust.trusted, trust.lastWall, trust.confirmedMs));
    },
    now() {
      update();
      return trust.trusted;
    },
    doubtedMs: () => Math.max(0, trust.lastWall - trust.trusted),
  };
}

/**
 * The latest moment by which a program without such a clock may delete. It is never after `wall`, and never further ahead than
 * what the running program once believed explains. When nothing was saved it is `wall`.
 */
export function openDeletionLimit(db: Database): (wall: Instant) => Instant {
  migrate(db, 'retention', SCHEMA);
  const read = db.prepare<RetentionRow>(SELECT);
  return (wall) => {
    const row = read.get();
    return row === undefined ? wall : Math.min(wall, row.trusted + TOLERATED_MS);
  };
}
