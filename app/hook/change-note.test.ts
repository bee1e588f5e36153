import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { realClock } from '../../core/ports/index.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { until } from '../../test/kit/until.ts';
import { noteChanged, watchChanged } from './stamps.node.ts';

function rig(run: string) {
  const output = { heard: 0, failed: [] as string[] };
  const observer = watchChanged(run, {
    clock: realClock,
    heard: () => {
      output.heard += 1;
    },
    failed: (why) => output.failed.push(why),
  });
  return { output, observer };
}

test('what is noted is heard, the first time and every other, several at once as one; other files are not', async () => {
  using space = scratch();
  const { output, observer } = rig(space.dir);
  using _ = observer;
  for (let round = 1; round <= 3; round += 1) {
    for (let i = 0; i < 20; i += 1) noteChanged(space.dir);
    await until('it is heard', () => output.heard >= round);
    await sleep(50);
    assert.equal(output.heard, round);
  }
  space.write('hivebar.json', '{}');
  mkdirSync(space.at('pending'));
  await sleep(50);
  assert.deepEqual(output, { heard: 3, failed: [] });
});

test('nothing is heard any more when it has ended', async () => {
  using space = scratch();
  const { output, observer } = rig(space.dir);
  noteChanged(space.dir);
  observer[Symbol.dispose]();
  await sleep(50);
  noteChanged(space.dir);
  await sleep(50);
  assert.equal(output.heard, 0);
});

test('a directory that is not there cannot be watched, which is said once; to note there harms nothing', () => {
  using space = scratch();
  const { output, observer } = rig(space.at('none'));
  using _ = observer;
  noteChanged(space.at('none'));
  assert.deepEqual(output, { heard: 0, failed: ['ENOENT'] });
});
