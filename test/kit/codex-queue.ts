import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Scratch, scratch } from './scratch.ts';

/** The tables of the queue, as `codex-cli 0.171.0` creates them. */
export const QUEUE_SCHEMA = `
CREATE TABLE IF NOT EXISTS queued_items (id TEXT PRIMARY KEY NOT NULL, thread_id TEXT NOT NULL, payload_json TEXT NOT NULL,
  queue_order INTEGER NOT NULL, created_at_ms INTEGER NOT NULL, updated_at_ms INTEGER NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS queued_items_thread_order_idx ON queued_items(thread_id, queue_order);
CREATE TABLE IF NOT EXISTS queued_thread_revisions (revision INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL UNIQUE);
${['INSERT', 'UPDATE', 'DELETE']
  .map(
    (
      event,
    ) => `CREATE TRIGGER IF NOT EXISTS queued_items_revision_after_${event.toLowerCase()} AFTER ${event} ON queued_items BEGIN
  INSERT INTO queued_thread_revisions (thread_id) VALUES (${event === 'DELETE' ? 'OLD' : 'NEW'}.thread_id)
  ON CONFLICT(thread_id) DO UPDATE SET revision = (SELECT COALESCE(MAX(revision), 0) + 1 FROM queued_thread_revisions); END;`,
  )
  .join('\n')}`;

const THREADS_SCHEMA = `
CREATE TABLE IF NOT EXISTS threads (id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL,
  archived INTEGER NOT NULL DEFAULT 0, model TEXT, name TEXT)`;

/** The folder of Codex with a queue, and Codex itself, which has both databases open as it writes. */
export interface CodexHome extends Disposable {
  readonly home: string;
  readonly scratch: Scratch;
  readonly queuePath: string;
  /** Runs SQL on the queue. */
  run(sql: string, ...values: (string | number)[]): void;
  /** The id of the thread with this name, which Codex knows from now on. */
  addThread(name: string): string;
  removeThread(thread: string): void;
  /** @returns the id of the message */
  enqueue(thread: string, text: string): string;
  /** The thread takes all of its messages. */
  takeAll(thread: string): void;
  /** Ends Codex: its databases have no side files then. It begins again with the next call. */
  close(): void;
}

const FIRST_MS = 1_795_943_332_993;

export function createCodexHome(): CodexHome {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const folder = scratch();
  const home = folder.at('.codex');
  mkdirSync(join(home, 'thread-writer-locks'), { recursive: true });
  const queuePath = join(home, 'queue_1.sqlite');
  let open: { readonly queue: DatabaseSync; readonly state: DatabaseSync } | null = null;
  let count = 0;

  function connect(): { readonly queue: DatabaseSync; readonly state: DatabaseSync } {
    if (open !== null) return open;
    open = { queue: new DatabaseSync(queuePath), state: new DatabaseSync(join(home, 'state_5.sqlite')) };
    for (const db of Object.values(open)) db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
    open.queue.exec(QUEUE_SCHEMA);
    open.state.exec(THREADS_SCHEMA);
    return open;
  }

  /** Ids begin with the time, and so are equal at the beginning (Codex contract 4). */
  function createId(): string {
    count += 1;
    const end = ((count * 0x9e3779b97f4b) % 0x1000000000000).toString(16).padStart(12, '0');
    return `01a22690-7c81-73a1-9976-${end}`;
  }

  connect();
  return {
    home,
    scratch: folder,
    queuePath,
    run: (sql, ...values) =>
      void connect()
        .queue.prepare(sql)
        .run(...values),
    addThread(name) {
      const id = createId();
      connect()
        .state.prepare('INSERT INTO threads (id, cwd, title, model) VALUES (?, ?, ?, ?)')
        .run(id, `/fields/${name}`, name, 'none');
      return id;
    },
    removeThread(thread) {
      connect().state.prepare('DELETE FROM threads WHERE id = ?').run(thread);
      connect().queue.prepare('DELETE FROM queued_items WHERE thread_id = ?').run(thread);
    },
    enqueue(thread, text) {
      const id = createId();
      const payload = { UserInput: { content: [{ type: 'text', text, text_elements: [] }], client_id: createId() } };
      connect()
        .queue.prepare(
          `INSERT INTO queued_items SELECT ?, ?, ?, coalesce(max(queue_order) + 1, 0), ?, ? FROM queued_items WHERE thread_id = ?`,
        )
        .run(id, thread, JSON.stringify(payload), FIRST_MS + count, FIRST_MS + count, thread);
      return id;
    },
    takeAll: (thread) => void connect().queue.prepare('DELETE FROM queued_items WHERE thread_id = ?').run(thread),
    close() {
      for (const db of Object.values(open ?? {})) db.close();
      open = null;
    },
    [Symbol.dispose]() {
      this.close();
      folder[Symbol.dispose]();
    },
  };
}
