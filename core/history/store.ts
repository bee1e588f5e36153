import { Fault, type Instant, type PersonaId } from '../model/index.ts';
import type { Files, Log } from '../ports/index.ts';
import { type Database, getErrno, isUnusable, migrate, openDatabase, runTransaction } from '../state/index.ts';
import {
  type Alert,
  type DrawnPoint,
  type HistoryState,
  type LastState,
  type Point,
  type PointValues,
  STATES,
} from './history.ts';
import type { InheritedOutage, Outage, OutageMember } from './ledger.ts';

/** The tables of the history. Every method throws a Fault `database` or `no-space` as the database does. */
export interface HistoryStore {
  /** Returns the last time somebody was there to write; null: never. */
  getLastSeen(): Instant | null;
  /**
   * Returns true when the clock was set back and points later than `seen` remain. The next write replaces them up to
   * its `at`.
   */
  isClockBehind(): boolean;
  /** Returns the open alerts, with the members that are still in them. */
  openAlerts(): readonly InheritedOutage[];
  /** Ends all open alerts at `at`. */
  closeAlerts(at: Instant): void;
  /**
   * Begins to write again at `at`. Nothing is known of the time since `seen`. An `at` before `seen` means that the
   * clock was set back. Then nothing is known from `at` on, and the points there are replaced as that time passes
   * again.
   */
  resume(at: Instant): void;
  /** Writes everything up to `at` in one transaction; `first` runs within it, before the rest. */
  write(points: readonly Point[], outages: Iterable<Outage>, at: Instant, first?: () => void): void;
  /** Returns the values of every persona whose values at `at` are known. */
  readValues(at: Instant): Map<PersonaId, PointValues>;
  /** Yields the points with `from` <= `at` < `before`, in order of time per persona. */
  points(from: Instant, before: Instant): Iterable<DrawnPoint>;
  /** Returns one persona; null when nothing is known of this id. */
  findPersona(persona: PersonaId): StoredPersona | null;
  alerts(limit: number): readonly Alert[];
  /** Deletes a small part of what ended before `cutoff`. */
  prune(cutoff: Instant): void;
}

interface StoredPersona {
  /** Returns the last known state and when it began; null when none is known. What lies between as unknown does not end it. */
  findState(): LastState | null;
  /** Yields the states with `from` <= `at` < `before` where they change, the first at `from`. */
  listStates(from: Instant, before: Instant): readonly { readonly at: Instant; readonly state: HistoryState }[];
  readValues(at: Instant): PointValues;
  /** Returns at most `limit` points with `from` <= `at` < `before`, in order of time. */
  points(from: Instant, before: Instant, limit: number): readonly Point[];
}

interface PointRow {
  readonly persona: PersonaId;
  readonly at: Instant;
  readonly unread: number | null;
  readonly urgent: number | null;
  readonly state: number;
}

/** The number of rows that one prune deletes, and of personas it visits. */
const PIECE_ROWS = 500;
const PIECE_PERSONAS = 50;
/** The approximate maximum number of personas that an answer with alerts names. */
const MOST_NAMES = 20_000;

