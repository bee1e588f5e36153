import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createJumpingClock } from '../../../test/conformance/source-rig.ts';
import { createDelivered, type SinkRecord, watchPersona } from '../../../test/conformance/watch-source.ts';
import { type AgmsgHome, createAgmsgHome } from '../../../test/kit/agmsg-store.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import { openSqliteWriter } from '../../../test/kit/sqlite-writer.ts';
import { until } from '../../../test/kit/until.ts';
import { describeTree } from '../../../test/kit/watched-tree.ts';
import { exactly, Fault } from '../../model/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { PollResult, SetItem } from '../source.ts';
import { askForStore } from './api.node.ts';
import { findInstallations, isName, parseStoreAnswer } from './installations.ts';
import { type AgmsgOptions, type AgmsgSource, createAgmsgSource } from './source.ts';

const DATA = join(import.meta.dirname, '../../../test/data/agmsg');
const EXPECTED = JSON.parse(readFileSync(join(DATA, 'expected.json'), 'utf8'));
const never = new AbortController().signal;
const disk = createRealDisk(silentLog);

let folder: Scratch;
let agmsg: AgmsgHome;
beforeEach(() => {
  folder = scratch();
  agmsg = createAgmsgHome();
  agmsg.writeTeam('crew', ['alice', 'bob']);
});
afterEach(() => {
  agmsg[Symbol.dispose]();
  folder[Symbol.dispose]();
});

function createSource(root: string, options: Partial<AgmsgOptions> = {}): AgmsgSource {
  return createAgmsgSource({
    ...{ disk, clock: realClock, log: silentLog, env: {}, contentChars: 220 },
    ...{ findInstallations: () => [{ root, name: 'agmsg' }], askForStore: async () => null },
    ...options,
  });
}

function copyData(): string {
  const root = folder.at('agmsg');
  cpSync(DATA, root, { recursive: true, preserveTimestamps: true });
  return root;
}

async function poll(source: AgmsgSource, address: string): Promise<PollResult> {
  return await source.poll(source.named(address), { is: 'unset' }, never);
}

function listItems({ evidence }: PollResult): readonly SetItem[] {
  assert.ok(evidence.is === 'set');
  return evidence.items;
}

const listKeys = (result: PollResult): readonly string[] => listItems(result).map(({ key }) => key);

async function watch(source: AgmsgSource, address: string, delivered: SinkRecord) {
  const personas = await source.personas(never);
  const persona = personas.find((each) => each.address === address) ?? assert.fail(address);
  return watchPersona(source, persona, realClock, delivered);
}

/** What was delivered of mail: event, id and content. */
const listEvents = ({ events }: SinkRecord): readonly unknown[] =>
  events.flatMap((event) =>
    'id' in event ? [[event.event, event.id, ...('content' in event ? [event.content] : [])]] : [],
  );

