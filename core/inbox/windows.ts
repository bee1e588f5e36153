import { exactly } from '../model/index.ts';
import type { Database } from '../state/index.ts';
import type { TrimmedRow, Window } from './local-hive.ts';
import type { HeadRow } from './statements.ts';

/** Reads the window of one inbox; see `LocalHive.window`. */
export type ReadWindow = (address: string, after: number | null) => Promise<Window>;

interface Asked {
  readonly address: string;
  readonly after: number | null;
  readonly answer: PromiseWithResolvers<Window>;
}

/**
 * Windows that are asked for in one turn are read together, by two statements however many they are: a storm asks for
 * 1,000 at once, and most of what a small query costs is the call.
 */
export function batchedWindows(
  db: Database,
  headBytes: number | null,
  trimmed: (row: HeadRow) => TrimmedRow,
): ReadWindow {
  // CROSS JOIN: what is asked for leads, and each inbox is found through its index.
  const rowsOf = db.prepare<HeadRow & { n: number }>(
    `SELECT w.key AS n, i.seq AS id, i.from_, i.created, i.read_at, substr(CAST(i.content AS BLOB), 1, ?1) AS head
     FROM json_each(?2) AS w CROSS JOIN inbox AS i ON i.persona = w.value ->> 0 AND i.seq > w.value ->> 1
     ORDER BY w.key, i.seq`,
  );
  const standingOf = db.prepare<{ n: number; last_id: number; unread: number; urgent: number }>(
    `SELECT w.key AS n, p.last_id, p.unread, p.urgent
     FROM json_each(?1) AS w CROSS JOIN personas AS p ON p.name = w.value ->> 0`,
  );
  let waiting: Asked[] = [];

  function read(batch: readonly Asked[]): Window[] {
    const asked = JSON.stringify(batch.map(({ address, after }) => [address, after]));
    const windows = batch.map(() => ({ rows: [] as TrimmedRow[], max: 0, unread: exactly(0), urgent: exactly(0) }));
    for (const { n, last_id, unread, urgent } of standingOf.all(asked)) {
      Object.assign(windows[n] ?? {}, { max: last_id, unread: exactly(unread), urgent: exactly(urgent) });
    }
    for (const row of rowsOf.all(headBytes, asked)) {
      const window = windows[row.n];
      window?.rows.push(trimmed(row));
      if (window !== undefined) window.max = Math.max(window.max, row.id); // mail that came between the two statements
    }
    return windows;
  }

  function flush(): void {
    const batch = waiting;
    waiting = [];
    try {
      const windows = read(batch);
      batch.forEach(({ answer }, i) => {
        answer.resolve(windows[i] as Window);
      });
    } catch (error) {
      for (const { answer } of batch) answer.reject(error);
    }
  }

  return (address, after) => {
    const answer = Promise.withResolvers<Window>();
    waiting.push({ address, after, answer });
    if (waiting.length === 1) queueMicrotask(flush);
    return answer.promise;
  };
}
