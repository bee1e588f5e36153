import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createDelivered, watchPersona } from '../../../test/conformance/watch-source.ts';
import { type CodexHome, createCodexHome, QUEUE_SCHEMA } from '../../../test/kit/codex-queue.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import { openSqliteWriter } from '../../../test/kit/sqlite-writer.ts';
import { until } from '../../../test/kit/until.ts';
import { describeTree } from '../../../test/kit/watched-tree.ts';
import type { Fact } from '../../board/index.ts';
import { exactly, Fault, UNKNOWN } from '../../model/index.ts';
import { type Log, realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { PollResult, SetItem } from '../source.ts';
import { judgeQueue } from './doctor.ts';
import { type CodexOptions, type CodexSource, createCodexSource } from './source.ts';

const DATA = join(import.meta.dirname, '../../../test/data/codex-queue');
const EXPECTED = JSON.parse(readFileSync(join(DATA, 'expected.json'), 'utf8'));
const never = new AbortController().signal;

let folder: Scratch;
let codex: CodexHome;
beforeEach(() => {
  folder = scratch();
  codex = createCodexHome();
});
afterEach(() => {
  codex[Symbol.dispose]();
  folder[Symbol.dispose]();
});

function createSource(home: string, options: Partial<CodexOptions> = {}): CodexSource {
  return createCodexSource({
    ...{ home, disk: createRealDisk(silentLog), clock: realClock, log: silentLog, contentChars: 220 },
    ...{ put: () => {}, findSessionPersona: () => null, readLockTable: () => '' },
    ...options,
  });
}

/** What the real Codex left behind after two messages. Only these files, so that none of ours is unseen. */
function copyReal(): string {
  const home = folder.at('.codex');
  cpSync(DATA, home, { recursive: true, preserveTimestamps: true });
  rmSync(join(home, 'expected.json'));
  return home;
}

async function poll(source: CodexSource, address: string): Promise<PollResult> {
  return await source.poll(source.named(address), { is: 'unset' }, never);
}

function listItems({ evidence }: PollResult): readonly SetItem[] {
  assert.ok(evidence.is === 'set');
  return evidence.items;
}

async function catchFault(call: Promise<unknown>): Promise<Fault> {
  const error = await call.then(
    () => assert.fail('it answered'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Fault, String(error));
  return error;
}

describe('the queue of the real Codex', () => {
  test('codex 1: two messages of a thread that nobody runs are one persona, gone without a reader, in their order', async () => {
    await using source = createSource(copyReal());
    const personas = await source.personas(never);
    assert.deepEqual(personas, [{ id: EXPECTED.persona, address: EXPECTED.address, label: EXPECTED.label }]);
    const result = await poll(source, EXPECTED.address);
    assert.deepEqual([result.unread, result.urgent], [exactly(EXPECTED.unread), UNKNOWN]);
    assert.deepEqual(result.agentState, {
      is: 'gone',
      why: EXPECTED.why,
      cwd: join('/home', 'me/work'),
      model: 'none',
    });
    assert.deepEqual(
      listItems(result).map(({ key, content, created, from }) => ({
        ...{ key, content, from },
        created: Date.parse(String(created)),
      })),
      EXPECTED.items.map((item: object) => ({ ...item, from: null })),
    );
  });

  test('codex 2: polls leave everything as it was, the times and the -shm included, and leave no new file', async () => {
    const home = copyReal();
    const before = describeTree(home);
    await using source = createSource(home);
    using _ = source.hints?.(() => {}) ?? { [Symbol.dispose]() {} };
    for (let n = 0; n < 3; n += 1) {
      await source.personas(never);
      await poll(source, EXPECTED.address);
      await source.pending?.once(never);
    }
    assert.deepEqual(describeTree(home), before);
  });

  test('codex 3: a main file without its -wal has no table, and is another form instead of no messages', async () => {
    const home = copyReal();
    for (const end of ['-wal', '-shm']) rmSync(join(home, `queue_1.sqlite${end}`));
    await using source = createSource(home);
    const fault = await catchFault(source.personas(never));
    assert.deepEqual([fault.code, fault.scope.is], ['schema', 'source']);
    assert.equal((await catchFault(poll(source, EXPECTED.address))).code, 'schema');
    assert.equal((await catchFault(source.pending?.once(never) as Promise<unknown>)).code, 'schema');
  });

  test('a thread without its metadata is counted, and labelled with its id', async () => {
    const home = copyReal();
    rmSync(join(home, 'state_5.sqlite'));
    await using source = createSource(home);
    assert.deepEqual(
      (await source.personas(never)).map(({ label }) => label),
      [EXPECTED.address],
    );
    assert.deepEqual((await poll(source, EXPECTED.address)).unread, exactly(2));
  });
});

describe('a queue', () => {
  test('codex 4: of a Codex that ended has no side files, is read, and gets none', async () => {
    const thread = codex.addThread('ada');
    codex.enqueue(thread, 'one');
    codex.close();
    const before = describeTree(codex.home);
    await using source = createSource(codex.home);
    assert.deepEqual((await poll(source, thread)).unread, exactly(1));
    assert.deepEqual(
      (await source.personas(never)).map(({ label }) => label),
      ['ada'],
    );
    assert.deepEqual(describeTree(codex.home), before);
    assert.ok(!codex.scratch.list().some((name) => name.includes('-wal')));
  });

  test('codex 5: a row that is deleted while it is watched is gone once, within a second', async () => {
    const thread = codex.addThread('ada');
    const [first] = [codex.enqueue(thread, 'one'), codex.enqueue(thread, 'two')];
    await using source = createSource(codex.home);
    const [persona] = await source.personas(never);
    const delivered = createDelivered();
    const watched = watchPersona(source, persona ?? assert.fail(), realClock, delivered);
    await watched.poll();
    const woken: string[] = [];
    using _ = source.hints?.((address) => void woken.push(address)) ?? assert.fail();
    await new Promise((resolve) => setTimeout(resolve, 300));
    woken.length = 0;
    codex.run('DELETE FROM queued_items WHERE id = ?', first);
    await until('it wakes', () => woken.includes(thread), 1000);
    await watched.poll();
    await watched.poll();
    assert.deepEqual(
      delivered.events
        .map(({ event, id }: { event: string; id?: unknown }) => [event, id])
        .filter(([, id]) => id !== undefined),
      [
        ['new', 1],
        ['new', 2],
        ['gone', 1],
      ],
    );
    const result = await poll(source, thread);
    assert.deepEqual([result.unread, listItems(result).map(({ content }) => content)], [exactly(1), ['two']]);
  });

  test('codex 7: the highest number that has the tables is read, and the log names the others', async () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, info: (line) => void lines.push(line) };
    const thread = codex.addThread('ada');
    codex.enqueue(thread, 'in the first');
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    const empty = new DatabaseSync(join(codex.home, 'queue_3.sqlite'));
    empty.exec('CREATE TABLE other (n INTEGER)');
    empty.close();
    const second = new DatabaseSync(join(codex.home, 'queue_2.sqlite'));
    second.exec(QUEUE_SCHEMA);
    const insert = second.prepare('INSERT INTO queued_items VALUES (?, ?, ?, 0, 1, 1)');
    insert.run('second', thread, '[{"type":"text","text":"in the second"}]');
    second.close();
    await using source = createSource(codex.home, { log });
    const result = await poll(source, thread);
    assert.deepEqual(
      listItems(result).map(({ content }) => content),
      ['in the second'],
    );
    await poll(source, thread);
    assert.deepEqual(lines, [
      `codex: queue_2.sqlite is read, and queue_3.sqlite, queue_1.sqlite is not (in ${codex.home})`,
    ]);
  });

  test('codex 8: a payload of an unknown shape is a message, and one over 1 MiB shows its beginning', async () => {
    const thread = codex.addThread('ada');
    codex.enqueue(thread, 'x'.repeat(2 << 20));
    codex.enqueue(thread, 'plain');
    codex.run(`UPDATE queued_items SET payload_json = '{"Compact":{}}' WHERE queue_order = 1`);
    await using source = createSource(codex.home);
    const contents = listItems(await poll(source, thread)).map(({ content }) => content);
    assert.deepEqual(contents, ['x'.repeat(220), '[Compact]']);
  });

  test('codex 9: while a writer holds it alone the number stays and the health too, and the next poll is healthy', async () => {
    const thread = codex.addThread('ada');
    codex.enqueue(thread, 'one');
    await using source = createSource(codex.home);
    const [persona] = await source.personas(never);
    const watched = watchPersona(source, persona ?? assert.fail(), realClock, createDelivered());
    await watched.poll();
    codex.close();
    await using writer = await openSqliteWriter(
      codex.queuePath,
      'UPDATE queued_items SET updated_at_ms = updated_at_ms',
      'PRAGMA locking_mode = EXCLUSIVE',
      'UPDATE queued_items SET updated_at_ms = updated_at_ms',
    );
    const outcome = await watched.poll();
    assert.ok(outcome.is === 'failed' && outcome.fault.code === 'store-busy', JSON.stringify(outcome));
    assert.notEqual(watched.watcher.state.health.is, 'down');
    await writer.close();
    assert.equal((await watched.poll()).is, 'healthy');
    assert.equal(watched.watcher.state.health.is, 'up');
    assert.deepEqual((await poll(source, thread)).unread, exactly(1));
  });

  test('nothing changed costs one indexed row: no message is read again, and the answer is the same object', async () => {
    const thread = codex.addThread('ada');
    codex.enqueue(thread, 'one');
    await using source = createSource(codex.home);
    const first = listItems(await poll(source, thread));
    codex.enqueue(codex.addThread('bo'), 'other');
    assert.equal(listItems(await poll(source, thread)), first, 'another thread changed');
    await source.personas(never);
    for (const { address } of await source.personas(never)) await poll(source, address);
    const counts = await source.pending?.once(never);
    assert.equal((await source.pending?.once(never))?.byAddress, counts?.byAddress);
  });

  test('a folder without a queue is up and empty, and a queue that is removed has its messages as gone, once', async () => {
    await using empty = createSource(folder.at('none'));
    assert.deepEqual(await empty.personas(never), []);
    const thread = codex.addThread('ada');
    codex.enqueue(thread, 'one');
    await using source = createSource(codex.home);
    const delivered = createDelivered();
    const watched = watchPersona(source, (await source.personas(never))[0] ?? assert.fail(), realClock, delivered);
    await watched.poll();
    codex.close();
    rmSync(codex.queuePath);
    await watched.poll();
    await watched.poll();
    assert.equal(delivered.events.filter(({ event }) => event === 'gone').length, 1);
  });
});