/** @throws Fault `database` when the tables are of a newer Hivebar, or are no history tables. */
function createHistoryStore(db: Database): HistoryStore {
  migrate(db, 'history', HISTORY_SCHEMA);
  const numbers = new Map<PersonaId, number>();
  for (const { id, n } of db.prepare<{ id: string; n: number }>('SELECT id, n FROM personas').iterate()) {
    numbers.set(id, n);
  }
  /** Personas that were numbered in a transaction that may be undone. */
  const unsure = new Set<PersonaId>();
  let record = db.prepare<{ seen: number; high: number }>('SELECT seen, high FROM record').get() ?? null;

  const columns = 'p.id AS persona, q.at, unread, urgent, state';
  const sql = {
    name: db.prepare('INSERT INTO personas (id) VALUES (?)'),
    unname: db.prepare('DELETE FROM personas WHERE n = ?'),
    setRecord: db.prepare(
      'INSERT INTO record (one, seen, high) VALUES (1, ?, ?) ON CONFLICT DO UPDATE SET seen = excluded.seen, high = excluded.high',
    ),
    point: db.prepare(
      'INSERT INTO points (persona, at, unread, urgent, state) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET unread = excluded.unread, urgent = excluded.urgent, state = excluded.state',
    ),
    last: db.prepare<Omit<PointRow, 'persona'>>(
      'SELECT at, unread, urgent, state FROM points WHERE persona = ? AND at <= ? ORDER BY at DESC LIMIT 1',
    ),
    replace: db.prepare('DELETE FROM points WHERE persona = ? AND at > ? AND at <= ?'),
    // CROSS JOIN: goes persona by persona, each by its key
    pointsAt: db.prepare<PointRow>(
      `SELECT ${columns} FROM personas p CROSS JOIN points q ON q.persona = p.n
         AND q.at = (SELECT max(r.at) FROM points r WHERE r.persona = p.n AND r.at <= ?)`,
    ),
    // one row per persona, because returning a row costs more than reading ten
    lists: db.prepare<{ ats: string | null; unread: string; states: string }>(
      `SELECT group_concat(at) AS ats, group_concat(ifnull(unread, 'null')) AS unread, group_concat(state) AS states
         FROM (SELECT at, unread, state FROM points WHERE persona = ? AND at >= ? AND at < ? ORDER BY at)`,
    ),
    selectPoints: db.prepare<PointRow>(
      `SELECT ${columns} FROM personas p CROSS JOIN points q ON q.persona = p.n WHERE p.n = ? AND q.at >= ? AND q.at < ? ORDER BY q.at LIMIT ?`,
    ),
    lastState: db.prepare<{ state: number }>(
      'SELECT state FROM points WHERE persona = ? AND state <> 0 ORDER BY at DESC LIMIT 1',
    ),
    upSince: db.prepare<{ at: number }>(
      `SELECT at FROM points WHERE persona = ?1 AND state IN (1, 2)
         AND at > coalesce((SELECT max(at) FROM points WHERE persona = ?1 AND state = 3), -1) ORDER BY at LIMIT 1`,
    ),
    downSince: db.prepare<{ at: number }>(
      `SELECT at FROM points WHERE persona = ?1 AND state = 3 AND at > coalesce(
         (SELECT at FROM points WHERE persona = ?1 AND state IN (1, 2) ORDER BY at DESC LIMIT 1), -1) ORDER BY at LIMIT 1`,
    ),
    states: db.prepare<{ at: number; state: number }>(
      `SELECT at, state FROM (
         SELECT at, state, lag(state) OVER (ORDER BY at) AS before FROM points
         WHERE persona = ?1 AND at < ?3 AND at >= coalesce((SELECT max(at) FROM points WHERE persona = ?1 AND at <= ?2), ?2)
       ) WHERE before IS NULL OR before <> state ORDER BY at`,
    ),
    pruneTo: db.prepare<{ at: number | null }>(
      'SELECT max(at) AS at FROM (SELECT at FROM points WHERE persona = ?1 AND at <= ?2 ORDER BY at LIMIT ?3)',
    ),
    prune: db.prepare('DELETE FROM points WHERE persona = ? AND at < ?'),
    pruneEnd: db.prepare('DELETE FROM points WHERE persona = ? AND at = ?'),
    newest: db.prepare<{ at: number }>('SELECT at FROM points WHERE persona = ? ORDER BY at DESC LIMIT 1'),
    addAlert: db.prepare('INSERT INTO alerts (key, scope, message, since, until) VALUES (?, ?, ?, ?, ?)'),
    endAlert: db.prepare('UPDATE alerts SET until = ? WHERE id = ?'),
    member: db.prepare(
      'INSERT INTO alert_members (alert, why, name, is_open) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET is_open = excluded.is_open',
    ),
    openAlerts: db.prepare<Omit<InheritedOutage, 'open'>>(
      'SELECT id, key, scope, message, since FROM alerts WHERE until IS NULL ORDER BY id',
    ),
    openMembers: db.prepare<OutageMember>('SELECT why, name FROM alert_members WHERE alert = ? AND is_open = 1'),
    closeAlerts: db.prepare('UPDATE alerts SET until = max(since, ?) WHERE until IS NULL'),
    alerts: db.prepare<Omit<Alert, 'personas'> & { readonly id: number }>(
      'SELECT id, key, scope, message, since, until FROM alerts ORDER BY since DESC, id DESC LIMIT ?',
    ),
    names: db.prepare<{ name: string }>(
      "SELECT DISTINCT name FROM alert_members WHERE alert = ? AND why <> 'source' ORDER BY name",
    ),
    oldAlerts: db.prepare<{ id: number }>(
      'SELECT id FROM alerts WHERE until < ?1 AND since < ?1 ORDER BY since LIMIT ?2',
    ),
    dropMembers: db.prepare('DELETE FROM alert_members WHERE alert = ?'),
    dropAlert: db.prepare('DELETE FROM alerts WHERE id = ?'),
  };
  let pruned = 0;

  const findNumber = (persona: PersonaId): number => {
    const known = numbers.get(persona);
    if (known !== undefined) return known;
    const n = sql.name.run(persona).lastInsertRowid;
    numbers.set(persona, n);
    unsure.add(persona);
    return n;
  };
  const put = (n: number, at: Instant, { unread, urgent, state }: PointValues): void => {
    sql.point.run(n, at, unread, urgent, STATES.indexOf(state));
  };
  /** Deletes the points up to `at` that were written before the clock was set back. */
  const removeReplaced = (from: Instant, at: Instant): void => {
    if (record === null || record.high <= from) return;
    for (const n of numbers.values()) sql.replace.run(n, from, at);
  };
  const addBlankPoints = (at: Instant): void => {
    for (const n of numbers.values()) {
      const last = sql.last.get(n, at);
      if (last !== undefined && (last.state !== 0 || last.unread !== null || last.urgent !== null)) {
        sql.point.run(n, at, null, null, 0);
      }
    }
  };
  const setRecord = (lastSeen: Instant): void => {
    const next = { seen: lastSeen, high: Math.max(record?.high ?? lastSeen, lastSeen) };
    sql.setRecord.run(next.seen, next.high);
    record = next;
  };
  /** Runs `work` in a transaction and also restores the state in memory if it fails. */
  const runAtOnce = (work: () => void): void => {
    const before = record;
    try {
      runTransaction(db, work);
    } catch (error) {
      record = before;
      for (const persona of unsure) numbers.delete(persona);
      throw error;
    } finally {
      unsure.clear();
    }
  };

  return {
    getLastSeen: () => record?.seen ?? null,
    isClockBehind: () => record !== null && record.high > record.seen,
    openAlerts: () =>
      sql.openAlerts
        .all()
        .map((alert) => ({ ...alert, open: sql.openMembers.all(alert.id).map((member) => ({ ...member })) })),
    closeAlerts: (at) => void sql.closeAlerts.run(at),
    resume(at) {
      if (record === null) return setRecord(at);
      const { seen } = record;
      if (at > seen) {
        removeReplaced(seen, at);
        addBlankPoints(seen + 1);
      } else {
        addBlankPoints(at);
        record = { ...record, seen: at };
      }
      setRecord(at);
    },
    write(points, outages, at, first) {
      const added: [Outage, number][] = [];
      runAtOnce(() => {
        first?.();
        removeReplaced(record?.seen ?? at, at);
        for (const point of points) put(findNumber(point.persona), point.at, point);
        for (const outage of outages) {
          const { key, scope, message, since, until } = outage;
          const id = outage.id ?? sql.addAlert.run(key, scope, message, since, until).lastInsertRowid;
          if (outage.id === null) added.push([outage, id]);
          else sql.endAlert.run(until, id);
          for (const { why, name, isOpen } of outage.changed.values()) sql.member.run(id, why, name, isOpen ? 1 : 0);
        }
        setRecord(at);
      });
      for (const [outage, id] of added) outage.id = id;
    },
    readValues: (at) => new Map(sql.pointsAt.all(at).map((row) => [row.persona, toPoint(row)])),
    *points(from, before) {
      for (const [persona, n] of numbers) {
        const row = sql.lists.get(n, from, before);
        if (row === undefined || row.ats === null) continue;
        const ats = parseList<number>(row.ats);
        const unread = parseList<number | null>(row.unread);
        const states = parseList<number>(row.states);
        for (const [i, at] of ats.entries()) {
          yield { persona, at, unread: unread[i] ?? null, state: STATES[states[i] ?? 0] ?? 'unknown' };
        }
      }
    },
    findPersona(persona) {
      const n = numbers.get(persona);
      if (n === undefined) return null;
      return {
        readValues: (at) => {
          const row = sql.last.get(n, at);
          return toPoint(
            row === undefined ? { persona, at, unread: null, urgent: null, state: 0 } : { persona, ...row },
          );
        },
        findState: () => {
          const last = sql.lastState.get(n);
          if (last === undefined) return null;
          const state = last.state === STATES.indexOf('down') ? 'down' : 'up';
          const since = (state === 'down' ? sql.downSince : sql.upSince).get(n)?.at;
          return since === undefined ? null : { state, since };
        },
        listStates: (from, before) => {
          const changes = sql.states.all(n, from, before).map(({ at, state }) => ({
            at: Math.max(at, from),
            state: STATES[state] ?? 'unknown',
          }));
          return changes[0]?.at === from ? changes : [{ at: from, state: 'unknown' }, ...changes];
        },
        points: (from, before, limit) => sql.selectPoints.all(n, from, before, limit).map(toPoint),
      };
    },
    alerts(limit) {
      const alerts: Alert[] = [];
      let names = 0;
      for (const { id, ...alert } of sql.alerts.all(limit)) {
        const personas = sql.names.all(id).map(({ name }) => name);
        names += personas.length;
        if (names > MOST_NAMES && alerts.length > 0) break;
        alerts.push({ ...alert, personas });
      }
      return alerts;
    },
    prune(cutoff) {
      const removedPersonas: PersonaId[] = [];
      runAtOnce(() => {
        let rows = PIECE_ROWS;
        const entries = [...numbers];
        for (let remaining = Math.min(PIECE_PERSONAS, entries.length); remaining > 0 && rows > 0; remaining -= 1) {
          const [id, n] = entries[pruned % entries.length] as [PersonaId, number];
          pruned = (pruned + 1) % entries.length;
          // the last point before the cutoff stays, because it is still valid after it
          const to = sql.pruneTo.get(n, cutoff, rows)?.at ?? null;
          if (to === null) continue;
          rows -= sql.prune.run(n, to).changes;
          const last = sql.last.get(n, cutoff);
          if (last === undefined || sql.newest.get(n)?.at !== to) continue;
          if (last.state !== 0 || last.unread !== null || last.urgent !== null) continue;
          sql.pruneEnd.run(n, last.at); // the persona is gone, and there was no fact about it since
          sql.unname.run(n);
          removedPersonas.push(id);
        }
        for (const { id } of sql.oldAlerts.all(cutoff, PIECE_PERSONAS)) {
          sql.dropMembers.run(id);
          sql.dropAlert.run(id);
        }
      });
      for (const persona of removedPersonas) numbers.delete(persona);
    },
  };
}

