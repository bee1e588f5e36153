import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { realClock, realRandom } from '../../core/ports/index.ts';
import { clearStamps, openDatabase, runTransaction } from '../../core/state/index.ts';
import { type Scratch, scratch } from '../../test/kit/scratch.ts';
import { findQuietMoments, formatStamp, type Passable, type PendingWork } from './stamp-text.ts';
import { type StampFacts, type StampResult, stampPending } from './stamps.node.ts';

const NOTHING: PendingWork = { items: 'none', gates: [], isFollowed: false };
const ALL: readonly Passable[] = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'PreCompact'];

function rig() {
  const state = scratch();
  mkdirSync(state.at('run'));
  const db = openDatabase(state.at('hivebar.sqlite'));
  const place = { run: state.at('run'), clock: realClock, random: realRandom };
  return {
    state,
    db,
    stamp: (persona: string, facts: Partial<StampFacts> = {}, during: () => void = () => {}): StampResult =>
      stampPending(place, db, persona, () => {
        during();
        return { quiet: ALL, gates: state.at('gates/ada'), folders: [], ...facts };
      }),
    clear: (names: Parameters<typeof clearStamps>[1]) => clearStamps(state.at('run/pending'), names),
    [Symbol.dispose]() {
      db[Symbol.dispose]();
      state[Symbol.dispose]();
    },
  };
}

const listStamps = (state: Scratch): readonly string[] => readdirSync(state.at('run/pending')).sort();

test('given nothing at all, every moment that can be passed over is quiet', () => {
  assert.deepEqual(findQuietMoments(NOTHING), ALL);
});

test('given items, a tool passes over what is not urgent, and a prompt and a stop over nothing', () => {
  assert.deepEqual(findQuietMoments({ ...NOTHING, items: 'urgent' }), ['PreToolUse', 'PreCompact']);
  assert.deepEqual(findQuietMoments({ ...NOTHING, items: 'ordinary' }), ['PreToolUse', 'PostToolUse', 'PreCompact']);
});

test('given mail of another system, where each session has its own position, a prompt and a stop are asked at', () => {
  assert.deepEqual(findQuietMoments({ ...NOTHING, isFollowed: true }), ['PreToolUse', 'PostToolUse', 'PreCompact']);
});

test('given a strict gate, or a soft one of a stop, that moment is asked at', () => {
  const quiet = (hook: string | null, mode: 'strict' | 'soft') =>
    findQuietMoments({ ...NOTHING, gates: [{ hook, mode }] });
  for (const moment of ALL) {
    assert.deepEqual(
      quiet(moment, 'strict'),
      ALL.filter((event) => event !== moment),
    );
  }
  assert.deepEqual(
    quiet('Stop', 'soft'),
    ALL.filter((event) => event !== 'Stop'),
  );
  assert.deepEqual(quiet('PreToolUse', 'soft'), ALL);
  assert.deepEqual(quiet(null, 'strict'), ALL);
});

test('given a name or a folder that would end a line, nothing is said', () => {
  const stamp = { persona: 'ada', quiet: ALL, gates: '/g', folders: ['/w'] };
  assert.equal(
    formatStamp(stamp),
    `hivebar-pending 1\npersona ada\nquiet ${ALL.join(' ')}\ngates /g\nfolder /w\nend\n`,
  );
  assert.equal(formatStamp({ ...stamp, persona: 'ada\nquiet Stop' }), null);
  assert.equal(formatStamp({ ...stamp, persona: '' }), null);
  assert.equal(formatStamp({ ...stamp, persona: 'a\ud800' }), null);
  assert.equal(formatStamp({ ...stamp, folders: ['/w\nend'] }), null);
  assert.equal(formatStamp({ ...stamp, quiet: [] }), null);
});

test('a stamp is private, is dated before the look, and leaves nothing beside it', () => {
  using r = rig();
  const before = Date.now();
  assert.equal(r.stamp('ada'), 'written');
  const { mode, mtimeMs } = statSync(r.state.at('run/pending/ada'));
  assert.equal(mode & 0o777, 0o600);
  assert.equal(statSync(r.state.at('run/pending')).mode & 0o777, 0o700);
  assert.ok(mtimeMs < before, `${mtimeMs} ${before}`);
  assert.deepEqual(listStamps(r.state), ['ada']);
  assert.equal(r.db.isTransaction, false);
});

test('given the same again, it is left as it is; given gates that changed since, it is made anew', () => {
  using r = rig();
  r.stamp('ada');
  assert.equal(r.stamp('ada'), 'unchanged');
  mkdirSync(r.state.at('gates/ada'), { recursive: true });
  assert.equal(r.stamp('ada'), 'written');
  utimesSync(r.state.at('gates/ada'), 1, 1);
  assert.equal(r.stamp('ada'), 'unchanged');
  r.state.write('run/pending/ada', 'torn');
  assert.equal(r.stamp('ada'), 'written');
});

test('given something to say at every moment, there is no stamp', () => {
  using r = rig();
  r.stamp('ada');
  assert.equal(r.stamp('ada', { quiet: [] }), 'removed');
  assert.equal(existsSync(r.state.at('run/pending/ada')), false);
  assert.equal(r.stamp('ada', { quiet: [] }), 'unchanged');
});

test('given a look that fails, there is no stamp, and the database is free again', () => {
  using r = rig();
  r.stamp('ada');
  const fails = () =>
    r.stamp('ada', {}, () => {
      throw new Error('no gates');
    });
  assert.throws(fails, /no gates/);
  assert.deepEqual(listStamps(r.state), []);
  assert.equal(r.stamp('ada'), 'written');
});

test('given a writer, the look waits for nobody and says that it is busy; while it looks nobody writes', () => {
  using r = rig();
  using other = openDatabase(r.state.at('hivebar.sqlite'));
  runTransaction(other, () => assert.equal(r.stamp('ada'), 'busy'));
  runTransaction(r.db, () => assert.equal(r.stamp('ada'), 'busy'));
  other.exec('PRAGMA busy_timeout = 0');
  const during = () => assert.throws(() => other.exec('BEGIN IMMEDIATE'), /locked/);
  assert.equal(r.stamp('ada', {}, during), 'written');
  assert.equal(r.db.prepare<{ timeout: number }>('PRAGMA busy_timeout').get()?.timeout, 5000);
});

test('one persona or everyone is taken back; what is being made is not, what a kill left is', () => {
  using r = rig();
  for (const persona of ['ada', 'Bob', 'eve']) r.stamp(persona);
  r.clear(['Bob']);
  r.clear(['nobody']);
  assert.deepEqual(listStamps(r.state), ['ada', 'eve']);
  writeFileSync(r.state.at('run/pending/ada+1'), '');
  writeFileSync(r.state.at('run/pending/ada+2'), '');
  utimesSync(r.state.at('run/pending/ada+2'), 1, 1);
  r.clear('everyone');
  assert.deepEqual(listStamps(r.state), ['ada+1']);
});

test('given no folder of stamps, there is nothing to take back; given a stamp that cannot be removed, it is said', () => {
  using r = rig();
  r.clear(['ada']);
  r.clear('everyone');
  mkdirSync(r.state.at('run/pending/ada'), { recursive: true });
  assert.throws(() => r.clear(['ada']), { code: 'unwritable' });
});
