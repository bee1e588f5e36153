import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatStoreReport, readStoreReport } from '../../../core/state/index.ts';
import type { DatabaseProbe, WatcherProbe } from './database.ts';

/**
 * This program runs in its own process, because calls of SQLite cannot be interrupted and checking a large file takes long. It
 * prints the counts on one line first, then what the check finds. A table that does not exist yet is no fault.
 */
const PROGRAM = `
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(new URL(process.argv[1]), { readOnly: true, timeout: 1000 });
const rows = (sql) => {
  try {
    return db.prepare(sql).all();
  } catch (error) {
    if (/no such (table|column)/.test(error.message)) return [];
    throw error;
  }
};
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
const [hive = null] = rows('SELECT count(*) AS personas, coalesce(sum(unread), 0) AS unread, (SELECT count(*) FROM inbox) AS messages FROM personas');
const watches = rows('SELECT persona, (SELECT event_id FROM outbox WHERE seq = (SELECT max(seq) FROM outbox WHERE persona = watches.persona)) AS newest FROM watches');
say({ hive, watches });
say(db.prepare('PRAGMA integrity_check(3)').all().map((row) => row.integrity_check).filter((text) => text !== 'ok'));
`;

const CHECK_MS = 2500;
const MOST_OUTPUT = 64 * 1024 * 1024;

/** Reads the database of a state directory without leaving a trace: it creates no file and takes over nothing. */
export function readDatabase(state: string, stop: AbortSignal): Promise<DatabaseProbe> {
  const path = join(state, 'hivebar.sqlite');
  const bytes = readSize(path);
  if (bytes === null) return Promise.resolve({ is: 'absent', path });
  const url = pathToFileURL(path);
  // Without a log beside the database everything is in the file, and SQLite is told to create none. With a log, another process
  // has the database open or died with it, and the log has to be read.
  if ((readSize(`${path}-wal`) ?? 0) === 0) url.searchParams.set('immutable', '1');
  return new Promise((resolve) => {
    const flaws = Promise.withResolvers<readonly string[] | null>();
    const options = { timeout: CHECK_MS, killSignal: 'SIGKILL', signal: stop, maxBuffer: MOST_OUTPUT } as const;
    const args = ['--no-warnings', '--input-type=commonjs', '-e', PROGRAM, url.href];
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const [, flawsLine] = stdout.split('\n');
      flaws.resolve(flawsLine === undefined || flawsLine === '' ? null : (JSON.parse(flawsLine) as string[]));
      const why = /Error: (.*)/.exec(stderr)?.[1] ?? error?.message.split('\n')[0] ?? 'it says nothing';
      resolve({ is: 'unreadable', path, why }); // ignored when the counts came before
    });
    let head = '';
    child.stdout?.on('data', (text: string) => {
      if (head.includes('\n')) return;
      head += text;
      const end = head.indexOf('\n');
      if (end === -1) return;
      const { hive, watches } = JSON.parse(head.slice(0, end)) as { hive: DatabaseCounts; watches: WatcherProbe[] };
      const journalBytes = readSize(join(state, 'outbox.journal'));
      const storeReport = readStoreReport(path);
      const report = storeReport === null ? {} : { report: formatStoreReport(path, storeReport) };
      resolve({ is: 'read', path, bytes, journalBytes, hive, watches, flaws: flaws.promise, ...report });
    });
  });
}

type DatabaseCounts = { personas: number; messages: number; unread: number } | null;

/** Null: there is no such file. */
function readSize(path: string): number | null {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? null;
}
