import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRandom, silentLog } from '../../core/ports/index.ts';
import { openStateFile } from '../../core/state/index.ts';
import type { SavedState } from '../../core/watcher/index.ts';
import { fakeFiles, UID } from '../../test/kit/fake-files.ts';
import { createWatchReport } from './watch-positions.ts';

const at = (cursor: number): SavedState => ({ cursor, state: 'UP', consecutive_failures: 0 });

for (const [label, call, code, line] of [
  ['a directory that cannot be flushed', 'fsync /d', 'EIO', /hive\.json: written, but a power cut may/],
  ['a full disk', 'write /d/', 'ENOSPC', /hive\.json: no space left/],
  ['a directory that takes no file', 'open /d/.kijmon', 'EACCES', /hive\.json: permission denied/],
] as const) {
  test(`trap 37: ${label} is told once while it lasts, once that it is over, and the watch goes on`, () => {
    const files = fakeFiles();
    const output: string[] = [];
    const say = (text: string): void => void output.push(text);
    const report = createWatchReport({ ...silentLog, warn: say, info: say }, new AbortController(), 'at-least-once');
    const disk = { files, log: silentLog, uid: UID };
    const file = { disk, random: realRandom, path: '/d/hive.json', identity: ['x'], keys: 'all' } as const;
    const saver = report.saver(openStateFile(file));
    saver.save(at(1));
    for (let outage = 1; outage <= 2; outage += 1) {
      files.mishaps(({ name, path }) => {
        const [which = '', where = ''] = call.split(' ');
        const fits = where === '/d' ? path === where : path.startsWith(where);
        return name === which && fits ? { is: 'fails', code } : null;
      });
      for (let n = 0; n < 3; n += 1) assert.throws(() => saver.save(at(1 + n)));
      files.mishaps(null);
      saver.save(at(9));
      assert.equal(output.length, 2 * outage, output.join('\n'));
      assert.match(output.at(-2) ?? '', line);
      assert.match(output.at(-1) ?? '', /hive\.json: saved again/);
    }
    const read = openStateFile(file).read();
    assert.ok(read.is === 'valid' && read.saved.cursor === 9);
  });
}