function toPoint(row: PointRow): Point {
  return {
    persona: row.persona,
    at: row.at,
    unread: row.unread,
    urgent: row.urgent,
    state: STATES[row.state] ?? 'unknown',
  };
}

/** Parses numbers and `null`, as SQLite's `group_concat` joins them. */
function parseList<T extends number | null>(list: string): readonly T[] {
  return JSON.parse(`[${list}]`) as T[];
}

/**
 * The tables of the history.
 *
 * A point is valid from its `at` (milliseconds) until the next point of the persona; `state` is an index of `STATES`,
 * and null means not known. `record` has one row: `seen` is the last time somebody was there to write, and `high` the
 * highest `at` of a point. `high` is above `seen` after a clock was set back; then new points replace the old ones. A
 * member of an alert is one problem of one persona or source; `is_open`: the problem continues.
 */
const HISTORY_SCHEMA: readonly string[] = [
  `
  CREATE TABLE personas (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE points (
    persona INTEGER NOT NULL,
    at INTEGER NOT NULL,
    unread INTEGER,
    urgent INTEGER,
    state INTEGER NOT NULL,
    PRIMARY KEY (persona, at)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE record (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seen INTEGER NOT NULL,
    high INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE alerts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    scope TEXT NOT NULL,
    message TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER
  ) STRICT;
  CREATE INDEX alerts_by_since ON alerts (since);
  CREATE INDEX alerts_open ON alerts (id) WHERE until IS NULL;

  CREATE TABLE alert_members (
    alert INTEGER NOT NULL,
    why TEXT NOT NULL,
    name TEXT NOT NULL,
    is_open INTEGER NOT NULL,
    PRIMARY KEY (alert, why, name)
  ) STRICT, WITHOUT ROWID;
  `,
  // State 3 is down. It is rare, and tells since when a persona is up without a look at all its points.
  'CREATE INDEX points_down ON points (persona, at) WHERE state = 3;',
];

