import { realClock, silentLog } from '../../core/ports/index.ts';
import { createCodexSource } from '../../core/sources/codex/source.ts';
import { createRealDisk, readLockTable } from '../../core/state/index.ts';
import { createCodexHome } from '../kit/codex-queue.ts';
import { goals, quantile, type Sample } from './harness.ts';

const ROWS = 10_000;
const THREADS = 100;
const POLLS = 300;

export const benches = [
  goals([{ name: 'one poll of a Codex queue of 10,000 rows, nothing changed', unit: 'ms', bar: 1 }], pollQueue),
];

/** What the source does each 10 s: the counts of all threads, and whether somebody runs them. The floor only opens and reads. */
async function pollQueue(): Promise<readonly Sample[]> {
  using codex = createCodexHome();
  const threads = Array.from({ length: THREADS }, (_, n) => codex.addThread(`thread-${n}`));
  codex.run('BEGIN');
  for (let n = 0; n < ROWS; n += 1) codex.enqueue(threads[n % THREADS] ?? '', `message ${n}`);
  codex.run('COMMIT');
  const { signal } = new AbortController();
  await using source = createCodexSource({
    ...{ home: codex.home, disk: createRealDisk(silentLog), clock: realClock, log: silentLog, contentChars: 220 },
    ...{ put: () => {}, findSessionPersona: () => null, readLockTable },
  });
  let rows = 0;
  for (const persona of await source.personas(signal)) {
    const { unread } = await source.poll(persona, { is: 'unset' }, signal);
    rows += unread.is === 'exact' ? unread.n : 0;
  }
  if (rows !== ROWS) throw new Error(`${rows} rows were counted`);
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const readBare = (): void => {
    const db = new DatabaseSync(codex.queuePath, { readOnly: true });
    db.prepare('SELECT max(revision) FROM queued_thread_revisions').get();
    db.close();
  };
  const [polls, bare]: [number[], number[]] = [[], []];
  for (let n = 0; n < POLLS; n += 1) {
    const from = performance.now();
    await source.pending?.once(signal);
    const between = performance.now();
    readBare();
    polls.push(between - from);
    bare.push(performance.now() - between);
  }
  const floor = { value: quantile(bare, 0.5), unit: 'ms', what: 'to open it, read that row and close it' } as const;
  return [{ value: quantile(polls, 0.5), floor }];
}