describe('a store of agmsg', () => {
  test('agmsg 1: unread is what neither cursor, marker nor older row has as read', async () => {
    await using source = createSource(copyData());
    assert.deepEqual(
      (await source.personas(never)).map(({ id, address, label }) => [id, address, label]),
      [
        ['agmsg-alice', 'crew/alice', 'alice · claude-code · p'],
        ['agmsg-bob', 'crew/bob', 'bob · codex · p'],
      ],
    );
    for (const [agent, ids] of Object.entries(EXPECTED.unread)) {
      const result = await poll(source, `crew/${agent}`);
      assert.deepEqual([listKeys(result), result.unread], [ids, exactly((ids as string[]).length)]);
    }
  });

  test('agmsg 2: an older row that is marked as read is not unread, and makes no event', async () => {
    agmsg.run(
      `INSERT INTO messages (team, from_agent, to_agent, body) VALUES ('crew', 'bob', 'alice', 'old and unread')`,
    );
    agmsg.run(
      `INSERT INTO messages (team, from_agent, to_agent, body, read_at) VALUES ('crew', 'bob', 'alice', 'old and read', '2026-07-01')`,
    );
    agmsg.run(
      `INSERT INTO messages (team, from_agent, to_agent, body) VALUES ('crew', 'bob', 'alice', 'old and marked')`,
    );
    agmsg.run(
      `INSERT INTO events (type, id, team, agent, msg_id, at) VALUES ('message_read', 'r', 'crew', 'alice', '3', '2026-07-01')`,
    );
    await using source = createSource(agmsg.root);
    const delivered = createDelivered();
    await (await watch(source, 'crew/alice', delivered)).poll();
    assert.deepEqual(listEvents(delivered), [['new', 1, 'old and unread']]);
    assert.deepEqual(listKeys(await poll(source, 'crew/alice')), ['legacy:1']);
  });

  test('agmsg 3: what is sent is new within a second with its team, and read when a marker names it', async () => {
    await using source = createSource(agmsg.root);
    const delivered = createDelivered();
    const watched = await watch(source, 'crew/alice', delivered);
    await watched.poll();
    const woken: string[] = [];
    using _ = source.hints?.((address) => void woken.push(address)) ?? assert.fail();
    const id = agmsg.send('crew', 'alice', '[urgent] look');
    await until('it wakes', () => woken.includes('crew/alice'), 1000);
    await watched.poll();
    assert.deepEqual((await poll(source, 'crew/alice')).urgent, exactly(1));
    agmsg.mark('crew', 'alice', id);
    await watched.poll();
    await watched.poll();
    assert.deepEqual(listEvents(delivered), [
      ['new', 1, '[urgent] look'],
      ['read', 1],
    ]);
    const mail = delivered.events.find(({ event }) => event === 'new');
    assert.equal(mail !== undefined && 'team' in mail && mail.team, 'crew');
  });

  test('what is read before it was polled is new and read, and then left out', async () => {
    await using source = createSource(agmsg.root);
    const delivered = createDelivered();
    const watched = await watch(source, 'crew/alice', delivered);
    await watched.poll();
    agmsg.mark('crew', 'alice', agmsg.send('crew', 'alice', 'read at once', 'alice'));
    for (let n = 0; n < 3; n += 1) await watched.poll();
    assert.deepEqual(listEvents(delivered), [['new', 1, 'read at once']]);
    const mail = delivered.events.find(({ event }) => event === 'new');
    assert.ok(mail !== undefined && 'self' in mail && mail.self === true, 'its sender is its reader');
    assert.deepEqual(listItems(await poll(source, 'crew/alice')), []);
  });

  test('agmsg 4: a cursor that is raised reads all up to it', async () => {
    await using source = createSource(agmsg.root);
    const delivered = createDelivered();
    const watched = await watch(source, 'crew/alice', delivered);
    for (const body of ['one', 'two']) agmsg.send('crew', 'alice', body);
    await watched.poll();
    agmsg.readAll('crew', 'alice');
    agmsg.send('crew', 'alice', 'three');
    await watched.poll();
    await watched.poll();
    assert.deepEqual(listEvents(delivered), [
      ...[
        ['new', 1, 'one'],
        ['new', 2, 'two'],
      ],
      ...[
        ['new', 3, 'three'],
        ['read', 1],
        ['read', 2],
      ],
    ]);
    assert.deepEqual((await poll(source, 'crew/alice')).unread, exactly(1));
  });

  test('agmsg 5: an event with a negative place is a projection: neither counted nor delivered', async () => {
    agmsg.run(
      `INSERT INTO events (seq, type, id, team, from_agent, to_agent, body, at) VALUES (-5, 'message_sent', 'p', 'crew', 'bob', 'alice', 'projected', '2026')`,
    );
    await using source = createSource(agmsg.root);
    const delivered = createDelivered();
    const watched = await watch(source, 'crew/alice', delivered);
    await watched.poll();
    agmsg.run(
      `INSERT INTO events (seq, type, id, team, from_agent, to_agent, body, at) VALUES (-6, 'message_sent', 'q', 'crew', 'bob', 'alice', 'projected', '2026')`,
    );
    await watched.poll();
    assert.deepEqual([listEvents(delivered), (await poll(source, 'crew/alice')).unread], [[], exactly(0)]);
    agmsg.send('crew', 'alice', 'real'); // now all of alice is read
    await watched.poll();
    assert.deepEqual(
      [listEvents(delivered), (await poll(source, 'crew/alice')).unread],
      [[['new', 1, 'real']], exactly(1)],
    );
  });

  test('agmsg 6: polls leave the database and its -wal as they were, and leave no new file', async () => {
    await using writer = await openSqliteWriter(
      agmsg.storePath,
      `PRAGMA journal_mode = WAL`,
      `CREATE TABLE messages (id INTEGER PRIMARY KEY, team TEXT, from_agent TEXT, to_agent TEXT, body TEXT, created_at TEXT, read_at TEXT)`,
      `INSERT INTO messages VALUES (1, 'crew', 'bob', 'alice', 'hi', '2026', NULL)`,
    );
    for (const end of [() => writer.run('SELECT 1'), writer.close]) {
      await end();
      const before = describeTree(agmsg.root);
      await using source = createSource(agmsg.root);
      await source.personas(never);
      assert.deepEqual((await poll(source, 'crew/alice')).unread, exactly(1));
      await source.pending?.once(never);
      assert.deepEqual(describeTree(agmsg.root), before);
    }
  });

  test('agmsg 7: a store without events counts its rows by the time of reading, and gets no table', async () => {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    const db = new DatabaseSync(agmsg.storePath);
    db.exec(
      `CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, team TEXT NOT NULL, from_agent TEXT NOT NULL, to_agent TEXT NOT NULL,
        body TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT '2026', read_at TEXT);
      INSERT INTO messages (team, from_agent, to_agent, body, read_at) VALUES ('crew', 'bob', 'alice', 'read', '2026'),
        ('crew', 'bob', 'alice', 'one', NULL), ('crew', 'bob', 'alice', 'two', NULL)`,
    );
    await using source = createSource(agmsg.root);
    const delivered = createDelivered();
    const watched = await watch(source, 'crew/alice', delivered);
    await watched.poll();
    db.exec(`UPDATE messages SET read_at = '2026' WHERE id = 2`);
    await watched.poll();
    assert.deepEqual(listEvents(delivered), [
      ['new', 1, 'one'],
      ['new', 2, 'two'],
      ['read', 1],
    ]);
    assert.deepEqual(db.prepare(`SELECT name FROM sqlite_master WHERE name = 'events'`).all(), []);
    // An event that mirrors a row later is the same message.
    db.exec(`CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, id TEXT NOT NULL, team TEXT,
      from_agent TEXT, to_agent TEXT, body TEXT, msg_id TEXT, agent TEXT, at TEXT NOT NULL, legacy_id INTEGER);
      INSERT INTO events (type, id, team, from_agent, to_agent, body, at, legacy_id)
        VALUES ('message_sent', 'two again', 'crew', 'bob', 'alice', 'two', '2026', 3)`);
    db.close();
    await watched.poll();
    await watched.poll();
    assert.equal(listEvents(delivered).length, 3);
    assert.deepEqual((await poll(source, 'crew/alice')).unread, exactly(1));
  });

  test('a column that is missing or unknown is another form, and other tables are passed over', async () => {
    agmsg.run('CREATE TABLE sync_state (n INTEGER)');
    agmsg.send('crew', 'alice', 'one');
    await using source = createSource(agmsg.root);
    assert.deepEqual((await poll(source, 'crew/alice')).unread, exactly(1));
    agmsg.run('ALTER TABLE events ADD COLUMN later TEXT');
    await assert.rejects(poll(source, 'crew/alice'), (error) => {
      assert.ok(error instanceof Fault && error.code === 'schema');
      return /the table events has the unknown column later/.test(error.message);
    });
  });

  test('agmsg 9: a thousand messages of one transaction are delivered in their order, and none twice after a restart', async () => {
    const delivered = createDelivered();
    {
      await using source = createSource(agmsg.root);
      const watched = await watch(source, 'crew/alice', delivered);
      await watched.poll();
      agmsg.run('BEGIN');
      for (let n = 0; n < 1000; n += 1) agmsg.send('crew', 'alice', `mail ${n}`);
      agmsg.run('COMMIT');
      await watched.poll();
    }
    await using source = createSource(agmsg.root);
    const watched = await watch(source, 'crew/alice', delivered);
    await watched.poll();
    await watched.poll();
    const contents = delivered.events.flatMap((event) => (event.event === 'new' ? [event.content] : []));
    assert.deepEqual(
      contents,
      Array.from({ length: 1000 }, (_, n) => `mail ${n}`),
    );
  });

  test('mail that nobody reads for ten minutes while more comes is said to have no reader', async () => {
    const clock = createJumpingClock(realClock);
    await using source = createSource(agmsg.root, { clock });
    agmsg.send('crew', 'alice', 'one');
    const readState = async () => (await poll(source, 'crew/alice')).agentState;
    assert.equal((await readState()).is, 'unknown');
    clock.jump(601_000);
    assert.equal((await readState()).is, 'unknown', 'no more came');
    agmsg.send('crew', 'alice', 'two');
    assert.deepEqual(await readState(), { is: 'stalled', why: 'mail-grows' });
    agmsg.readAll('crew', 'alice');
    assert.equal((await readState()).is, 'unknown');
  });
});