/** Marks the file as a history of Hivebar (PRAGMA application_id): "hbhi". */
const APPLICATION_ID = 0x68626869;

export interface OpenHistoryStore extends Disposable {
  readonly store: HistoryStore;
}

/** How long a write waits for another process that holds the file, in milliseconds. History is never worth a longer stop. */
const BUSY_MS = 50;

/**
 * Opens the history at `path`. An unusable file is moved to `PATH.set-aside`, replaces an earlier one there, and an
 * empty history is created. History is derived, so no truth is lost.
 *
 * @throws Fault `database` or `no-space` when no history can be opened now
 */
export function openHistoryStore(path: string, files: Files, log: Log): OpenHistoryStore {
  try {
    return open(path);
  } catch (error) {
    if (!isUnusable(error)) throw error;
    setFileAside(path, files, log, error);
    return open(path);
  }
}

/** @throws Fault `database` when the file cannot be moved */
export function setFileAside(path: string, files: Files, log: Log, why: Fault): void {
  const to = `${path}.set-aside`;
  try {
    if (files.lstat(path) === null) throw why; // no file is in the way, so a new one would fail as well
    files.rename(path, to);
    for (const beside of ['-wal', '-shm']) move(files, `${path}${beside}`, `${to}${beside}`);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const code = getErrno(error);
    throw new Fault('database', `${path} cannot be moved away (${code}): ${why.message}`, why.scope, { cause: error });
  }
  log.warn(`a new history was started, and the old one is now ${to}: ${why.message}`);
}

function move(files: Files, from: string, to: string): void {
  if (files.lstat(from) !== null) files.rename(from, to);
  else if (files.lstat(to) !== null) files.unlink(to); // belongs to a file that was set aside before
}

function open(path: string): OpenHistoryStore {
  const db = openDatabase(path);
  try {
    db.exec(`PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA wal_autocheckpoint = 1000`);
    claim(db);
    return { store: createHistoryStore(db), [Symbol.dispose]: () => db[Symbol.dispose]() };
  } catch (error) {
    db[Symbol.dispose]();
    throw error;
  }
}

/** @throws Fault `database` when the database belongs to another program */
function claim(db: Database): void {
  const id = db.prepare<{ application_id: number }>('PRAGMA application_id').get()?.application_id;
  if (id === APPLICATION_ID) return;
  const tables = db.prepare<{ n: number }>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
  if (tables > 0) {
    throw new Fault('database', `${db.path} is the database of another program`, { is: 'machine', key: 'history' });
  }
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}
