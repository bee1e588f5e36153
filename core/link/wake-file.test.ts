import assert from 'node:assert/strict';
import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { scratch } from '../../test/kit/scratch.ts';
import { realRandom, silentLog } from '../ports/index.ts';
import { realDisk } from '../state/index.ts';
import { noteWake, wakeAt, wakeFile } from './wake-file.ts';

describe('the address at which an agent is woken, in a file', { skip: process.platform === 'win32' }, () => {
  test('it is noted, replaced and taken back; private, a file a persona', () => {
    using dir = scratch();
    const disk = realDisk(silentLog);
    const [ada, eve] = ['ada', 'Ada'].map((persona) => wakeFile(dir.dir, persona));
    assert.ok(ada !== undefined && eve !== undefined && ada.toLowerCase() !== eve.toLowerCase());
    assert.equal(wakeAt(disk, ada), null);
    for (const url of ['http://127.0.0.1:1/', 'http://127.0.0.1:2/']) {
      noteWake(disk, realRandom, ada, url);
      assert.equal(wakeAt(disk, ada), url);
    }
    assert.deepEqual([statSync(ada).mode & 0o777, statSync(dir.at('wakes')).mode & 0o777], [0o600, 0o700]);
    assert.equal(wakeAt(disk, eve), null);
    for (let n = 0; n < 2; n += 1) noteWake(disk, realRandom, ada, null);
    assert.equal(wakeAt(disk, ada), null);
  });

  test('bad input: a link is refused, and an empty file is no address', () => {
    using dir = scratch();
    const disk = realDisk(silentLog);
    writeFileSync(dir.at('elsewhere'), 'http://127.0.0.1:1/\n', { mode: 0o600 });
    symlinkSync(dir.at('elsewhere'), dir.at('link'));
    assert.throws(() => wakeAt(disk, dir.at('link')), { code: 'unreadable' });
    writeFileSync(dir.at('empty'), '\n', { mode: 0o600 });
    assert.equal(wakeAt(disk, dir.at('empty')), null);
  });
});