describe('a store of lines', () => {
  const log = (): string => join(agmsg.root, 'db', 'events.jsonl');
  const toLine = (event: object): string => `${JSON.stringify({ team: 'crew', at: '2026', ...event })}\n`;
  const toSent = (id: string, to = 'alice'): string =>
    toLine({ type: 'message_sent', id, from: 'bob', to, body: `body ${id}` });

  test('agmsg 8: half a last line is delivered when it is whole, once', async () => {
    writeFileSync(log(), toSent('a'));
    await using source = createSource(agmsg.root);
    const delivered = createDelivered();
    const watched = await watch(source, 'crew/alice', delivered);
    const line = toSent('b');
    for (let cut = 1; cut <= line.length; cut += 7) {
      writeFileSync(log(), toSent('a') + line.slice(0, cut));
      await watched.poll();
      assert.deepEqual(listEvents(delivered), [['new', 1, 'body a']]);
    }
    writeFileSync(log(), toSent('a') + line);
    await watched.poll();
    await watched.poll();
    assert.deepEqual(listEvents(delivered), [
      ['new', 1, 'body a'],
      ['new', 2, 'body b'],
    ]);
  });

  test('markers and cursors read, and a log that was compacted repeats nothing', async () => {
    const marker = toLine({ type: 'message_read', id: 'r', agent: 'alice', msg_id: 'a' });
    writeFileSync(log(), [toSent('a'), toSent('for bob', 'bob'), toSent('b'), toSent('c')].join(''));
    await using source = createSource(agmsg.root);
    const delivered = createDelivered();
    const watched = await watch(source, 'crew/alice', delivered);
    await watched.poll();
    appendFileSync(log(), marker + marker);
    await watched.poll();
    writeFileSync(join(agmsg.root, 'db', 'read-cursors.tsv'), 'crew\talice\t3\n');
    await watched.poll();
    assert.deepEqual(listEvents(delivered).slice(3), [
      ['read', 1],
      ['read', 2],
    ]);
    rmSync(log()); // the log is rewritten with one marker
    writeFileSync(log(), [toSent('a'), toSent('for bob', 'bob'), toSent('b'), toSent('c'), marker].join(''));
    await watched.poll();
    await watched.poll();
    assert.equal(listEvents(delivered).length, 5);
    assert.deepEqual((await poll(source, 'crew/alice')).unread, exactly(1));
  });

  test('agmsg 8: a store of another kind is another form, and only that team is concerned', async () => {
    agmsg.writeTeam('other', ['carol']);
    agmsg.send('crew', 'alice', 'one');
    await using source = createSource(agmsg.root, {
      askForStore: async (_root, team) =>
        JSON.stringify({ team, driver: team === 'other' ? 'redis' : 'sqlite', path: agmsg.storePath, exists: true }),
    });
    assert.deepEqual((await poll(source, 'crew/alice')).unread, exactly(1));
    await assert.rejects(
      poll(source, 'other/carol'),
      (error) => error instanceof Fault && error.code === 'schema' && /redis/.test(error.message),
    );
  });
});