describe('whether somebody runs a thread', () => {
  const lockFile = (thread: string): string => {
    const path = join(codex.home, 'thread-writer-locks', `${thread}.lock`);
    writeFileSync(path, '');
    return path;
  };
  const holding = (path: string): string => {
    const { ino } = createRealDisk(silentLog).files.lstat(path) ?? assert.fail();
    return `1: FLOCK  ADVISORY  WRITE 23105 fe:00:${ino} 0 EOF\n`;
  };

  test('is told by the table of locks: held, not held, and not known', async () => {
    const [ada, bo] = [codex.addThread('ada'), codex.addThread('bo')];
    for (const thread of [ada, bo]) codex.enqueue(thread, 'one');
    let table: string | null = holding(lockFile(ada));
    lockFile(bo); // a lock file stays when its thread is killed
    await using source = createSource(codex.home, { readLockTable: () => table });
    assert.equal((await poll(source, ada)).agentState.is, 'live');
    assert.deepEqual((await poll(source, bo)).agentState, {
      ...{ is: 'gone', why: 'no-reader', cwd: '/fields/bo', model: 'none' },
    });
    codex.takeAll(bo);
    assert.equal((await poll(source, bo)).agentState.why, 'not-run');
    table = null;
    assert.equal((await poll(source, ada)).agentState.is, 'unknown');
  });

  test('is reported at the persona that announced the thread, which keeps its own row only while a message waits', async () => {
    const thread = codex.addThread('ada');
    codex.enqueue(thread, 'one');
    const facts: Fact[] = [];
    let table = holding(lockFile(thread));
    await using source = createSource(codex.home, {
      put: (fact) => void facts.push(fact),
      findSessionPersona: (id) => (id === thread ? 'zoe' : null),
      readLockTable: () => table,
    });
    const [persona] = await source.personas(never);
    assert.deepEqual([persona?.address, (await poll(source, thread)).unread], [thread, exactly(1)]);
    codex.takeAll(thread);
    await poll(source, thread);
    assert.deepEqual(await source.personas(never), []);
    assert.equal(source.isGone?.(persona ?? assert.fail()), true);
    table = '';
    await source.pending?.once(never);
    assert.deepEqual(
      facts.map((fact) => (fact.is === 'agent' ? [fact.persona, fact.reporter, fact.state] : fact)),
      [
        ['zoe', 'session', { is: 'live', cwd: '/fields/ada', model: 'none' }],
        ['zoe', 'session', null],
      ],
    );
  });
});

