import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeFiles, UID } from '../../test/kit/fake-files.ts';
import { Fault } from '../model/index.ts';
import { realRandom, silentLog } from '../ports/index.ts';
import { openDatabase, probeSpace, refuseWrites } from './index.ts';

test('A7 given a directory that can be written, there is room, and nothing is left of the question', () => {
  const files = fakeFiles();
  assert.equal(probeSpace({ files, log: silentLog, uid: UID }, realRandom, '/d'), null);
  assert.deepEqual(files.list('/d'), []);
});

test('A7 given a full disk, a quota that is used up or a disk that became read-only, it is said which', () => {
  for (const [name, code, fault] of [
    ['write', 'ENOSPC', 'no-space'],
    ['write', 'EDQUOT', 'no-space'],
    ['open', 'EROFS', 'unwritable'],
  ] as const) {
    const files = fakeFiles();
    files.mishaps((call) => (call.name === name ? { is: 'fails', code } : null));
    const found = probeSpace({ files, log: silentLog, uid: UID }, realRandom, '/d');
    assert.equal(found?.code, fault);
    files.mishaps(null);
    assert.deepEqual(files.list('/d'), []);
  }
});

test('A7 given a copy that stands in for the database, it is read as ever and refuses each write with the reason', () => {
  using db = openDatabase(':memory:');
  db.exec("CREATE TABLE a (b TEXT) STRICT; INSERT INTO a VALUES ('one')");
  const why = new Fault('no-space', 'there is no room', { is: 'machine', key: 'disk' });
  const copy = refuseWrites(db, why);
  assert.deepEqual({ ...copy.prepare<{ b: string }>('SELECT b FROM a').get() }, { b: 'one' });
  for (const write of [
    () => copy.exec("INSERT INTO a VALUES ('two')"),
    () => copy.prepare('DELETE FROM a').run(),
    () => copy.prepare("UPDATE a SET b = 'x' RETURNING b").get(),
  ])
    assert.throws(write, (error) => error === why);
  assert.equal(copy.prepare('SELECT b FROM a').all().length, 1);
});