describe('where agmsg is, and its names', () => {
  test('agmsg 10: a team or an agent whose name could be a path, a flag or invisible is refused', async () => {
    for (const name of [
      '../x',
      '..',
      '.hidden',
      '-flag',
      'a/b',
      'a\\b',
      'a\nb',
      '',
      ' a',
      'a\u202eb',
      'x..y',
      'a'.repeat(101),
    ])
      assert.equal(isName(name), false, JSON.stringify(name));
    for (const name of ['crew', 'My Team', "o'neill", 'a.b', 'ä', '$(touch x)']) assert.equal(isName(name), true, name);
    agmsg.writeTeam('crew', ['alice', '../x', '-rf']);
    mkdirSync(join(agmsg.root, 'teams', '..x'));
    await using source = createSource(agmsg.root);
    assert.deepEqual(
      (await source.personas(never)).map(({ address }) => address),
      ['crew/alice'],
    );
    assert.equal(source.defects.length, 3);
    assert.equal(parseStoreAnswer('{"team":"../x","driver":"sqlite","path":"/a"}', 'crew'), null, 'another team');
    assert.equal(parseStoreAnswer('{"team":"crew","driver":"sqlite","path":"relative"}', 'crew'), null);
  });

  test('agmsg 10: no shell ever sees a name, and agmsg is asked only for the store, and only when teams changed', async () => {
    const record = folder.at('asked');
    mkdirSync(join(agmsg.root, 'scripts'));
    const script = join(agmsg.root, 'scripts', 'api.sh');
    const path = join(agmsg.root, 'db', 'own.db');
    writeFileSync(
      script,
      `#!/bin/sh\nprintf '%s|' "$@" >>"${record}"; echo >>"${record}"\n` +
        `printf '{"team":"%s","driver":"sqlite","partition":"per-team","path":"%s","exists":true}\\n' "$3" "${path}"\n`,
    );
    chmodSync(script, 0o755);
    const team = `$(touch ${folder.at('made').replaceAll('/', '_')}); x`;
    agmsg.writeTeam(team, ['carol']);
    agmsg.send(team, 'carol', 'hi');
    agmsg.close();
    cpSync(agmsg.storePath, path);
    await using source = createSource(agmsg.root, {
      askForStore: (root, name) => askForStore(root, name, process.env, never),
    });
    for (let n = 0; n < 3; n += 1) assert.deepEqual((await poll(source, `${team}/carol`)).unread, exactly(1));
    assert.deepEqual(
      readFileSync(record, 'utf8').split('\n').sort(),
      ['', `get|teams|${team}|store|`, 'get|teams|crew|store|'].sort(),
    );
    agmsg.writeTeam('third', ['dan']);
    await source.personas(never);
    assert.match(readFileSync(record, 'utf8'), /get\|teams\|third\|store\|/);
    assert.equal(await askForStore(dirname(agmsg.root), 'crew', process.env, never), null, 'no script');
  });

  test('a name that several teams have carries its team, and a persona keeps its id', async () => {
    agmsg.writeTeam('ops', ['bob', 'eve']);
    await using source = createSource(agmsg.root);
    const list = async () => (await source.personas(never)).map(({ id }) => id).sort();
    assert.deepEqual(await list(), ['agmsg-alice', 'agmsg-bob@crew', 'agmsg-bob@ops', 'agmsg-eve']);
    agmsg.writeTeam('ops', ['bob', 'eve', 'alice']);
    assert.deepEqual(await list(), ['agmsg-alice', 'agmsg-alice@ops', 'agmsg-bob@crew', 'agmsg-bob@ops', 'agmsg-eve']);
    assert.deepEqual(source.findProject('agmsg-eve'), { address: 'ops/eve', project: '/fields/eve' });
  });

  test('an installation is a folder with teams, and scripts or a store', () => {
    const skills = folder.at('skills');
    for (const path of ['agmsg/teams', 'agmsg/scripts', 'm/teams', 'm/db', 'other/scripts', 'half/teams'])
      mkdirSync(join(skills, path), { recursive: true });
    assert.deepEqual(findInstallations(disk, skills), [join(skills, 'agmsg'), join(skills, 'm')]);
    assert.deepEqual(findInstallations(disk, folder.at('none')), []);
  });
});
