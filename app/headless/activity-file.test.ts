import assert from 'node:assert/strict';
import { statSync, symlinkSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type HiveActivity, type PersonaActivity, parseActivityReport } from '../../core/alarms/index.ts';
import { realRandom } from '../../core/ports/index.ts';
import type { InboxIdentity } from '../../core/sources/index.ts';
import { createRealDisk, writeAtomically } from '../../core/state/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { type Scratch, scratch } from '../../test/kit/scratch.ts';
import { openActivityFile } from './watch-alarms.ts';

const HIVE: InboxIdentity = ['http', 'hive.test', 80, '/api/inbox', [['persona', '']]];
const OTHER: InboxIdentity = ['http', 'hive.test', 81, '/api/inbox', [['persona', '']]];
const NOTHING: PersonaActivity = { watched: true, sent: null, read: null };

/** One process, whose `ada` sent that message. */
function observing(files: Scratch, id: number, hive = HIVE) {
  const clock = fakeClock();
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const log = { info: write, warn: write, error: write };
  const world = { sent: id };
  const activity = (): HiveActivity => ({
    published: clock.now(),
    staleAfterMs: 1000,
    since: 0,
    floor: 0,
    upTo: world.sent,
    blind: new Map(),
    personas: new Map([['ada', { ...NOTHING, sent: world.sent === 0 ? null : { id: world.sent, at: 5 } }]]),
  });
  const machine = { disk: createRealDisk(log), random: realRandom, clock, log };
  return { file: openActivityFile(files.at('seen.json'), hive, { activity }, machine), clock, world, lines };
}
const sentIn = (files: Scratch): number | null =>
  parseActivityReport(files.text('seen.json'))?.personas.get('ada')?.sent?.id ?? null;

describe('the activity file', () => {
  test('is written at once, then at most once a second, and nothing waits longer', async () => {
    using files = scratch();
    const { file, clock, world } = observing(files, 1);
    file.publishSoon();
    assert.equal(sentIn(files), 1);
    assert.equal(statSync(files.at('seen.json')).mode & 0o777, 0o600);
    world.sent = 2;
    for (let n = 0; n < 3; n += 1) file.publishSoon();
    assert.equal(sentIn(files), 1);
    await clock.advance(999);
    assert.equal(sentIn(files), 1);
    await clock.advance(1);
    assert.equal(sentIn(files), 2);
    assert.equal(clock.waiting, 0);
  });

  test('is written a last time at the end, and leaves no timer; without anything observed it is left alone', () => {
    using files = scratch();
    const { file, clock, world } = observing(files, 1);
    file.publishSoon();
    world.sent = 2;
    file.publishSoon();
    file[Symbol.dispose]();
    assert.deepEqual([sentIn(files), clock.waiting], [2, 0]);
    const text = files.text('seen.json');
    observing(files, 3).file[Symbol.dispose]();
    assert.equal(files.text('seen.json'), text);
  });

  test('keeps what an earlier process saw of the same hive, through any number of them', () => {
    using files = scratch();
    for (const [id, saved] of [
      [7, 7],
      [0, 7],
      [3, 7],
      [9, 9],
      [0, 9],
    ] as const) {
      const { file, lines } = observing(files, id);
      file.publishSoon();
      assert.deepEqual([sentIn(files), lines], [saved, []]);
      assert.equal(files.json('seen.json')?.observed_to_id, id, 'how far was watched is its own');
    }
  });

  test('begins anew, and says so, over one of another hive, one that is torn, and one that does not say whose it is', () => {
    using files = scratch();
    const { file } = observing(files, 7);
    file.publishSoon();
    const text = files.text('seen.json');
    for (const [name, content, hive, why] of [
      ['another hive', text, OTHER, 'it belongs to another hive'],
      ['torn', text.slice(0, -9), HIVE, 'it is not a complete activity report'],
      ['foreign', '[]', HIVE, 'it is not a complete activity report'],
      ['empty', '', HIVE, 'it is not a complete activity report'],
      ['an older one', text.replace(/"identity":.*?\]\]\],/, ''), HIVE, 'it does not name its hive'],
    ] as const) {
      files.write('seen.json', content);
      const { file, lines } = observing(files, 0, hive);
      file.publishSoon();
      assert.equal(sentIn(files), null, name);
      assert.equal(lines.length, 1, name);
      assert.match(lines.join(), new RegExp(`seen.json: ${why}; the activity recorded before is lost`), name);
    }
  });

  test('D25: what a kill left behind in the middle of a write goes with the next start', () => {
    using files = scratch();
    const { file, clock } = observing(files, 1);
    file.publishSoon();
    const disk = createRealDisk({ info() {}, warn() {}, error() {} });
    const killed = {
      ...disk,
      files: { ...disk.files, rename: () => assert.fail('killed'), unlink: () => assert.fail('killed') },
    };
    assert.throws(() => writeAtomically(killed, realRandom, files.at('seen.json'), 'half'));
    assert.match(files.list().join(), /\.kijmon-.*\.tmp/);
    observing(files, 2).file.publishSoon();
    assert.deepEqual([files.list(), sentIn(files), clock.waiting], [['seen.json'], 2, 0]);
  });

  test('trap 35: one behind a symlink is not read', () => {
    using files = scratch();
    observing(files, 7).file.publishSoon();
    const text = files.text('seen.json');
    using other = scratch();
    files.write('real.json', text);
    symlinkSync(files.at('real.json'), other.at('seen.json'));
    const { lines } = observing(other, 0);
    assert.match(lines.join(), /seen\.json.*the activity recorded before is lost/);
  });
});
