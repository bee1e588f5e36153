import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import { realRandom, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { type CursorStore, openCursorStore } from './cursor-store.ts';

const FILE = 'brainclaw/bc-lab.cursor.json';
const cursor = (seq: number) => ({ seq, segment: 'seg-00000001.jsonl', offset: 10, head_identity: 'ab' });

function opened(place: Scratch, warned: string[] = []) {
  const clock = fakeClock(0);
  const log = { ...silentLog, warn: (line: string) => void warned.push(line) };
  const cursors: CursorStore = openCursorStore(place.dir, {
    disk: createRealDisk(log),
    random: realRandom,
    clock,
    log,
  });
  return { cursors, clock };
}

test('how far a project was read is kept beside nothing of its store, and who has its id', async () => {
  using place = scratch();
  const { cursors, clock } = opened(place);
  assert.equal(cursors.findHolder('bc-lab'), null);
  const { load, save } = cursors.open('bc-lab', '/w/lab/.brainclaw');
  assert.equal(load(), null);
  for (const seq of [1, 2, 3]) save(cursor(seq));
  assert.equal(place.text(FILE), '', 'a burst is one write');
  await clock.advance(1000);
  assert.deepEqual(place.json(FILE), { store: '/w/lab/.brainclaw', cursor: cursor(3) });
  save(cursor(4));
  cursors[Symbol.dispose]();
  const [made = ''] = readdirSync(place.at('brainclaw'));
  assert.equal(made, 'bc-lab.cursor.json');
  const again = opened(place).cursors;
  assert.equal(again.findHolder('bc-lab'), '/w/lab/.brainclaw');
  assert.deepEqual(again.open('bc-lab', '/w/lab/.brainclaw').load(), cursor(4));
});

test('another store under the same id begins anew, and has the id from then on', () => {
  using place = scratch();
  const first = opened(place);
  first.cursors.open('bc-lab', '/a').save(cursor(1));
  first.cursors[Symbol.dispose]();
  const second = opened(place);
  assert.equal(second.cursors.open('bc-lab', '/b').load(), null);
  second.cursors[Symbol.dispose]();
  assert.equal(opened(place).cursors.findHolder('bc-lab'), '/b');
});

test('a file that is broken is as good as none, and one that cannot be written is said once', async () => {
  using place = scratch();
  mkdirSync(place.at('brainclaw'), { mode: 0o700 });
  for (const text of ['{"store":', '[]', '7', '{"store":7,"cursor":{}}', '{"store":"/a","cursor":{"seq":"1"}}']) {
    writeFileSync(place.at(FILE), text, { mode: 0o600 });
    assert.equal(opened(place).cursors.open('bc-lab', '/a').load(), null, text);
  }
  using other = scratch();
  writeFileSync(other.at('brainclaw'), '');
  const warned: string[] = [];
  const { cursors, clock } = opened(other, warned);
  const { save } = cursors.open('bc-lab', '/a');
  save(cursor(1));
  await clock.advance(1000);
  save(cursor(2));
  cursors[Symbol.dispose]();
  const lines = warned.filter((line) => /the read position of a project is not saved: .*brainclaw/.test(line));
  assert.equal(lines.length, 1, 'the same cause is told once');
});
