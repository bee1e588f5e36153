import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { realClock, silentLog } from '../ports/index.ts';
import { openDatabase } from '../state/index.ts';
import { openContinuity, openSeals } from './continuity.ts';
import { DAMAGED_FROM, openItems, openLocalHive, sealAll } from './index.ts';
import { openOutgoingItems } from './relay/exchange.ts';

const folder = mkdtempSync(join(tmpdir(), 'hivebar-seals-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const going = new AbortController().signal;
const text = (n: number): string => `message ${n} says é😀\u0000 ${'x'.repeat((n % 7) * 300)}`;

function openHive(path: string) {
  const db = openDatabase(path);
  const errors: string[] = [];
  const counts: number[] = [];
  const log = { ...silentLog, error: (line: string) => errors.push(line) };
  const onDamaged = (count: number) => counts.push(count);
  const hive = openLocalHive({ db, clock: realClock, log, contentChars: 220, onDamaged });
  return { db, hive, errors, counts };
}

test('given any text, the checksum of mail that is sent is the one of its stored row', () => {
  const { db, hive } = openHive(':memory:');
  const sums = db.prepare<{ seq: number; sum: number }>('SELECT seq, sum FROM inbox ORDER BY seq');
  const { seal } = openSeals(db);
  const names = fc.constantFrom('ada', 'Zoë', '日本', 'a b', '🐝');
  const mail = fc.record({ to: names, from: names, content: fc.string({ unit: 'binary' }), urgent: fc.boolean() });
  fc.assert(
    fc.property(mail, (sent) => {
      const { id } = hive.sendNow(sent);
      const before = sums.all().at(-1);
      assert.deepEqual([before?.seq, typeof before?.sum], [id, 'number']);
      seal(id);
      assert.deepEqual(sums.all().at(-1), before);
    }),
  );
});

describe('a message that is not what was sent', () => {
  test('A4 given a changed message, every way to read it says that it is damaged and none shows the text', () => {
    const { db, hive, errors, counts } = openHive(':memory:');
    hive.sendNow({ to: 'ada', from: 'bo', content: 'pay 100 to cy', urgent: false });
    hive.sendNow({ to: 'ada', from: 'bo', content: 'hello', urgent: true });
    const whole = hive.show('ada', 2);
    for (const [change, reader] of [
      ["content = 'pay 900 to cy'", 'ada'],
      ["from_ = 'eve'", 'ada'],
      ["type = 'gate'", 'ada'],
      ["origin = 'hivebar'", 'ada'],
      ['priority = 0', 'ada'],
      ['urgent = 1', 'ada'],
      ["session = 's1'", 'ada'],
      ['created = created + 1', 'ada'],
      ['expires_at = created + 9000000', 'ada'],
      ["persona = 'eve'", 'eve'],
    ] as const) {
      db.exec(`SAVEPOINT here; UPDATE inbox SET ${change} WHERE seq = 1`);
      const query = { persona: reader, markRead: false, beforeId: null, limit: 200, unreadOnly: false };
      const shown = [
        hive.show(reader, 1),
        hive.list(reader, 10).at(-1),
        ...(reader === 'ada' ? [hive.window('ada', 0, going).messages[0]] : []), // nobody told the window of eve
        hive.inbox(query).result.at(-1),
      ];
      for (const row of shown) {
        assert.equal(row?.from, DAMAGED_FROM, change);
        assert.match(String(row?.content), /Message 1 is damaged/, change);
      }
      const [item] = hive.items.list(reader, 'all', 10);
      const [{ item: sent } = { item: null }] = openOutgoingItems(db).above(0, 1);
      for (const each of [item, sent])
        assert.deepEqual([each?.source, /is damaged/.test(String(each?.content))], [DAMAGED_FROM, true], change);
      assert.deepEqual(hive.show('ada', 2), whole, 'its neighbour is served as it is');
      db.exec('ROLLBACK TO here; RELEASE here');
    }
    assert.equal(hive.show('ada', 1)?.content, 'pay 100 to cy');
    assert.equal(errors.length, 1, 'each is logged once');
    assert.equal(counts.at(-1), 1);
  });

  test('A4 given a damaged message that gets another id or addressee by rule, it is damaged still', () => {
    const { db, hive } = openHive(':memory:');
    for (const content of ['pay 100', 'hello']) hive.sendNow({ to: 'ada', from: 'bo', content, urgent: false });
    db.exec("UPDATE inbox SET session = 's1'");
    db.exec('UPDATE inbox SET sum = NULL');
    sealAll(db);
    db.exec("UPDATE inbox SET content = 'pay 900' WHERE seq = 1");
    assert.equal(hive.items.endSession('ada', 's1'), 2);
    assert.equal(openContinuity(db).raise(10, 0), 2);
    assert.match(String(hive.show('ada', 11)?.content), /is damaged/);
    assert.equal(hive.show('ada', 12)?.content, 'hello');
  });

  test('A4 given messages of an earlier version, they get a checksum once and are served as before', () => {
    const { db, hive } = openHive(':memory:');
    for (let n = 0; n < 3; n += 1) hive.sendNow({ to: 'ada', from: 'bo', content: text(n), urgent: false });
    db.exec('UPDATE inbox SET sum = NULL');
    sealAll(db);
    assert.equal(hive.show('ada', 2)?.content, text(1));
    db.exec("UPDATE inbox SET content = 'other' WHERE seq = 2");
    assert.match(String(hive.show('ada', 2)?.content), /is damaged/);
  });

  test('A4 given one flipped bit anywhere in the file, no message is served with another text', () => {
    const path = join(folder, 'hivebar.sqlite');
    {
      const { db, hive } = openHive(path);
      for (let n = 1; n <= 30; n += 1) hive.sendNow({ to: 'ada', from: 'bo', content: text(n), urgent: n % 5 === 0 });
      openItems({ db, clock: realClock });
      hive[Symbol.dispose]();
      db[Symbol.dispose]();
    }
    const sound = readFileSync(path);
    let damaged = 0;
    for (let round = 0; round < 60; round += 1) {
      const at = (round * 2_654_435_761) % (sound.length * 8);
      const bytes = Buffer.from(sound);
      bytes[at >> 3] = (bytes[at >> 3] ?? 0) ^ (1 << (at & 7));
      rmSync(`${path}-wal`, { force: true });
      writeFileSync(path, bytes);
      try {
        const { db, hive } = openHive(path);
        using _db = db;
        using _hive = hive;
        for (const { id, content, from } of hive.inbox({
          persona: 'ada',
          markRead: false,
          beforeId: null,
          limit: 100,
          unreadOnly: false,
        }).result) {
          if (content === text(id) && from === 'bo') continue;
          assert.equal(from, DAMAGED_FROM, `bit ${at}`);
          damaged += 1;
        }
      } catch (error) {
        assert.ok(
          error instanceof Error && 'code' in error && error.code === 'database',
          `bit ${at}: ${String(error)}`,
        );
      }
    }
    assert.ok(damaged > 0, 'some of these flips hit a message');
  });
});
