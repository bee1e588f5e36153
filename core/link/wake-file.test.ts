import assert from 'node:assert/strict';
import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { scratch } from '../../test/kit/scratch.ts';
import { realRandom, silentLog } from '../ports/index.ts';
import { createRealDisk } from '../state/index.ts';
import { readWake, toWakeFile, writeWake } from './lines.ts';

describe('the address at which an agent is woken, in a file', { skip: process.platform === 'win32' }, () => {
  test('it is noted, replaced and taken back; private, a file a persona', () => {
    using dir = scratch();
    const disk = createRealDisk(silentLog);
    const [ada, eve] = ['ada', 'Ada'].map((persona) => toWakeFile(dir.dir, persona));
    assert.ok(ada !== undefined && eve !== undefined && ada.toLowerCase() !== eve.toLowerCase());
    assert.equal(readWake(disk, ada), null);
    for (const url of ['http://127.0.0.1:1/', 'http://127.0.0.1:2/']) {
      writeWake(disk, realRandom, ada, url);
      assert.equal(readWake(disk, ada), url);
    }
    assert.deepEqual([statSync(ada).mode & 0o777, statSync(dir.at('wakes')).mode & 0o777], [0o600, 0o700]);
    assert.equal(readWake(disk, eve), null);
    for (let n = 0; n < 2; n += 1) writeWake(disk, realRandom, ada, null);
    assert.equal(readWake(disk, ada), null);
  });

  test('bad input: a link is refused, and an empty file is no address', () => {
    using dir = scratch();
    const disk = createRealDisk(silentLog);
    writeFileSync(dir.at('elsewhere'), 'http://127.0.0.1:1/\n', { mode: 0o600 });
    symlinkSync(dir.at('elsewhere'), dir.at('link'));
    assert.throws(() => readWake(disk, dir.at('link')), { code: 'unreadable' });
    writeFileSync(dir.at('empty'), '\n', { mode: 0o600 });
    assert.equal(readWake(disk, dir.at('empty')), null);
  });
});
