import type { Instant, PersonaId } from '../../core/model/index.ts';
import {
  type Database,
  migrate,
  noteOwner,
  removeOwners,
  runTransaction,
  toOwnersDir,
} from '../../core/state/index.ts';
import { checkAnnouncement, type Session, type SessionAnnouncement } from './session.ts';

const STEPS = [
  `CREATE TABLE sessions (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of announcements, whatever the clock did
     persona TEXT NOT NULL,
     id TEXT,
     cwd TEXT NOT NULL,
     tmux_socket TEXT, tmux_server INTEGER, tmux_pane TEXT,
     pid INTEGER NOT NULL, start_key TEXT,
     resume TEXT, -- a JSON array
     announced_at REAL NOT NULL,
     ended_at REAL
   ) STRICT;
   CREATE INDEX sessions_of ON sessions (persona, seq)`,
  `ALTER TABLE sessions ADD COLUMN harness TEXT;
   ALTER TABLE sessions ADD COLUMN harness_home TEXT;
   ALTER TABLE sessions ADD COLUMN lock_path TEXT`,
  'CREATE INDEX sessions_by_id ON sessions (id, seq)',
] as const;

/**
 * The number of sessions that are stored for each persona, beside those that say who works in a folder: hooks announce each session
 * there by its id, and would soon push out what a person set.
 */
const MAX_SESSIONS = 10;

/**
 * Stores which persona works where, which is what a click opens. `hivebar session` writes it, also while the tray process is
 * closed.
 */
export interface SessionStore {
  /**
   * Stores the session as the persona's newest, and replaces an earlier announcement of the same session. @throws Fault `usage`
   */
  set(announcement: SessionAnnouncement, at: Instant): void;
  /** Newest first: the last 10, and the newest of each folder that was set without an id and is not over. */
  list(persona: PersonaId): readonly Session[];
  /** By persona, and newest first for each. */
  listAll(): readonly Session[];
  /** The persona that announced a session with this id and did not end it; the one that did so last. Null: none. */
  findPersona(id: string): PersonaId | null;
  /** Ends the session with this id or, with null, the newest open one. Returns null when there is none. */
  end(persona: PersonaId, id: string | null, at: Instant): Session | null;
  /** Removes all sessions of the persona. */
  forget(persona: PersonaId): void;
}

interface SessionRow {
  readonly seq: number;
  readonly persona: string;
  readonly id: string | null;
  readonly cwd: string;
  readonly tmux_socket: string | null;
  readonly tmux_server: number | null;
  readonly tmux_pane: string | null;
  readonly pid: number;
  readonly start_key: string | null;
  readonly resume: string | null;
  readonly announced_at: number;
  readonly ended_at: number | null;
  readonly harness: string | null;
  readonly harness_home: string | null;
  readonly lock_path: string | null;
}

