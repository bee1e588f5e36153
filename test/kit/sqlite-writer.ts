import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Another process with the database open. It runs the SQL of each line, answers `ok` or an error, and ends with its stdin. */
const WRITER = `
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(process.argv[1]);
const lines = require('node:readline').createInterface({ input: process.stdin });
lines.on('line', (sql) => {
  try { db.exec(sql); console.log('ok'); } catch (error) { console.log(error.message); }
});
lines.on('close', () => db.close());
console.log('ok');
`;

/** Somebody else who has a database open. */
export interface SqliteWriter extends AsyncDisposable {
  run(sql: string): Promise<void>;
  /** Closes the database, which then has no side file. */
  close(): Promise<void>;
  /** Ends without closing it. */
  kill(): Promise<void>;
}

/** Opens a database in another process and runs these statements. */
export async function openSqliteWriter(path: string, ...statements: string[]): Promise<SqliteWriter> {
  const args = ['--no-warnings', '--input-type=commonjs', '-e', WRITER, path];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const end = async (signal: NodeJS.Signals | null): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    if (signal === null) child.stdin.end();
    else child.kill(signal);
    await once(child, 'exit');
  };
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  assert.equal((await answers.next()).value, 'ok');
  const run = async (sql: string): Promise<void> => {
    child.stdin.write(`${sql.replaceAll('\n', ' ')}\n`);
    assert.equal((await answers.next()).value, 'ok', sql);
  };
  for (const sql of statements) await run(sql);
  return { run, close: () => end(null), kill: () => end('SIGKILL'), [Symbol.asyncDispose]: () => end('SIGKILL') };
}
