import type { Instant } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import { type Database, migrate, runLaterTransaction } from './database.node.ts';

/** The time that may delete, as it was last written down. */
export interface ClockTrust {
  /** Never ahead of the wall clock by more than that ever was behind a wrong one. */
  readonly trusted: Instant;
  /** The wall clock at the last beat, whether it was believed or not. */
  readonly lastWall: Instant;
  /** For so long, in milliseconds of running, a wall clock that is not believed has gone on as clocks do. */
  readonly confirmedMs: number;
}

/** The wall clock may be ahead of what is known by so much: a machine is off over a weekend. */
export const TOLERATED_MS = 3 * 86_400_000;
/** Who was away for longer is believed after so much running. */
export const CONFIRM_MS = 86_400_000;

/**
 * The next state of the time that may delete. A wall clock that is ahead by more than the last beat can explain may be wrong, for
 * one start or for good, and what it would delete does not come back. So time goes on by what was measured meanwhile, until the new
 * one has gone on as a clock does for a day of running. One that goes back is believed at once: it deletes less.
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

/** The time by which mail is too old. It outlives the process in the database. */
export interface RetentionClock {
  /** Looks at the clocks and writes down what is believed. @throws Fault `database` or `no-space` */
  beat(): void;
  now(): Instant;
  /** By how much the wall clock is ahead and not believed, in milliseconds; 0: it is believed. */
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
 * The latest moment by which a program that keeps no such clock may delete: never after `wall`, and never further than what the
 * running program once believed explains. Without any such word it is `wall`.
 */
export function openDeletionLimit(db: Database): (wall: Instant) => Instant {
  migrate(db, 'retention', SCHEMA);
  const read = db.prepare<RetentionRow>(SELECT);
  return (wall) => {
    const row = read.get();
    return row === undefined ? wall : Math.min(wall, row.trusted + TOLERATED_MS);
  };
}
