import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { migrate, openDatabase } from '../../core/state/index.ts';
import { openAnnouncementStore } from './announcement-store.node.ts';

/** The tables as they were when the desktop was the only channel. These statements never change. */
const OLD_STEPS = [
  `CREATE TABLE announcements (
     cause TEXT PRIMARY KEY,
     scope TEXT NOT NULL CHECK (scope IN ('persona', 'source', 'machine')),
     source TEXT NOT NULL,
     opens TEXT,
     since REAL NOT NULL,
     at REAL NOT NULL,
     personas TEXT NOT NULL CHECK (json_valid(personas))
   ) STRICT`,
  `ALTER TABLE announcements ADD COLUMN over REAL`,
  `CREATE TABLE announced_decisions (id INTEGER PRIMARY KEY) STRICT`,
];

const OUTAGE = {
  cause: { key: 'kijito', scope: 'source', source: 'kijito', opens: null },
  since: 1000.5,
  at: 2000,
  over: 3000,
  personas: ['ada', 'bo'],
} as const;

function openPath(t: TestContext): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hivebar-announcements-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return join(folder, 'hivebar.sqlite');
}

test('given a database of the one-channel shape, when it is opened, then its rows are those of the desktop and of no other channel', (t) => {
  const path = openPath(t);
  {
    using db = openDatabase(path);
    migrate(db, 'announcements', OLD_STEPS);
    const { cause, since, at, over, personas } = OUTAGE;
    db.prepare(
      'INSERT INTO announcements (cause, scope, source, opens, since, at, over, personas) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(cause.key, cause.scope, cause.source, cause.opens, since, at, over, JSON.stringify(personas));
    db.prepare('INSERT INTO announced_decisions (id) VALUES (?), (?)').run(7, 9);
  }
  for (const _restart of [1, 2]) {
    using db = openDatabase(path);
    const store = openAnnouncementStore(db);
    assert.deepEqual(store.load('desktop'), {
      outages: { 'outage:kijito': OUTAGE },
      decisions: { 'decision:7': true, 'decision:9': true },
      waits: {},
    });
    assert.deepEqual(store.load('file'), { outages: {}, decisions: {}, waits: {} });
  }
});

test('given two channels, when one saves, then the rows of the other stay', (t) => {
  using db = openDatabase(openPath(t));
  const store = openAnnouncementStore(db);
  const wait = { persona: 'ada', why: 'permission', banner: 'own', at: 5 } as const;
  const both = {
    outages: { 'outage:kijito': OUTAGE },
    decisions: { 'decision:7': true },
    waits: { 'wait:ada': { ...wait, since: 4.5 }, 'wait:bo': { ...wait, persona: 'bo', since: null, banner: 'crowd' } },
  } as const;
  store.save('desktop', both);
  store.save('file', both);
  store.save('file', { outages: {}, decisions: {}, waits: {} });
  assert.deepEqual(store.load('desktop'), both);
  assert.deepEqual(store.load('file'), { outages: {}, decisions: {}, waits: {} });
});
