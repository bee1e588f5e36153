import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Scratch, scratch } from './scratch.ts';

/** The tables of agmsg, as its driver for SQLite creates them. */
export const AGMSG_SCHEMA = `
CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, id TEXT NOT NULL, team TEXT,
  from_agent TEXT, to_agent TEXT, body TEXT, msg_id TEXT, agent TEXT, at TEXT NOT NULL, legacy_id INTEGER);
CREATE INDEX IF NOT EXISTS events_sent ON events(type, team, to_agent, seq);
CREATE INDEX IF NOT EXISTS events_read ON events(type, team, agent, msg_id);
CREATE INDEX IF NOT EXISTS events_legacy ON events(legacy_id);
CREATE TABLE IF NOT EXISTS read_cursors (team TEXT NOT NULL, agent TEXT NOT NULL,
  local_position INTEGER NOT NULL DEFAULT 0 CHECK(local_position >= 0), PRIMARY KEY(team, agent));
CREATE TABLE IF NOT EXISTS storage_metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY AUTOINCREMENT, team TEXT NOT NULL, from_agent TEXT NOT NULL,
  to_agent TEXT NOT NULL, body TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT '2026-08-01T10:00:00Z', read_at TEXT);
CREATE INDEX IF NOT EXISTS idx_unread ON messages(team, to_agent, read_at) WHERE read_at IS NULL;`;

const AT = '2026-08-01T10:00:00Z';

/** An installation of agmsg, and its scripts, which have the store open as they write. */
export interface AgmsgHome extends Disposable {
  readonly root: string;
  readonly scratch: Scratch;
  readonly storePath: string;
  run(sql: string, ...values: (string | number)[]): void;
  /** Writes the file of a team. */
  writeTeam(team: string, agents: readonly string[]): void;
  /** @returns the id of the message, which is written to both tables */
  send(team: string, to: string, body: string, from?: string): string;
  /** A marker for one message. */
  mark(team: string, agent: string, id: string): void;
  /** The cursor of the agent passes everything. */
  readAll(team: string, agent: string): void;
  close(): void;
}

export function createAgmsgHome(): AgmsgHome {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const folder = scratch();
  const root = folder.at('agmsg');
  mkdirSync(join(root, 'db'), { recursive: true });
  mkdirSync(join(root, 'teams'));
  const storePath = join(root, 'db', 'messages.db');
  let open: DatabaseSync | null = null;
  let count = 0;

  function connect(): DatabaseSync {
    if (open !== null) return open;
    open = new DatabaseSync(storePath);
    open.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; ${AGMSG_SCHEMA}`);
    return open;
  }

  const run = (sql: string, ...values: (string | number)[]): void =>
    void connect()
      .prepare(sql)
      .run(...values);
  return {
    root,
    scratch: folder,
    storePath,
    run,
    writeTeam(team, agents) {
      mkdirSync(join(root, 'teams', team), { recursive: true });
      const registrations = (agent: string) => [{ type: 'codex', project: `/fields/${agent}` }];
      const members = Object.fromEntries(agents.map((agent) => [agent, { registrations: registrations(agent) }]));
      writeFileSync(join(root, 'teams', team, 'config.json'), JSON.stringify({ name: team, agents: members }));
    },
    send(team, to, body, from = 'human') {
      count += 1;
      const id = `0198a2c1-0000-7000-8000-${String(count).padStart(12, '0')}`;
      run('INSERT INTO messages (team, from_agent, to_agent, body) VALUES (?, ?, ?, ?)', team, from, to, body);
      run(
        `INSERT INTO events (type, id, team, from_agent, to_agent, body, at, legacy_id)
          VALUES ('message_sent', ?, ?, ?, ?, ?, ?, (SELECT max(id) FROM messages))`,
        ...[id, team, from, to, body, AT],
      );
      return id;
    },
    mark(team, agent, id) {
      run(
        `INSERT INTO events (type, id, team, agent, msg_id, at) VALUES ('message_read', ?, ?, ?, ?, ?)`,
        ...[`r-${id}`, team, agent, id, AT],
      );
      run('UPDATE messages SET read_at = ? WHERE id = (SELECT legacy_id FROM events WHERE id = ?)', AT, id);
    },
    readAll: (team, agent) =>
      run(
        `INSERT INTO read_cursors VALUES (?, ?, (SELECT max(seq) FROM events))
          ON CONFLICT (team, agent) DO UPDATE SET local_position = excluded.local_position`,
        ...[team, agent],
      ),
    close() {
      open?.close();
      open = null;
    },
    [Symbol.dispose]() {
      this.close();
      folder[Symbol.dispose]();
    },
  };
}