describe('ids and labels', () => {
  test('an id is the end of the thread id, because its beginning is the time', async () => {
    const threads = ['ada', 'bo'].map((name) => codex.addThread(name));
    for (const thread of threads) codex.enqueue(thread, 'one');
    await using source = createSource(codex.home);
    const ids = (await source.personas(never)).map(({ id }) => id).sort();
    assert.deepEqual(ids, threads.map((thread) => `codex-${thread.slice(-12)}`).sort());
    const [id] = ids;
    const found = source.findThread(id ?? '');
    assert.ok(found !== null && threads.includes(found.id));
  });

  test('two threads whose ids end alike are two personas, and a thread id that is no id is none', async () => {
    for (const thread of ['11111111-aaaaaaaaaaaa', '22222222-aaaaaaaaaaaa', '../../etc/passwd', ''])
      codex.enqueue(thread, 'one');
    const warnings: string[] = [];
    await using source = createSource(codex.home, { log: { ...silentLog, warn: (line) => void warnings.push(line) } });
    const personas = await source.personas(never);
    assert.deepEqual(
      personas.map(({ id }) => id),
      ['codex-aaaaaaaaaaaa', 'codex-22222222-aaaaaaaaaaaa'],
    );
    assert.equal(warnings.length, 2);
  });

  test('the doctor names a thread with messages that nobody runs', () => {
    assert.deepEqual(judgeQueue(3, 2, []), { is: 'ok', seen: '3 messages in the queue of 2 threads' });
    assert.equal(judgeQueue(1, 1, ['ledger']).seen, '1 message in the queue of 1 thread; nobody runs ledger');
    assert.equal(judgeQueue(1, 1, ['ledger', 'b']).seen.endsWith('(and 1 more)'), true);
  });
});
