import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realFiles } from '../../core/ports/index.ts';
import {
  BOARD,
  countAttention,
  findRemarks,
  parseCursor,
  readBases,
  readConfig,
  toBoardSummary,
} from '../../core/sources/brainclaw/index.ts';
import { brainclaw, EXPECTED, ended, viewed } from '../kit/brainclaw-store.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { CHANGES, LOCKS, OPENS_TO_WRITE, STARTS, straced } from '../kit/strace.ts';
import { until } from '../kit/until.ts';
import { watching } from '../kit/watch-brainclaw.ts';

const WATCHER = fileURLToPath(import.meta.resolve('../kit/brainclaw-watcher.ts'));

test('conformance 1 and 4: without mail the journal is all that is read, on notices, and nothing is written, locked or run', async (t) => {
  if (needs(t, spawnSync('strace', ['-V']).status === 0 ? null : 'strace: apt-get install strace')) return;
  using store = ended(brainclaw());
  using apart = scratch();
  const log = apart.at('strace');
  await using watcher = straced(log, [process.execPath, WATCHER, store.root, '--no-mail']);
  await until('the watcher', () => watcher.stdout().includes('ready'));
  store.step(2);
  await until('it is told', () => watcher.stdout().includes('told'));
  await watcher.end();
  const delivered = JSON.parse(watcher.stdout().split('\n').at(-2) ?? '') as Readonly<
    Record<string, readonly string[]>
  >;
  assert.deepEqual(delivered[BOARD], ['new state:act_c0']);

  const calls = readFileSync(log, 'utf8').split('\n');
  const below = calls.filter((text) => text.includes(`${store.root}/`));
  const touched = new Set(
    below.flatMap((text) => [...text.matchAll(/[<"]([^<>"]*)[>"]/g)].map(([, path]) => path ?? '')),
  );
  const names = [...touched]
    .filter((path) => path.startsWith(`${store.root}/`))
    .map((path) => path.slice(store.root.length + 1).split('/')[0]);
  assert.deepEqual([...new Set(names)].sort(), ['events']);
  assert.ok(below.some((text) => /inotify_add_watch\(.*events"/.test(text)));
  const isChange = (text: string): boolean => CHANGES.test(text) || OPENS_TO_WRITE.test(text) || LOCKS.test(text);
  assert.deepEqual(below.filter(isChange), []);
  assert.deepEqual(calls.filter((text) => STARTS.test(text)).slice(1), [], 'no program but itself');
});

test('conformance 2: how far it was read lies outside of the store, and that of the agents is left alone', async () => {
  using store = brainclaw();
  using home = scratch();
  const cursors = (): string => JSON.stringify(readFileSync(join(store.root, '.cursors', 'codex.json'), 'utf8'));
  const before = cursors();
  for (let run = 0; run < 2; run += 1) {
    await using watched = await watching(store.root, home);
    const isUp = (): boolean => watched.snapshot().personas.filter(({ health }) => health.is === 'up').length === 5;
    await until('the board and four agents', isUp);
  }
  assert.equal(parseCursor(home.json('cursor.json'))?.seq, EXPECTED.observer.cursor.seq);
  assert.equal(cursors(), before);
});

test('conformance 3: a checkpoint that is sound, and would give another board than all records, is not begun from', () => {
  using store = brainclaw();
  const { projectId } = readConfig(realFiles, join(store.root, 'config.yaml'));
  const bases = (first: number) => readBases(realFiles, store.event('checkpoints'), projectId, first);
  const [base] = bases(259).bases;
  assert.deepEqual([base?.seq, base?.items.length], [358, EXPECTED.checkpoint.manifest.entity_count]);
  const whole = viewed(store.open({ bases }));
  const board = toBoardSummary(whole.replay.projection);
  const { coldFromCheckpoint: other, observer } = EXPECTED;
  assert.notDeepEqual(other.attention_required, observer.attention_required);
  assert.deepEqual([board.attention_required, board.entities], [observer.attention_required, observer.entities]);
  assert.ok(!findRemarks(whole).includes('from-checkpoint'));
});

test('conformance 6: what asks for a person is counted from the records, whatever a cache beside them says', () => {
  using store = brainclaw();
  store.write(
    join('.brainclaw', 'events', 'meta.json'),
    '{"next_seq":1,"active_segment":"seg-1.jsonl","entity_revs":{}}',
  );
  const attention = countAttention(viewed(store.open()).replay.projection);
  assert.deepEqual(attention, EXPECTED.observer.attention_required);
});