/** @throws Fault `database`; so does each of its methods. */
export function openSessionStore(db: Database, platform: NodeJS.Platform = process.platform): SessionStore {
  migrate(db, 'sessions', STEPS);
  const selectByPersona = db.prepare<SessionRow>('SELECT * FROM sessions WHERE persona = ? ORDER BY seq DESC');
  const selectAll = db.prepare<SessionRow>('SELECT * FROM sessions ORDER BY persona, seq DESC');
  const selectOpen = db.prepare<Pick<SessionRow, 'persona'>>(
    'SELECT persona FROM sessions WHERE id = ? AND ended_at IS NULL ORDER BY seq DESC LIMIT 1',
  );
  const insert = db.prepare(
    `INSERT INTO sessions (persona, id, cwd, tmux_socket, tmux_server, tmux_pane, pid, start_key, resume, announced_at,
       harness, harness_home, lock_path)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const sameId = db.prepare('DELETE FROM sessions WHERE persona = ? AND id = ?');
  // A session without an id is identified by its process.
  const againByProcess = db.prepare(
    'DELETE FROM sessions WHERE persona = ? AND id IS NULL AND pid = ? AND start_key IS ?',
  );
  const trim = db.prepare<{ id: string | null }>(
    `DELETE FROM sessions WHERE persona = ? AND seq NOT IN
       (SELECT seq FROM sessions WHERE persona = ? ORDER BY seq DESC LIMIT ${MAX_SESSIONS})
     AND seq NOT IN
       (SELECT max(seq) FROM sessions WHERE persona = ? AND id IS NULL AND ended_at IS NULL GROUP BY cwd) RETURNING id`,
  );
  const selectNewest = db.prepare<Pick<SessionRow, 'persona'>>(
    'SELECT persona FROM sessions WHERE id = ? ORDER BY announced_at DESC, persona, seq DESC LIMIT 1',
  );
  const owners = toOwnersDir(db.path);
  const forgetAll = db.prepare('DELETE FROM sessions WHERE persona = ?');
  const setEnded = db.prepare('UPDATE sessions SET ended_at = ? WHERE seq = ?');

  /** Under a lock of its own, so that only what was committed is noted. */
  function note(dir: string, id: string, persona: PersonaId): void {
    try {
      runTransaction(db, () => {
        if (selectNewest.get(id)?.persona === persona) noteOwner(dir, id, persona);
      });
    } catch {
      // The store is busy: without a note each hook of the session asks the program.
    }
  }

  return {
    set(announcement, at) {
      const { persona, id, cwd, pane, runner, resume, harness } = checkAnnouncement(announcement, platform);
      const { pid, startKey, lock } = runner;
      runTransaction(db, () => {
        if (id === null) againByProcess.run(persona, pid, startKey);
        else sameId.run(persona, id);
        const paneColumns = [pane?.socket ?? null, pane?.serverPid ?? null, pane?.pane ?? null];
        const processColumns = [harness?.name ?? null, harness?.home ?? null, lock ?? null];
        const resumeJson = resume === null ? null : JSON.stringify(resume);
        insert.run(persona, id, cwd, ...paneColumns, pid, startKey, resumeJson, at, ...processColumns);
        const trimmed = trim.all(persona, persona, persona).map((row) => row.id);
        removeOwners(
          owners,
          [id, ...trimmed].filter((each) => each !== null),
        );
      });
      if (id !== null && owners !== null) note(owners, id, persona);
    },
    list: (persona) => selectByPersona.all(persona).map(toSession),
    listAll: () => selectAll.all().map(toSession),
    findPersona: (id) => selectOpen.get(id)?.persona ?? null,
    end: (persona, id, at) =>
      runTransaction(db, () => {
        const row = selectByPersona
          .all(persona)
          .find((candidate) => (id === null ? candidate.ended_at === null : candidate.id === id));
        if (row === undefined) return null;
        const endedAt = row.ended_at ?? at;
        setEnded.run(endedAt, row.seq);
        return { ...toSession(row), endedAt };
      }),
    forget: (persona) =>
      runTransaction(db, () => {
        const ids = selectByPersona.all(persona).flatMap(({ id }) => id ?? []);
        forgetAll.run(persona);
        removeOwners(owners, ids);
      }),
  };
}

function toSession(row: SessionRow): Session {
  const { tmux_socket: socket, tmux_server: serverPid, tmux_pane: pane } = row;
  return {
    persona: row.persona,
    id: row.id,
    cwd: row.cwd,
    pane: socket === null || serverPid === null || pane === null ? null : { socket, serverPid, pane },
    runner: { pid: row.pid, startKey: row.start_key, ...(row.lock_path === null ? {} : { lock: row.lock_path }) },
    resume: row.resume === null ? null : (JSON.parse(row.resume) as string[]),
    announcedAt: row.announced_at,
    endedAt: row.ended_at,
    ...(row.harness === null || row.harness_home === null
      ? {}
      : { harness: { name: row.harness, home: row.harness_home } }),
  };
}
