import { type LocalHive, openLocalHive } from '../../core/inbox/index.ts';
import { silentLog } from '../../core/ports/index.ts';
import type { SourceSettings } from '../../core/sources/derived.ts';
import { type Database, openDatabase } from '../../core/state/index.ts';
import { describeSource } from '../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld, StoreFault } from '../../test/conformance/source-rig.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { openLocal } from './local-hive.ts';

const SETTINGS = { primary: { is: 'local' }, hives: [] } as unknown as SourceSettings;

/** The hive of this machine as the tray process watches it, and another process that sends. */
async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const home = scratch();
  const path = home.at('hivebar.sqlite');
  const options = { clock, log: silentLog, contentChars: 220 };
  const db = openDatabase(path);
  const sender = openLocalHive({ ...options, db });
  const names = ['ada', 'bo'] as const;
  let hive: LocalHive = sender;
  const send = (to: string, content: string): void => {
    sender.sendNow({ to, from: 'cy', content, urgent: false });
    if (hive !== sender) hive.changedElsewhere(); // as its service does when the file changes
  };
  for (const name of names) {
    send(name, 'the first makes the persona');
    sender.markRead(name, 'all');
    db.exec(`DELETE FROM inbox WHERE persona = '${name}'`);
  }
  const breakTable = (table: string): StoreFault => ({
    scope: 'machine',
    break: () => db.exec(`ALTER TABLE ${table} RENAME TO ${table}_away`),
    mend: () => db.exec(`ALTER TABLE ${table}_away RENAME TO ${table}`),
  });
  return {
    addresses: names,
    open() {
      const own = openDatabase(path);
      const opened = openLocalHive({ ...options, db: own });
      hive = opened;
      const { source } = openLocal(opened, SETTINGS, clock);
      let isOver = false;
      return {
        ...source,
        async [Symbol.asyncDispose]() {
          if (isOver) return;
          isOver = true;
          await source[Symbol.asyncDispose]();
          opened[Symbol.dispose]();
          own[Symbol.dispose]();
          if (hive === opened) hive = sender;
        },
      };
    },
    send,
    read(address) {
      sender.markRead(address, 'all');
      if (hive !== sender) hive.changedElsewhere();
    },
    capture: () => captureRows(db),
    fill(count) {
      db.exec('BEGIN');
      db.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
        INSERT INTO inbox (persona, from_, urgent, created, read_at, content)
        SELECT 'agent-' || i, 'cy', 0, 1, NULL, 'mail' FROM n`);
      db.exec('COMMIT');
    },
    remove: () => hive.setElsewhere(new Set(['ada'])),
    faults: { 'the table of mail is gone': breakTable('inbox') },
    [Symbol.asyncDispose]: async () => {
      sender[Symbol.dispose]();
      db[Symbol.dispose]();
      home[Symbol.dispose]();
    },
  };
}

/** Every row of every table. */
function captureRows(db: Database): unknown {
  const tables = db
    .prepare<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all();
  return tables.map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()]);
}

describeSource('local', {
  ...{ evidence: 'log', members: 5000, wakes: 'hints', createWorld },
  faults: ['the table of mail is gone'],
  cannot: {
    losePermission: 'its database stays open',
    seeHalf: 'a message is one transaction',
    wait: 'it is in this process',
  },
});
